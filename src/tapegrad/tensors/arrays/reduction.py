"""Reductions, sorting and running sums of tensors under the array standard's names."""

from tapegrad.core.annotations import Any, Array, Dim
from tapegrad.core.shape import axes_of
from tapegrad.dispatch.op import by_place
from tapegrad.operators.indexing import gather_index_select
from tapegrad.operators.reduction import (
    cumulative,
    max_min,
    prod_all_any,
    sort_topk,
    sum_mean,
    var_std,
)

__all__ = [
    "all", "any", "argmax", "argmin", "argsort", "count_nonzero", "cumulative_prod",
    "cumulative_sum", "log_running_sum", "max", "mean", "min", "pick", "prod", "put_along", "sort",
    "std", "sum", "take_along_axis", "unpick", "var",
]  # fmt: skip


put_along = by_place(sort_topk.put_along)
log_running_sum = by_place(cumulative.log_running_sum)


def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    if axis is None and not keepdims:
        return sum_mean.sum(x, dtype=dtype)
    return sum_mean.sum(x, axes_of(axis, x.ndim), keepdims, dtype=dtype) if axis != () else x


def mean(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return sum_mean.mean(x, axes_of(axis, x.ndim), keepdims) if axis != () else x


def prod(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    axes = axes_of(axis, x.ndim)
    if len(axes) == x.ndim and not keepdims:
        return prod_all_any.prod(x, dtype=dtype)
    for each in sorted(axes, reverse=True):
        x = prod_all_any.prod(x, each, keepdims, dtype=dtype)
    return x


def max(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return max_min.amax(x, axes_of(axis, x.ndim), keepdims)


def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return max_min.amin(x, axes_of(axis, x.ndim), keepdims)


def all(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return prod_all_any.all(x, axes_of(axis, x.ndim), keepdims)


def any(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    return prod_all_any.any(x, axes_of(axis, x.ndim), keepdims)


def count_nonzero(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return sum_mean.sum(x != 0, axes_of(axis, x.ndim), keepdims)


def var(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    return var_std.var(x, axes_of(axis, x.ndim), keepdim=keepdims, correction=correction)


def std(x: Array, /, *, axis: Dim = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    return var_std.std(x, axes_of(axis, x.ndim), keepdim=keepdims, correction=correction)


def argmax(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return max_min.argmax(x, axis, keepdims)


def argmin(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return max_min.argmin(x, axis, keepdims)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return sort_topk.sort(x, axis, descending, stable)[0]


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return sort_topk.argsort(x, axis, descending, stable=stable)


def cumulative_sum(x: Array, /, *, axis: Dim = None) -> Any:
    return cumulative.cumsum(x, 0 if axis is None else axis)


def cumulative_prod(x: Array, /, *, axis: Dim = None) -> Any:
    return cumulative.cumprod(x, 0 if axis is None else axis)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Any:
    return gather_index_select.gather_along(x, indices, axis=axis % x.ndim)


def pick(x: Array, target: Array) -> Any:
    from tapegrad.operators.nn.loss.nll_cross_entropy import pick_class

    return pick_class(x, target)


def unpick(x: Array, target: Array, shape: tuple[int, ...]) -> Any:
    from tapegrad.operators.nn.loss.nll_cross_entropy import unpick_class

    return unpick_class(x, target, shape=tuple(shape))
