"""Classes of tensors with a `__torch_dispatch__`: what stands in the place of their arrays.

Nothing is computed with a `StandIn`: whoever reads more of it than shape and dtype gets an
`Overridden`, which the public function that was called answers by handing operators over
(`overrides/dispatch_class.py`). So a class that dispatches is never left out in silence.
"""

import sys
from collections.abc import Callable
from math import prod
from typing import Any

from tapegrad.core import errors, tensor_base
from tapegrad.core.registration import DISPATCH_CLASSES
from tapegrad.core.torch_function import Overridden

CLASSES: list[type] = []
"""The classes of tensors that dispatch. While there is none nothing has to be asked."""


class _Disabled:
    """`_disabled_torch_dispatch_impl`: as `__torch_dispatch__` of a class, it does not dispatch."""

    __name__ = __qualname__ = "_disabled_torch_dispatch_impl"
    __module__ = "torch._C"

    def __call__(self, func: Callable, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        return DISPATCH_CLASSES().without_classes(func, args, kwargs or {})

    def __repr__(self) -> str:
        return "<built-in function _disabled_torch_dispatch_impl>"


disabled: Any = _Disabled()


class _Order:
    __slots__ = ("c_contiguous", "f_contiguous", "writeable")

    def __init__(self, like: Any):
        steps, expected = like.strides, like.itemsize
        self.c_contiguous, self.f_contiguous, self.writeable = True, False, True
        for n, step in zip(like.shape[::-1], steps[::-1], strict=True):
            if n != 1 and step != expected:
                self.c_contiguous = False
            expected *= n


class StandIn:
    """Shape, dtype and strides of a tensor whose class dispatches, and the tensor itself.

    `inside` is the array that the tensor has all the same, None for one that only wraps others.
    """

    __slots__ = ("dtype", "inside", "offset", "shape", "strides", "tensor")

    def __init__(self, tensor: Any, like: Any, inside: Any):
        self.tensor, self.inside = tensor, inside
        self.shape, self.dtype, self.strides = like.shape, like.dtype, like.strides
        self.offset = 0  # of one that only wraps others

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def flags(self) -> _Order:
        return _Order(self)

    def __getattr__(self, name: str) -> Any:
        if name == "tensor":  # not made yet: a copy, or read from a file
            raise AttributeError(name)
        raise self.refusal(name)

    def refusal(self, name: str) -> Overridden:
        """The error for whoever wants to compute with it."""
        kind = type(self.tensor).__name__
        return Overridden(
            f"{name} of the array of a {kind}: its class has a __torch_dispatch__, which what is "
            "called does not ask in tapegrad",
            name=name,
            obj=self,
        )


def _refusing(name: str) -> Callable:
    def refuse(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        raise self.refusal(name)

    return refuse


for _name in (
    "add and bool call complex contains delitem divmod eq float floordiv ge getitem gt iadd iand "
    "imul index int invert isub iter itruediv le len lshift lt matmul mod mul ne neg or pow radd "
    "rand rfloordiv rmatmul rmod rmul ror rpow rshift rsub rtruediv rxor setitem sub truediv xor "
    "abs array array_function array_ufunc"
).split():
    setattr(StandIn, f"__{_name}__", _refusing(f"__{_name}__"))


def dispatches(cls: type) -> bool:
    """Whether a class of tensors has a `__torch_dispatch__` that is to be asked."""
    return bool(CLASSES) and getattr(cls, "__torch_dispatch__", disabled) is not disabled


array_of = tensor_base.TensorBase.__dict__["_array"].__get__
"""The array of a tensor, whoever is to be asked before it is read."""


def is_stand_in(x: Any) -> bool:
    """Whether `x` is a tensor whose calls go to a class."""
    return isinstance(x, tensor_base.TensorBase) and type(array_of(x)) is StandIn


def tensors_of(given: Any, depth: int = 3) -> list:
    """The tensors among arguments, those in lists and tuples included, whose class dispatches."""
    found: list[Any] = []
    for x in given:
        if type(x) is tuple or type(x) is list:
            if depth:
                found += tensors_of(x, depth - 1)
        elif is_stand_in(x):
            found.append(array_of(x).tensor)
    return found


def leave_to_classes(name: str, *given: Any) -> None:
    """Raise, so that the function `name` is handed over whole, where a class that dispatches takes
    part; else it would be handed over as the operators that it is made of."""
    if CLASSES:
        for x in tensors_of(given):
            raise array_of(x).refusal(name)


def dispatched(function: Callable, args: tuple, kwargs: dict) -> Callable | None:
    """What to do of a failed call in which a class that dispatches takes part; None if none does.

    Raises NotImplementedError where classes were asked already, and memory was read all the same.
    """
    if not CLASSES or not tensors_of((*args, *kwargs.values())):
        return None
    asking = DISPATCH_CLASSES()
    error = sys.exc_info()[1]
    if asking.are_asked():
        if isinstance(error, Overridden) and type(error.obj) is StandIn:
            name = getattr(function, "__name__", str(function))
            kind = type(error.obj.tensor).__name__
            raise errors.not_implemented(
                f"{name}: its computation does not reach the __torch_dispatch__ of {kind} in "
                "tapegrad",
                "It reads the memory of its arguments, or writes there. Call it on what the "
                "tensor wraps.",
            ) from None
        return None
    return lambda: asking.with_classes(function, args, kwargs)
