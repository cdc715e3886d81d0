"""Sorting and ranking: sort, argsort, topk, kthvalue, mode, unique."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad import return_types
from tapegrad.arrays.namespaces import elements, refuse_batch
from tapegrad.core import errors
from tapegrad.core import tensor_base as _tensor
from tapegrad.core.annotations import Dim, Out, TensorLike
from tapegrad.core.argument_check import takes_tensors
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import check_apart
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import refuse_kinds, require_order
from tapegrad.operators.reduction.max_min import CHOICE, choice_rules, choose, refuse_empty

__all__ = ["argsort", "kthvalue", "mode", "msort", "sort", "topk", "unique", "unique_consecutive"]


@primitive(node="SortBackward0", kernels=("put_along",), **CHOICE)
def sort_along(xp, x, *, axis, descending):
    """The elements along `axis` in order, and where they came from."""
    indices = xp.argsort(x, axis=axis, descending=descending, stable=True)
    return xp.take_along_axis(x, indices, axis=axis), indices


sort_along.vjp(x=lambda xp, g, x_like, indices, axis: xp.put_along(g, indices, x_like.shape, axis))
sort_along.jvp(x=lambda xp, t, indices, axis: xp.take_along_axis(t, indices, axis=axis))


@primitive(node="TopkBackward0", kernels=("top_indices", "put_along"), **CHOICE)
def topk_along(xp, x, *, k, axis, largest):
    """The k largest or smallest elements along `axis`, and where they came from."""
    indices = xp.top_indices(x, k, axis, largest)
    return xp.take_along_axis(x, indices, axis=axis), indices


topk_along.vjp(x=lambda xp, g, x_like, indices, axis: xp.put_along(g, indices, x_like.shape, axis))
topk_along.jvp(x=lambda xp, t, indices, axis: xp.take_along_axis(t, indices, axis=axis))


@primitive(kernels=("put_along",))
def put_along(xp, x, indices, *, shape, axis):
    """Zeros of `shape` with x at `indices` along `axis`, which are all different."""
    return xp.put_along(x, indices, shape, axis)


put_along.vjp(x=lambda xp, g, indices, axis: xp.take_along_axis(g, indices, axis=axis))
put_along.jvp(x=lambda xp, t, indices, shape, axis: xp.put_along(t, indices, shape, axis))


@primitive(node="KthvalueBackward0", kernels=("kth_index", "put_along"), **CHOICE)
def kth_along(xp, x, *, k, axis, keepdims):
    """The k-th smallest element along `axis`, and where it is."""
    return choose(xp, x, xp.kth_index(x, k - 1, axis), axis, keepdims)


@primitive(node="ModeBackward0", kernels=("mode_index", "put_along"), **CHOICE)
def mode_along(xp, x, *, axis, keepdims):
    """The most frequent element along `axis`, and where it last is."""
    return choose(xp, x, xp.mode_index(x, axis), axis, keepdims)


choice_rules(kth_along)
choice_rules(mode_along)


# --- the public functions ---


def sort(
    input: TensorLike,
    dim: Dim = -1,
    descending: bool = False,
    stable: bool = False,
    *,
    out: Out = None,
) -> Any:
    """The elements along `dim` in order and their indices, a pair (values, indices).

    Equal elements keep their order, with `stable=False`, too: PyTorch's indices may differ there.

    >>> torch.sort(torch.tensor([3.0, 1.0, 2.0])).indices
    tensor([1, 2, 0])
    """
    errors.need_tensors("sort", input=input)
    axis = axis_of(dim, input._array.ndim)
    refuse_kinds(" Sort does not support {} dtypes on CPU", input)
    if input._array.ndim == 0:
        pair = sort_along(input.reshape(1), axis=0, descending=False)
        pair = tuple(x.reshape(()) for x in pair)
    else:
        pair = sort_along(input, axis=axis, descending=bool(descending))
    return finish("sort", return_types.sort(pair), out)


@takes_tensors
def argsort(
    input: TensorLike, dim: Dim = -1, descending: bool = False, *, stable: bool = False
) -> Any:
    """The indices that put the elements along `dim` in order.

    >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    return sort(input, dim, descending, stable)[1]


@takes_tensors
def msort(input: TensorLike, *, out: Out = None) -> Any:
    """The elements along the first dimension in order.

    >>> torch.msort(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1., 2., 3.])
    """
    return finish("msort", sort(input, 0)[0], out)


