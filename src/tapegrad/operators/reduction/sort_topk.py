"""Sorting and ranking: sort, argsort, topk, kthvalue, mode, unique."""

from tapegrad import return_types
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Dim, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import as_first, row_major
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import refuse_kinds
from tapegrad.operators.reduction.max_min import CHOICE

__all__ = ["argsort", "msort", "sort", "topk"]


def _taken(xp: Namespace, x: Array, indices: Array, axis: int) -> Any:
    """The elements at `indices`; a tensor without dimensions has one."""
    return xp.take_along_axis(x, indices, axis=axis) if x.ndim else x


def _put(xp: Namespace, g: Array, indices: Array, shape: tuple, axis: int) -> Any:
    return xp.put_along(g, indices, shape, axis) if shape else g


@jvp(x=lambda xp, t, indices, axis: _taken(xp, t, indices, axis))
@vjp(x=lambda xp, g, x_like, indices, axis: _put(xp, g, indices, x_like.shape, axis))
@primitive(node="SortBackward0", kernels=("put_along",), **CHOICE, order=as_first)
def sort_along(xp, x, *, axis, descending):
    """The elements along `axis` in order, and where they came from."""
    if not x.ndim:
        return xp.asarray(x, copy=True), xp.zeros(x.shape, dtype=xp.int64)
    indices = xp.argsort(x, axis=axis, descending=descending, stable=True)
    return xp.take_along_axis(x, indices, axis=axis), indices


@jvp(x=lambda xp, t, indices, axis: _taken(xp, t, indices, axis))
@vjp(x=lambda xp, g, x_like, indices, axis: _put(xp, g, indices, x_like.shape, axis))
@primitive(node="TopkBackward0", kernels=("top_indices", "put_along"), **CHOICE, order=row_major)
def topk_along(xp, x, *, k, axis, largest):
    """The k largest or smallest elements along `axis`, and where they came from."""
    if not x.ndim:
        return xp.asarray(x, copy=True), xp.zeros(x.shape, dtype=xp.int64)
    indices = xp.top_indices(x, k, axis, largest)
    return xp.take_along_axis(x, indices, axis=axis), indices


@jvp(x=lambda xp, t, indices, shape, axis: xp.put_along(t, indices, shape, axis))
@vjp(x=lambda xp, g, indices, axis: xp.take_along_axis(g, indices, axis=axis))
@primitive(kernels=("put_along",))
def put_along(xp, x, indices, *, shape, axis):
    """Zeros of `shape` with x at `indices` along `axis`, which are all different."""
    return xp.put_along(x, indices, shape, axis)


# --- the public functions ---


@require_tensors
def sort(
    input: Tensor, dim: Dim = -1, descending: bool = False, stable: bool = False, *, out: Out = None
) -> Any:
    """The elements along `dim` in order and their indices, a pair (values, indices).

    Equal elements keep their order, with `stable=False`, too: PyTorch's indices may differ there.

    Shapes: both the input's.

    >>> torch.sort(torch.tensor([3.0, 1.0, 2.0])).indices
    tensor([1, 2, 0])
    """
    errors.need_tensors("sort", input=input)
    axis = axis_of(dim, input._array.ndim)
    refuse_kinds(" Sort does not support {} dtypes on CPU", input)
    pair = sort_along(input, axis=axis, descending=bool(descending))
    return finish("sort", return_types.sort(pair), out, input)


@require_tensors
def argsort(input: Tensor, dim: Dim = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """The indices that put the elements along `dim` in order.

    Shape: any, and that of the result.

    >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    return sort(input, dim, descending, stable)[1]


@require_tensors
def msort(input: Tensor, *, out: Out = None) -> Any:
    """The elements along the first dimension in order.

    Shape: any, and that of the result.

    >>> torch.msort(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1., 2., 3.])
    """
    return finish("msort", sort(input, 0)[0], out, input)


@require_tensors
def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Out = None,
) -> Any:
    """The k largest (or smallest) elements along `dim`, a pair (values, indices).

    They come in order with `sorted=False`, too.

    Shapes: both the input's with `k` at `dim`.
    Raises: RuntimeError where `k` is not from 0 to the size of `dim`.

    >>> torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2).values
    tensor([3., 2.])
    """
    axis = axis_of(dim, input._array.ndim)
    size = input._array.shape[axis] if input._array.ndim else 1
    if not 0 <= k <= size:
        text = "selected index k out of range"
        raise errors.runtime_error(text, f"Dimension {axis} has {size} elements; k is {k}.")
    refuse_kinds(" topk does not support {} dtypes on CPU", input)
    refuse_kinds("topk does not support {} dtypes on CPU", input, "b")
    pair = topk_along(input, k=k, axis=axis, largest=bool(largest))
    return finish("topk", return_types.topk(pair), out, input)
