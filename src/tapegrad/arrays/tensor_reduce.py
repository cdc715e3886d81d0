"""Reductions, sorting and running sums of tensors under the array standard's names."""

from __future__ import annotations

from typing import Any

from tapegrad.ops import fold, lookup, order, peak, reduce, scan, variance
from tapegrad.shape import axes_of

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "log_running_sum",
    "max",
    "mean",
    "min",
    "pick",
    "prod",
    "put_along",
    "sort",
    "std",
    "sum",
    "take_along_axis",
    "unpick",
    "var",
]


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    if axis is None and not keepdims:
        return reduce.sum(x, dtype=dtype)
    return reduce.sum(x, axes_of(axis, x.ndim), keepdims, dtype=dtype) if axis != () else x


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return reduce.mean(x, axes_of(axis, x.ndim), keepdims) if axis != () else x


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    axes = axes_of(axis, x.ndim)
    if len(axes) == x.ndim and not keepdims:
        return fold.prod(x, dtype=dtype)
    for each in sorted(axes, reverse=True):
        x = fold.prod(x, each, keepdims, dtype=dtype)
    return x


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return peak.amax(x, axes_of(axis, x.ndim), keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return peak.amin(x, axes_of(axis, x.ndim), keepdims)


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return fold.all(x, axes_of(axis, x.ndim), keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return fold.any(x, axes_of(axis, x.ndim), keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return reduce.sum(x != 0, axes_of(axis, x.ndim), keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    return variance.var(x, axes_of(axis, x.ndim), keepdim=keepdims, correction=correction)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    return variance.std(x, axes_of(axis, x.ndim), keepdim=keepdims, correction=correction)


def argmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return peak.argmax(x, axis, keepdims)


def argmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return peak.argmin(x, axis, keepdims)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return order.sort(x, axis, descending, stable)[0]


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return order.argsort(x, axis, descending, stable=stable)


def cumulative_sum(x: Any, /, *, axis: Any = None) -> Any:
    return scan.cumsum(x, 0 if axis is None else axis)


def cumulative_prod(x: Any, /, *, axis: Any = None) -> Any:
    return scan.cumprod(x, 0 if axis is None else axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    return lookup.gather_along(x, indices, axis=axis % x.ndim)


def put_along(x: Any, indices: Any, shape: tuple[int, ...], axis: int) -> Any:
    return order.put_along(x, indices, shape=tuple(shape), axis=axis)


def log_running_sum(x: Any, axis: int) -> Any:
    return scan.log_running_sum(x, axis=axis)


def pick(x: Any, target: Any) -> Any:
    from tapegrad.ops.likelihood import pick_class

    return pick_class(x, target)


def unpick(x: Any, target: Any, shape: tuple[int, ...]) -> Any:
    from tapegrad.ops.likelihood import unpick_class

    return unpick_class(x, target, shape=tuple(shape))
