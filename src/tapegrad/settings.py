"""Settings of the whole process: threads, the default type, what may differ between runs."""

from typing import Any

from tapegrad.core import errors, threads
from tapegrad.core.dtype import dtype, set_default_dtype
from tapegrad.core.errors import warn
from tapegrad.core.uninitialized import DETERMINISTIC
from tapegrad.core.warn_once import ALWAYS
from tapegrad.operators.conversion.to_type import dtype_of_type
from tapegrad.operators.creation.legacy_constructor import tensortype

__torch__ = (
    "get_deterministic_debug_mode get_num_interop_threads has_lapack has_mkl has_openmp "
    "has_spectral is_warn_always_enabled set_deterministic_debug_mode set_flush_denormal "
    "set_num_interop_threads set_warn_always"
)


def get_num_threads() -> int:
    """The number of threads that share the work on large tensors.

    It is what was set, else what MKL_NUM_THREADS or OMP_NUM_THREADS says, else that of the cores.

    >>> torch.get_num_threads() > 0
    True
    """
    return threads.n_threads()


def set_num_threads(n: int, /) -> None:
    """Let `n` threads share the work on large tensors, and NumPy's BLAS use as many for products.

    >>> before = torch.get_num_threads()
    >>> torch.set_num_threads(1)
    >>> torch.get_num_threads()
    1
    >>> torch.set_num_threads(before)
    """
    if type(n) is not int:
        raise errors.runtime_error(
            f"set_num_threads expects an int, but got {errors.type_name(n)}",
            "Pass a whole number of threads.",
        )
    if n < 1:
        raise errors.runtime_error(
            "set_num_threads expects a positive integer", "One thread always works."
        )
    from tapegrad.arrays.numpy.blas_threads import set_blas_threads

    threads.set_n_threads(n)
    set_blas_threads(n)


# --- warnings ----------------------------------------------------------------------------------


def set_warn_always(b: bool, /) -> None:
    """Let warnings that a process is given once come each time.

    >>> torch.set_warn_always(True)
    >>> torch.is_warn_always_enabled()
    True
    """
    if type(b) is not bool:
        raise errors.runtime_error(
            f"setWarnOnlyOnce expects a bool, but got {errors.type_name(b)}", "Pass True or False."
        )
    ALWAYS[0] = b


def is_warn_always_enabled() -> bool:
    """Whether warnings come each time that a process is else given once.

    >>> torch.set_warn_always(True)
    >>> torch.is_warn_always_enabled()
    True
    """
    return ALWAYS[0]


# --- the same results in each run --------------------------------------------------------------

_warn_only = [False]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results in each run. Every operator here gives them, asked or not; asked,
    tensors of memory that nothing was written to (`empty`, `resize_`) are filled with nan.

    >>> torch.use_deterministic_algorithms(True)
    >>> torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    if type(mode) is not bool:
        raise errors.must_be("_set_deterministic_algorithms", "mode", 1, "bool", mode)
    if type(warn_only) is not bool:
        raise errors.must_be("_set_deterministic_algorithms", "warn_only", None, "bool", warn_only)
    DETERMINISTIC[0], _warn_only[0] = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether the same results in each run were asked for.

    >>> torch.are_deterministic_algorithms_enabled()
    False
    """
    return DETERMINISTIC[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether a warning would do where results may differ between runs.

    >>> torch.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _warn_only[0]


# --- precision ---------------------------------------------------------------------------------

_PRECISIONS = ("highest", "high", "medium")
_precision = ["highest"]


def get_float32_matmul_precision() -> str:
    """How precise float32 matrix products have to be at least.

    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    return _precision[0]


def set_float32_matmul_precision(precision: str) -> None:
    """Allow float32 matrix products to be less precise; here they are precise all the same.

    >>> torch.set_float32_matmul_precision("high")
    >>> torch.get_float32_matmul_precision()
    'high'
    >>> torch.set_float32_matmul_precision("highest")
    """
    if precision not in _PRECISIONS:
        warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect."
        )
        return
    _precision[0] = precision


# --- the default type --------------------------------------------------------------------------


def set_default_tensor_type(t: Any, /) -> None:
    """Make the dtype of a type such as `torch.DoubleTensor`, or of its name, the default one.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.set_default_tensor_type(torch.FloatTensor)
    """
    warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives."
    )
    if not isinstance(t, str) and type(t) is not tensortype:
        raise errors.type_error(
            "invalid type object: only floating-point types are supported as the default type",
            "Pass torch.FloatTensor or torch.DoubleTensor, or call set_default_dtype.",
        )
    found: dtype = dtype_of_type(t)
    if not found.is_floating_point:
        raise errors.type_error(
            "only floating-point types are supported as the default type",
            "Pass torch.FloatTensor or torch.DoubleTensor.",
        )
    set_default_dtype(found)


__all__ = [
    "are_deterministic_algorithms_enabled", "get_float32_matmul_precision", "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled", "set_default_tensor_type",
    "set_float32_matmul_precision", "set_num_threads", "use_deterministic_algorithms",
]  # fmt: skip


# --- further settings, loaded with the names of `torch` -------------------------------------------

has_lapack = has_spectral = True
has_mkl = has_openmp = False

_interop: list[int] = []  # the number that was chosen


def get_num_interop_threads() -> int:
    """The number of threads for operators that run side by side: here each is run by its caller.

    >>> torch.get_num_interop_threads() > 0
    True
    """
    return _interop[0] if _interop else threads.n_cores()


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
