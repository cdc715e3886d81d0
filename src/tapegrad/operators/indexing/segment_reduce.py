"""Reduction of segments, slices that follow one another: `segment_reduce`."""

import math

import numpy as np

from tapegrad.arrays.namespaces import is_batched
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import axis_of, numbered
from tapegrad.core.tensor_base import wrap
from tapegrad.operators.creation.like import zeros_like
from tapegrad.operators.creation.zeros_eye import full
from tapegrad.operators.indexing.gather_index_select import index_select
from tapegrad.operators.indexing.scatter_reduce import scatter_reduce
from tapegrad.operators.pointwise.where_clamp import where

__torch__ = "_segment_reduce segment_reduce"

_REDUCTIONS = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}
_REDUCTIONS |= {"amax": "amax", "amin": "amin"}
_OF_NONE = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}


@require_tensors
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Scalar | None = None,
) -> Any:
    """Sums, means, products, largest or smallest of segments of one dimension.

    Segment i has `lengths[i]` slices, or those from `offsets[i]` up to `offsets[i + 1]`. `initial`
    takes part in each reduction, and is that of a segment without slices. It is computed by
    `scatter_reduce`, whose nodes the graph has.

    Shapes: data (*outer, size, *inner), with `size` at `axis`; lengths (*outer, n) or offsets
    (*outer, n + 1); result (*outer, n, *inner).

    >>> torch.segment_reduce(torch.tensor([1.0, 2.0, 3.0]), "sum", lengths=torch.tensor([2, 1]))
    tensor([3., 3.])
    """
    axis = axis_of(axis, data.dim())
    _check(data, reduce, lengths, indices, offsets, axis)
    shape, outer = tuple(data.shape), int(np.prod(data.shape[:axis], dtype=np.int64))
    starts, counts = _bounds(lengths, offsets, shape[axis], unsafe or offsets is not None)
    n = counts.shape[-1]
    starts, counts = starts.reshape(outer, n), counts.reshape(-1)
    starts = (starts + np.arange(outer)[:, None] * shape[axis]).reshape(-1)
    segment = numbered(counts)
    step = np.arange(segment.size) - (np.cumsum(counts) - counts)[segment]
    rows = data.reshape((outer * shape[axis], *shape[axis + 1 :]))
    taken = index_select(rows, 0, wrap(starts[segment] + step))
    kind = _REDUCTIONS[reduce]
    first = full((counts.size, *shape[axis + 1 :]), _OF_NONE[kind], dtype=data.dtype)
    where_to = wrap(segment).reshape((-1,) + (1,) * (taken.dim() - 1)).expand(taken.shape)
    array = taken._array
    if kind != "sum" and not is_batched(array) and np.isnan(array).any():
        found = _with_nan(first, where_to, taken, kind)
    else:
        found = scatter_reduce(first, 0, where_to, taken, kind, include_self=False)
    if reduce == "mean":
        found = _mean(found, counts, initial)
    elif initial is not None:
        found = _with_initial(found, kind, initial)
    return found.reshape((*shape[:axis], n, *shape[axis + 1 :]))


_segment_reduce = segment_reduce


def _with_nan(first: Any, where_to: Any, taken: Any, kind: str) -> Any:
    """Products and extrema whose gradients go past a nan, or to it, as PyTorch's do."""
    nan = taken != taken
    zeros = zeros_like(first)
    count = zeros.scatter_add(0, where_to, nan.to(first.dtype))
    clean = taken.masked_fill(nan, _OF_NONE[kind])
    found = scatter_reduce(first, 0, where_to, clean, kind, include_self=False)
    of_nan = zeros.scatter_add(0, where_to, taken.masked_fill(~nan, 0)) / count.clamp(min=1)
    return where(count > 0, found * of_nan if kind == "prod" else of_nan, found)


def _mean(total: Any, counts: np.ndarray, initial: Any) -> Any:
    shown = wrap(counts.reshape((-1,) + (1,) * (total.dim() - 1))).to(total.dtype)
    if initial is None:
        return total / shown
    return (total + initial) / shown.clamp(min=1)


def _with_initial(found: Any, kind: str, initial: Any) -> Any:
    if kind == "sum":
        return found + initial
    if kind == "prod":
        return found * initial
    beyond = found < initial if kind == "amax" else found > initial
    return where(beyond, full((), initial, dtype=found.dtype), found)


def _check(data: Any, reduce: str, lengths: Any, indices: Any, offsets: Any, axis: int) -> None:
    if reduce not in _REDUCTIONS:
        raise errors.runtime_error(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}",
            "max and min are other names of amax and amin.",
        )
    if indices is not None:
        raise errors.runtime_error(
            "segment_reduce(): indices based reduction is not supported yet.",
            "Give lengths or offsets.",
        )
    name, given = ("offsets", offsets) if offsets is not None else ("lengths", lengths)
    if given is None:
        raise errors.runtime_error(
            "segment_reduce(): Either lengths or offsets must be defined.", "Give one of them."
        )
    if axis != given.dim() - 1:
        raise errors.runtime_error(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.",
            f"{name} have a row for each index of the dimensions before axis.",
        )
    if not data.is_floating_point():
        raise errors.not_implemented(
            f"\"_segment_reduce_cpu\" not implemented for '{_scalar_name(data)}'",
            "Convert it with float().",
        )
    if given.is_floating_point():
        raise errors.not_implemented(
            f"\"_segment_reduce_{name}_cpu_kernel1\" not implemented for '{_scalar_name(given)}'",
            "They are whole numbers.",
        )


def _scalar_name(x: Any) -> str:
    return x.dtype.scalar_name


def _bounds(lengths: Any, offsets: Any, size: int, unsafe: bool) -> tuple[np.ndarray, np.ndarray]:
    if offsets is not None:
        bounds = offsets.detach().numpy().astype(np.int64)
        return bounds[..., :-1], np.diff(bounds, axis=-1)
    counts = lengths.detach().numpy().astype(np.int64)
    if not unsafe:
        if (counts < 0).any():
            raise errors.runtime_error("lengths contains negative value!", "They count slices.")
        if (counts.sum(axis=-1) != size).any():
            raise errors.runtime_error(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe.",
                "unsafe=True leaves out what is behind the last segment.",
            )
    return np.cumsum(counts, axis=-1) - counts, counts
