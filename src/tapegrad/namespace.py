"""The Tensor namespace: the array standard's names for tensors.

Rules run on it when a derivative is itself differentiated, and array-API libraries find it through
`Tensor.__array_namespace__`. Every name here is an operator under its standard name and arguments.
"""

from __future__ import annotations

from typing import Any

from tapegrad.ops import create, reduce, shape
from tapegrad.ops.shape import pad_slice as _pad_slice
from tapegrad.shape import axes_of


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return reduce.sum_axes(x, axis=axes_of(axis, x.ndim), keepdims=keepdims)


def reshape(x: Any, /, shape_: tuple[int, ...], *, copy: Any = None) -> Any:
    return shape.reshape_(x, shape=tuple(shape_))


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    return shape.permute_(x, axes=tuple(axes))


def zeros(size: Any, *, dtype: Any = None) -> Any:
    return create.zeros(size, dtype=dtype)


def pad_slice(x: Any, size: tuple[int, ...], axis: int, start: int, stop: int, step: int) -> Any:
    return _pad_slice(x, shape=size, axis=axis, start=start, stop=stop, step=step)