@takes_tensors
def topk(
    input: TensorLike,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Out = None,
) -> Any:
    """The k largest (or smallest) elements along `dim`, a pair (values, indices).

    They come in order with `sorted=False`, too.

    >>> torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2).values
    tensor([3., 2.])
    """
    axis = axis_of(dim, input._array.ndim)
    refuse_kinds(" topk does not support {} dtypes on CPU", input)
    refuse_kinds("topk does not support {} dtypes on CPU", input, "b")
    size = input._array.shape[axis] if input._array.ndim else 1
    if not 0 <= k <= size:
        raise errors.runtime_error(
            "selected index k out of range", f"Dimension {axis} has {size} elements; k is {k}."
        )
    options = {"k": k, "axis": axis, "largest": bool(largest)}
    if input._array.ndim == 0:
        pair = tuple(x.reshape(()) for x in topk_along(input.reshape(1), **{**options, "k": 1}))
    else:
        pair = topk_along(input, **options)
    return finish("topk", return_types.topk(pair), out)


@takes_tensors
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The k-th smallest element along `dim`, a pair (values, indices).

    >>> torch.kthvalue(torch.tensor([3.0, 1.0, 2.0]), 2).values
    tensor(2.)
    """
    axis = axis_of(dim, input._array.ndim)
    refuse_empty("kthvalue", input, dim)
    require_order("kthvalue_cpu", input, bools=False)
    size = input._array.shape[axis] if input._array.ndim else 1
    if not 1 <= k <= size:
        raise errors.runtime_error(
            f"kthvalue(): selected number k out of range for dimension {axis}",
            f"It has {size} elements; k is {k}.",
        )
    if out is not None:
        check_apart(out[0], input)
        check_apart(out[1], input)
    if input._array.ndim == 0:
        pair = kth_along(input.reshape(1), k=k, axis=0, keepdims=False)
    else:
        pair = kth_along(input, k=k, axis=axis, keepdims=bool(keepdim))
    return finish("kthvalue", return_types.kthvalue(pair), out)


@takes_tensors
def mode(input: TensorLike, dim: int = -1, keepdim: bool = False, *, out: Out = None) -> Any:
    """The most frequent element along `dim` (the smallest of several), a pair (values, indices).

    >>> torch.mode(torch.tensor([2, 1, 2, 3])).values
    tensor(2)
    """
    axis = axis_of(dim, input._array.ndim)
    refuse_empty("mode", input, dim)
    require_order("mode_cpu", input)
    if input._array.ndim == 0:
        pair = mode_along(input.reshape(1), axis=0, keepdims=False)
    else:
        pair = mode_along(input, axis=axis, keepdims=bool(keepdim))
    return finish("mode", return_types.mode(pair), out)


@takes_tensors(name="_unique2")
def unique(
    input: TensorLike,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Dim = None,
) -> Any:
    """The different elements in order; on demand where each element went and how often it occurs.

    >>> torch.unique(torch.tensor([3, 1, 3, 2]))
    tensor([1, 2, 3])
    """
    refuse_batch("_unique2", input._array)
    array = elements(input._array)
    axis = _unique_axis(input, dim)
    if not (return_inverse or return_counts):
        return _tensor.wrap(np.unique(array, axis=axis, equal_nan=False))
    values, inverse, counts = np.unique(
        array, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    inverse = inverse.reshape(array.shape if axis is None else (array.shape[axis],))
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def _unique_axis(input: TensorLike, dim: Dim) -> int | None:
    """The axis along which slices are compared, None for all elements one by one."""
    require_order("unique" if dim is None else "unique_dim", input)
    if dim is None:
        return None
    shape = input._array.shape
    if not shape:
        raise errors.index_error(
            f"Dimension specified as {dim} but tensor has no dimensions", "Leave dim= away."
        )
    axis = axis_of(dim, len(shape))
    if any(not n and i != axis for i, n in enumerate(shape)):
        raise errors.runtime_error(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied",
            "Slices without elements cannot be told apart.",
        )
    return axis


def _chosen(values: Any, inverse: Any, counts: Any, with_inverse: bool, with_counts: bool) -> Any:
    found = [_tensor.wrap(values)]
    if with_inverse:
        found.append(_tensor.wrap(inverse.astype(np.int64, copy=False)))
    if with_counts:
        found.append(_tensor.wrap(counts.astype(np.int64, copy=False)))
    return found[0] if len(found) == 1 else tuple(found)


@takes_tensors
def unique_consecutive(
    input: TensorLike, return_inverse: bool = False, return_counts: bool = False, dim: Dim = None
) -> Any:
    """The elements without those that equal the one before.

    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    refuse_batch("unique_consecutive", input._array)
    array = elements(input._array)
    array = array if dim is not None else array.reshape(-1)
    axis = _unique_axis(input, dim) or 0
    n = array.shape[axis]
    rows = np.moveaxis(array, axis, 0)
    others = tuple(range(1, array.ndim))
    starts = np.concatenate([np.ones(min(n, 1), bool), (rows[1:] != rows[:-1]).any(others)])
    values = np.compress(starts, array, axis)
    inverse = np.cumsum(starts) - 1
    counts = np.diff(np.append(np.flatnonzero(starts), n))
    if dim is None:
        inverse = inverse.reshape(input._array.shape)
    return _chosen(values, inverse, counts, return_inverse, return_counts)
