"""Patches: a tensor with another one in the place of one of its views."""

import numpy as np

from tapegrad.autograd.mode import MODE
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Namespace, Shape, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import strides_of_first
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape.as_strided import as_strided
from tapegrad.operators.shape.permute_transpose_movedim_swapaxes import inverse
from tapegrad.operators.shape.slice_select_narrow import select
from tapegrad.operators.shape.tril_triu_diag import axes_last, diagonal


def _along(axis: int, key: object) -> tuple:
    return (slice(None),) * axis + (key, Ellipsis)


def _zeros(xp: Namespace, g: Array) -> Any:
    return xp.zeros((), dtype=g.dtype)


def _unpatched(xp: Namespace, g: Array, axis: int, key: Array) -> Any:
    return xp.write_part(g, _zeros(xp, g), axis, key)


def _part(xp: Namespace, g: Array, source_like: Any, axis: int, key: Array) -> Any:
    return xp.astype(g[_along(axis, key)], source_like.dtype, copy=False)


@vjp(x=_unpatched, source=_part)
@linear(node="SliceScatterBackward0", kernels=("write_part",), order=strides_of_first)
def patch_part(xp, x, source, *, axis, key):
    """`x` with `source` in the place of the slice `key` of `axis`."""
    return xp.write_part(x, source, axis, key)


@vjp(x=_unpatched, source=_part)
@linear(node="SelectScatterBackward0", kernels=("write_part",), order=strides_of_first)
def patch_index(xp, x, source, *, axis, key):
    """`x` with `source` at the index `key` of `axis`."""
    return xp.write_part(x, source, axis, key)


def _with_diagonal(xp: Namespace, x: Array, source: Any, offset: int, a: int, b: int) -> Any:
    order = axes_last(x.ndim, a, b)
    written = xp.write_diagonal(xp.permute_dims(x, order), source, offset)
    return xp.permute_dims(written, inverse(order))


@vjp(
    x=lambda xp, g, offset, a, b: _with_diagonal(xp, g, _zeros(xp, g), offset, a, b),
    source=lambda xp, g, source_like, offset, a, b: xp.astype(
        xp.diagonal_view(xp.permute_dims(g, axes_last(g.ndim, a, b)), offset),
        source_like.dtype,
        copy=False,
    ),
)
@linear(
    node="DiagonalScatterBackward0",
    kernels=("write_diagonal", "diagonal_view"),
    order=strides_of_first,
)
def patch_diagonal(xp, x, source, *, offset, a, b):
    """`x` with `source` on the diagonal `offset` of axes `a` and `b`."""
    return _with_diagonal(xp, x, source, offset, a, b)


# --- public --------------------------------------------------------------------------------------


def _check(src: Tensor, shape: tuple[int, ...]) -> None:
    if src._array.shape != shape:
        raise errors.runtime_error(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._array.shape)}, slice size = {list(shape)}",
            "expand() repeats a source.",
        )


@require_tensors
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Any:
    """The tensor with `src` in the place of the slice at `index` of `dim`.

    Shapes: src the input's without `dim`; the result has the input's.

    >>> torch.zeros(2, 2).select_scatter(torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    _check(src, select(tensor_base.wrap(input._array), dim, index)._array.shape)
    axis = axis_of(dim, input._array.ndim)
    n = input._array.shape[axis]
    return patch_index(input, src, axis=axis, key=index + n if index < 0 else index)


def sliceable(input: Tensor, dim: int, step: int) -> int:
    """The axis of which a slice with this step can be taken."""
    if not input._array.ndim:
        text = "slice() cannot be applied to a 0-dim tensor."
        raise errors.index_error(text, "reshape(1) gives it a dimension.")
    axis = axis_of(dim, input._array.ndim)
    if step <= 0:
        raise errors.runtime_error("slice step must be positive", "flip() reverses a dimension.")
    return axis


@require_tensors
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    """The tensor with `src` in the place of a slice of `dim`.

    Shapes: src that of the slice; the result has the input's.
    Raises: RuntimeError for a step that is not positive.

    >>> torch.zeros(3).slice_scatter(torch.ones(2), 0, 1)
    tensor([0., 1., 1.])
    """
    axis = sliceable(input, dim, step)
    start, end, step = slice(start, end, step).indices(input._array.shape[axis])
    key = slice(start, max(start, end), step)
    _check(src, input._array[_along(axis, key)].shape)
    return patch_part(input, src, axis=axis, key=key)


@require_tensors
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Any:
    """The tensor with `src` on a diagonal.

    Shapes: src that of `diagonal`; the result has the input's.

    >>> torch.zeros(2, 2).diagonal_scatter(torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    _check(src, diagonal(tensor_base.wrap(input._array), offset, dim1, dim2)._array.shape)
    ndim = input._array.ndim
    a, b = axis_of(dim1, ndim), axis_of(dim2, ndim)
    return patch_diagonal(input, src, offset=offset, a=a, b=b)


@require_tensors
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Shape, stride: Shape, storage_offset: Any = None
) -> Any:
    """The tensor with `src` in the places of its memory that sizes and strides name.

    The gradient of `input` is zero in those places; PyTorch's is zero everywhere else instead.

    Shapes: src `size`; the result has the input's.

    >>> torch.zeros(4).as_strided_scatter(torch.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    from tapegrad.operators.indexing.copy_fill_zero import copy_

    result = _with_memory_cloned(input)
    part = as_strided(result, size, stride, storage_offset)
    _check(src, part._array.shape)
    copy_(part, src)
    return result


def _with_memory_cloned(x: Any) -> Any:
    """A clone of a tensor that lies in memory as it does: as that view of a clone of it all."""
    if type(x._array) is not np.ndarray or x._array.base is None or type(MODE.get()) is not bool:
        return x.clone()
    n = x.untyped_storage().nbytes() // x.itemsize
    if n == x.numel() and x.is_contiguous():
        return x.clone()
    memory = as_strided(x, (n,), (1,), 0).clone()
    return as_strided(memory, x.shape, x.stride(), x.storage_offset())


__torch__ = "as_strided_scatter diagonal_scatter select_scatter slice_scatter"
