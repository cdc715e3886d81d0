"""Older names for the state of autocast, each for one kind of device."""

from __future__ import annotations

import warnings
from typing import Any

from tapegrad.amp.autocast_state import (
    check_bool,
    get_autocast_dtype,
    is_autocast_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from tapegrad.core import errors
from tapegrad.core.dtype import dtype as Dtype

__torch__ = (
    "get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_cpu_enabled set_autocast_cpu_dtype "
    "set_autocast_cpu_enabled set_autocast_gpu_dtype"
)


def _deprecated(name: str, call: str, instead: str) -> None:
    warnings.warn(
        f"torch.{name}({call}) is deprecated. Please use torch.{instead} instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def _check_dtype(dtype: Any) -> None:
    if not isinstance(dtype, Dtype):
        raise errors.type_error(
            f"dtype must be a torch.dtype (got {errors.type_name(dtype)})",
            "Pass a dtype such as torch.bfloat16.",
        )


def get_autocast_cpu_dtype() -> Dtype:
    """Older name of `get_autocast_dtype("cpu")`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.get_autocast_cpu_dtype()
    torch.bfloat16
    """
    _deprecated("get_autocast_cpu_dtype", "", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Dtype:
    """Older name of `get_autocast_dtype("cuda")`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.get_autocast_gpu_dtype()
    torch.float16
    """
    _deprecated("get_autocast_gpu_dtype", "", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_cpu_dtype(dtype: Dtype, /) -> None:
    """Older name of `set_autocast_dtype("cpu", dtype)`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.set_autocast_cpu_dtype(torch.bfloat16)
    """
    _check_dtype(dtype)
    _deprecated("set_autocast_cpu_dtype", "dtype", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Dtype, /) -> None:
    """Older name of `set_autocast_dtype("cuda", dtype)`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.set_autocast_gpu_dtype(torch.float16)
    """
    _check_dtype(dtype)
    _deprecated("set_autocast_gpu_dtype", "dtype", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


def is_autocast_cpu_enabled() -> bool:
    """Older name of `is_autocast_enabled("cpu")`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.is_autocast_cpu_enabled()
    False
    """
    _deprecated("is_autocast_cpu_enabled", "", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool, /) -> None:
    """Older name of `set_autocast_enabled("cpu", enabled)`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.set_autocast_cpu_enabled(False)
    """
    check_bool(enabled)
    _deprecated("set_autocast_cpu_enabled", "enabled", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)
