"""Arithmetic of sizes, under the names that PyTorch's compiled code uses."""

from math import sqrt

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.overridable import overridable
from tapegrad.core.torch_function import overridden

__torch__ = (
    "SymBool SymFloat SymInt sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum"
)


class _Symbol:
    def __init__(self, node: Any):
        raise errors.not_implemented(
            f"torch.{type(self).__name__} has no values in tapegrad",
            "Sizes are numbers here: use the int, float or bool itself.",
        )


class SymInt(_Symbol):
    """An integer that PyTorch's tracers leave open. None is ever made here: sizes are numbers.

    Raises: NotImplementedError, when one is made.

    >>> isinstance(torch.ones(3).shape[0], torch.SymInt)
    False
    """


class SymFloat(_Symbol):
    """A number that PyTorch's tracers leave open; as `torch.SymInt`."""


class SymBool(_Symbol):
    """A truth that PyTorch's tracers leave open; as `torch.SymInt`."""


@overridable
def sym_int(a: Any) -> int:
    """`a` as an integer, cut off towards 0.

    >>> torch.sym_int(2.7)
    2
    """
    return int(a)


@overridable
def sym_float(a: Any) -> float:
    """`a` as a float.

    >>> torch.sym_float(2)
    2.0
    """
    return float(a)


@overridable
def sym_not(a: Any) -> bool:
    """The opposite of `a`.

    >>> torch.sym_not(False)
    True
    """
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers; a float if one of them is.

    >>> torch.sym_max(2, 1.5)
    2.0
    """
    again = overridden(sym_max, (a, b))
    if again is not None:
        return again()
    largest = max(a, b)
    return float(largest) if isinstance(a, float) or isinstance(b, float) else largest


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is.

    >>> torch.sym_min(2, 3)
    2
    """
    again = overridden(sym_min, (a, b))
    if again is not None:
        return again()
    smallest = min(a, b)
    return float(smallest) if isinstance(a, float) or isinstance(b, float) else smallest


def sym_sum(args: Sequence) -> Any:
    """The sum of several numbers.

    >>> torch.sym_sum([1, 2, 3])
    6
    """
    again = overridden(sym_sum, (args,))
    if again is not None:
        return again()
    return sum(args)


def sym_sqrt(a: Any) -> float:
    """The root of a number.

    >>> torch.sym_sqrt(4)
    2.0
    """
    return sqrt(a)


@overridable
def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t` if `b`, else `f`.

    >>> torch.sym_ite(True, 1, 2)
    1
    """
    return t if b else f
