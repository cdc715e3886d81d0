"""Making tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad import tensor as _tensor
from tapegrad.dtype import as_dtype, default
from tapegrad.shape import sizes_of

__all__ = ["ones", "tensor", "zeros"]


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A tensor with a copy of `data`."""
    array = np.array(getattr(data, "_array", data))
    if dtype is not None:
        array = array.astype(as_dtype(dtype).numpy)
    elif array.dtype == np.float64 and not isinstance(data, np.ndarray):
        array = array.astype(default().numpy)
    result = _tensor.wrap(array)
    return result.requires_grad_() if requires_grad else result


def full_array(shape: tuple, value: Any, dtype: Any, requires_grad: bool) -> Any:
    result = _tensor.wrap(np.full(shape, value, (default() if dtype is None else dtype).numpy))
    return result.requires_grad_() if requires_grad else result


def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
    """A tensor of zeros."""
    return full_array(sizes_of(size), 0, dtype, requires_grad)


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
    """A tensor of ones."""
    return full_array(sizes_of(size), 1, dtype, requires_grad)


def legacy_tensor(cls: Any, args: tuple, kwargs: dict) -> Any:
    """`torch.Tensor(...)`."""
    return tensor(args[0], dtype=default())
