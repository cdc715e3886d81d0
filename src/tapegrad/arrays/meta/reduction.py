"""Reductions, running sums, sorting and transforms of arrays without elements."""

from typing import Any

import numpy as np

from tapegrad.arrays.kernel import meta_rule
from tapegrad.core.meta_array import nowhere


def reduced(x: Any, axis: Any, keepdims: bool, dtype: Any) -> Any:
    """One element along each of these axes, or without them."""
    if axis is None:
        axes = set(range(x.ndim))
    else:
        given = axis if isinstance(axis, (tuple, list)) else (axis,)
        axes = {a % x.ndim if x.ndim else 0 for a in given}
    if keepdims:
        shape = tuple([1 if i in axes else n for i, n in enumerate(x.shape)])
    else:
        shape = tuple([n for i, n in enumerate(x.shape) if i not in axes])
    return nowhere(shape, dtype)


def _sum_dtype(x: Any, dtype: Any) -> Any:
    if dtype is not None:
        return getattr(dtype, "numpy", dtype)
    return (
        np.dtype(np.int64)
        if x.dtype.kind in "bi"
        else (np.dtype(np.uint64) if x.dtype.kind == "u" else x.dtype)
    )


@meta_rule
def sum(x: Any, /, axis: Any = None, dtype: Any = None, keepdims: bool = False, **_: Any) -> Any:
    return reduced(x, axis, keepdims, _sum_dtype(x, dtype))


prod = meta_rule(sum)


@meta_rule
def max(x: Any, /, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if x.ndim and any_empty(x.shape, axes):
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    return reduced(x, axis, keepdims, x.dtype)


def any_empty(shape: Any, axes: Any) -> bool:
    """Whether nothing lies along one of these axes, and something would have to."""
    sizes = [shape[a] for a in axes]
    rest = [n for i, n in enumerate(shape) if i not in {a % len(shape) for a in axes}]
    return 0 in sizes and 0 not in rest


min = meta_rule(max)


@meta_rule
def mean(x: Any, /, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    return reduced(x, axis, keepdims, x.dtype if x.dtype.kind in "fcV" else np.float64)


@meta_rule
def all(x: Any, /, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    return reduced(x, axis, keepdims, np.bool_)


any = meta_rule(all)


@meta_rule
def count_nonzero(x: Any, /, axis: Any = None, keepdims: bool = False) -> Any:
    return reduced(x, axis, keepdims, np.int64)


@meta_rule
def argmax(x: Any, /, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    return reduced(x, axis, keepdims, np.int64)


argmin = meta_rule(argmax)


@meta_rule
def cumulative_sum(x: Any, /, axis: Any = None, dtype: Any = None, **_: Any) -> Any:
    return nowhere((x.size,) if axis is None else x.shape, x.dtype if dtype is None else dtype)


cumulative_prod = meta_rule(cumulative_sum)


@meta_rule
def log_running_sum(x: Any, axis: int) -> Any:
    return nowhere(x.shape, x.dtype)


@meta_rule
def running_extremum(x: Any, axis: int, largest: bool) -> Any:
    return nowhere(x.shape, np.int64)


@meta_rule
def sort(x: Any, /, axis: int = -1, **_: Any) -> Any:
    return nowhere(x.shape, x.dtype)


@meta_rule
def argsort(x: Any, /, axis: int = -1, **_: Any) -> Any:
    return nowhere(x.shape, np.int64)


def _along(x: Any, axis: int, size: int, dtype: Any) -> Any:
    if not x.ndim:
        return nowhere((), dtype)
    axis %= x.ndim
    return nowhere((*x.shape[:axis], size, *x.shape[axis + 1 :]), dtype)


@meta_rule
def top_indices(x: Any, k: int, axis: int, largest: bool) -> Any:
    return _along(x, axis, k, np.int64)


@meta_rule
def kth_index(x: Any, k: int, axis: int) -> Any:
    return _along(x, axis, 1, np.int64)


@meta_rule
def median_index(x: Any, axis: int, ignore_nan: bool) -> Any:
    return _along(x, axis, 1, np.int64)


@meta_rule
def mode_index(x: Any, axis: int) -> Any:
    return _along(x, axis, 1, np.int64)


@meta_rule
def put_along(x: Any, indices: Any, shape: Any, axis: int) -> Any:
    return nowhere(tuple(shape), x.dtype)


@meta_rule
def fourier(x: Any, axes: Any, scale: str, forward: bool) -> Any:
    return nowhere(x.shape, _complex(x.dtype))


@meta_rule
def fourier_half(x: Any, axes: Any, scale: str) -> Any:
    last = axes[-1] % x.ndim
    size = x.shape[last] // 2 + 1
    return nowhere((*x.shape[:last], size, *x.shape[last + 1 :]), _complex(x.dtype))


@meta_rule
def fourier_real(x: Any, axes: Any, scale: str, size: int) -> Any:
    last = axes[-1] % x.ndim
    dtype = np.float32 if x.dtype == np.complex64 else np.float64
    return nowhere((*x.shape[:last], size, *x.shape[last + 1 :]), dtype)


def _complex(dtype: Any) -> Any:
    if dtype.kind == "c":
        return dtype
    return np.dtype(np.complex64 if dtype == np.float32 else np.complex128)


@meta_rule
def places_in(sequence: Any, values: Any, right: bool) -> Any:
    return nowhere(values.shape, np.int64)


@meta_rule
def members(x: Any, among: Any, unique: bool, invert: bool) -> Any:
    return nowhere(x.shape, np.bool_)


@meta_rule
def tally_evenly(x: Any, low: float, high: float, n: int) -> Any:
    return nowhere((n,), x.dtype)
