"""Settings of the whole process: threads, the default type, what may differ between runs."""

import warnings
from typing import Any

from tapegrad.arrays.numpy import blocks
from tapegrad.core import errors
from tapegrad.core.dtype import dtype, set_default_dtype


def get_num_threads() -> int:
    """The number of threads that share the work on large tensors.

    >>> torch.get_num_threads() > 0
    True
    """
    return blocks.n_threads()


def set_num_threads(n: int, /) -> None:
    """Let `n` threads share the work on large tensors; matrix products have NumPy's own setting.

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
    blocks.set_n_threads(n)


# --- the same results in each run --------------------------------------------------------------

_determinism = {"on": False, "warn_only": False}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results in each run. Every operator here gives them, asked or not.

    >>> torch.use_deterministic_algorithms(True)
    >>> torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    if type(mode) is not bool:
        raise errors.must_be("_set_deterministic_algorithms", "mode", 1, "bool", mode)
    _determinism.update(on=mode, warn_only=bool(warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """Whether the same results in each run were asked for.

    >>> torch.are_deterministic_algorithms_enabled()
    False
    """
    return _determinism["on"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether a warning would do where results may differ between runs.

    >>> torch.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _determinism["warn_only"]


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
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            UserWarning,
            stacklevel=2,
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
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    from tapegrad.operators.conversion.to_type import dtype_of_type
    from tapegrad.operators.creation.legacy_constructor import tensortype

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
    "are_deterministic_algorithms_enabled",
    "get_float32_matmul_precision",
    "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_default_tensor_type",
    "set_float32_matmul_precision",
    "set_num_threads",
    "use_deterministic_algorithms",
]
