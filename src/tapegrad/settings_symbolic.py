"""Further settings, and arithmetic of sizes under the names that compiled code uses."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

from tapegrad.arrays.numpy.blocks import n_cores
from tapegrad.core import errors
from tapegrad.settings import (
    are_deterministic_algorithms_enabled,
    is_deterministic_algorithms_warn_only_enabled,
    use_deterministic_algorithms,
)

__torch__ = (
    "get_deterministic_debug_mode get_num_interop_threads has_lapack has_mkl has_openmp "
    "has_spectral set_deterministic_debug_mode set_flush_denormal set_num_interop_threads "
    "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum"
)

has_lapack = has_spectral = True
has_mkl = has_openmp = False

_interop: list[int] = []  # the number that was chosen


def get_num_interop_threads() -> int:
    """The number of threads for operators that run side by side: here each is run by its caller.

    >>> torch.get_num_interop_threads() > 0
    True
    """
    return _interop[0] if _interop else n_cores()


def set_num_interop_threads(n: int, /) -> None:
    """Choose that number, once; nothing depends on it."""
    problem = ""
    if type(n) is not int:
        problem = f"set_num_interop_threads expects an int, but got {errors.type_name(n)}"
    elif n < 1:
        problem = "set_num_interop_threads expects a positive integer"
    elif _interop:
        problem = (
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    if problem:
        raise errors.runtime_error(problem, "It may be chosen once for each process.")
    _interop.append(n)


_MODES = ("default", "warn", "error")


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: nothing, a warning or an error where results may differ between runs.

    >>> torch.get_deterministic_debug_mode()
    0
    """
    if not are_deterministic_algorithms_enabled():
        return 0
    return 1 if is_deterministic_algorithms_warn_only_enabled() else 2


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Choose what happens there, by number or as "default", "warn" or "error".

    >>> torch.set_deterministic_debug_mode("error")
    >>> torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise errors.type_error(
            f"debug_mode must be str or int, but got {type(debug_mode)}",
            'Pass "default", "warn" or "error".',
        )
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise errors.runtime_error(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but "
                f"got {debug_mode}",
                "Pass one of them.",
            )
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise errors.runtime_error(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}",
            "Pass one of them.",
        )
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def set_flush_denormal(mode: bool, /) -> bool:
    """Ask the CPU to take numbers near 0 that lack precision as 0; whether it now does: never.

    >>> torch.set_flush_denormal(True)
    False
    """
    if type(mode) is not bool:
        raise errors.type_error(
            f"flush_denormal expects a bool, but got {errors.type_name(mode)}",
            "Pass True or False.",
        )
    return False


# --- sizes: PyTorch's compiler traces these functions; on numbers they compute --------------------


def sym_int(a: Any) -> int:
    """`a` as an integer, cut off towards 0.

    >>> torch.sym_int(2.7)
    2
    """
    return int(a)


def sym_float(a: Any) -> float:
    """`a` as a float.

    >>> torch.sym_float(2)
    2.0
    """
    return float(a)


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
    largest = max(a, b)
    return float(largest) if isinstance(a, float) or isinstance(b, float) else largest


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is.

    >>> torch.sym_min(2, 3)
    2
    """
    smallest = min(a, b)
    return float(smallest) if isinstance(a, float) or isinstance(b, float) else smallest


def sym_sum(args: Sequence) -> Any:
    """The sum of several numbers.

    >>> torch.sym_sum([1, 2, 3])
    6
    """
    return sum(args)


def sym_sqrt(a: Any) -> float:
    """The root of a number.

    >>> torch.sym_sqrt(4)
    2.0
    """
    return sqrt(a)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t` if `b`, else `f`.

    >>> torch.sym_ite(True, 1, 2)
    1
    """
    return t if b else f
