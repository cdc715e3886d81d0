"""Copies of views: what the view operator of the same name shows, with memory of its own."""

from tapegrad.autograd.view import as_copy
from tapegrad.core.annotations import Any, Dim, DTypeLike, Shape, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.shape import listed
from tapegrad.operators.shape import as_strided as _as_strided
from tapegrad.operators.shape.expand_broadcast import expand
from tapegrad.operators.shape.permute_transpose_movedim_swapaxes import permute, t, transpose
from tapegrad.operators.shape.reshape_flatten_atleast import clone, view
from tapegrad.operators.shape.slice_scatter import sliceable
from tapegrad.operators.shape.slice_select_narrow import select
from tapegrad.operators.shape.split_chunk_unbind import split, split_with_sizes, unbind
from tapegrad.operators.shape.squeeze_unsqueeze import squeeze, unsqueeze
from tapegrad.operators.shape.tril_triu_diag import diagonal


def _copied(input: Tensor, view: Tensor, order: str | None = "C") -> Any:
    """A copy of a view, behind the node of the view alone, whose name says that it is a copy."""
    result = clone(view, order=order)
    if view is not input and result._node is not None:
        result._node = as_copy(view._node)
    return result


@require_tensors
def alias_copy(input: Tensor) -> Any:
    """A copy of the tensor.

    Shape: any, and that of the result.

    >>> x = torch.zeros(2)
    >>> y = torch.alias_copy(x).add_(1)
    >>> x
    tensor([0., 0.])
    """
    return _copied(input, _as_strided.alias(input), None)


@require_tensors
def as_strided_copy(input: Tensor, size: Shape, stride: Shape, storage_offset: Any = None) -> Any:
    """A copy of `as_strided`.

    Shape: `size`.

    >>> torch.as_strided_copy(torch.arange(4), (3, 2), (1, 1))
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """
    return _copied(input, _as_strided.as_strided(input, size, stride, storage_offset))


@require_tensors
def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A copy of `diagonal`.

    Shape: that of `diagonal`.

    >>> torch.diagonal_copy(torch.arange(4).reshape(2, 2))
    tensor([0, 3])
    """
    return _copied(input, diagonal(input, offset, dim1, dim2))


@require_tensors
def expand_copy(input: Tensor, size: Shape, *, implicit: bool = False) -> Any:
    """A copy of `expand`.

    Shape: `size`, to which that of `input` broadcasts; -1 keeps a size.

    >>> torch.expand_copy(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return _copied(input, expand(input, listed("expand_copy", "size", size, 2)))


@require_tensors
def permute_copy(input: Tensor, dims: Dim) -> Any:
    """A copy of `permute`.

    Shape: the input's sizes in the order of `dims`.

    >>> torch.permute_copy(torch.zeros(2, 3, 5), (2, 0, 1)).shape
    torch.Size([5, 2, 3])
    """
    return _copied(input, permute(input, dims))


@require_tensors
def select_copy(input: Tensor, dim: int, index: int) -> Any:
    """A copy of `select`.

    Shape: the input's without `dim`.

    >>> torch.select_copy(torch.arange(4).reshape(2, 2), 1, 0)
    tensor([0, 2])
    """
    return _copied(input, select(input, dim, index))


@require_tensors
def slice_copy(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """A copy of the slice `start:end:step` of a dimension.

    Shape: the input's with the number of elements taken at `dim`.

    >>> torch.slice_copy(torch.arange(6), 0, 1, 6, 2)
    tensor([1, 3, 5])
    """
    key = (slice(None),) * sliceable(input, dim, step) + (slice(start, end, step),)
    return _copied(input, input[key])


@require_tensors
def split_copy(input: Tensor, split_size: int, dim: int = 0) -> tuple:
    """Copies of the parts that `split` gives.

    Shapes: those of `split`.

    >>> torch.split_copy(torch.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    return tuple([_copied(input, part) for part in split(input, split_size, dim)])


@require_tensors
def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple:
    """Copies of the parts that `split_with_sizes` gives.

    Shapes: those of `split_with_sizes`.

    >>> torch.split_with_sizes_copy(torch.arange(5), (1, 4))
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    return tuple([_copied(input, part) for part in split_with_sizes(input, split_sizes, dim)])


@require_tensors
def squeeze_copy(input: Tensor, dim: Dim = None) -> Any:
    """A copy of `squeeze`.

    Shape: that of `squeeze`.

    >>> torch.squeeze_copy(torch.zeros(2, 1, 3), 1).shape
    torch.Size([2, 3])
    """
    return _copied(input, squeeze(input, dim))


@require_tensors
def t_copy(input: Tensor) -> Any:
    """A copy of `t`.

    Shape: (m, n) to (n, m); (n,) and () stay.

    >>> torch.t_copy(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
    """
    return _copied(input, t(input))


@require_tensors
def transpose_copy(input: Tensor, dim0: int, dim1: int) -> Any:
    """A copy of `transpose`.

    Shape: the input's with the two sizes exchanged.

    >>> torch.transpose_copy(torch.zeros(2, 3, 5), 0, 2).shape
    torch.Size([5, 3, 2])
    """
    return _copied(input, transpose(input, dim0, dim1))


@require_tensors
def unbind_copy(input: Tensor, dim: int = 0) -> tuple:
    """Copies of the slices that `unbind` gives.

    Shapes: each the input's without `dim`.

    >>> torch.unbind_copy(torch.arange(4).reshape(2, 2))
    (tensor([0, 1]), tensor([2, 3]))
    """
    return tuple([_copied(input, part) for part in unbind(input, dim)])


@require_tensors
def unfold_copy(input: Tensor, dimension: int, size: int, step: int) -> Any:
    """A copy of `unfold`.

    Shape: the input's with the number of windows at `dimension`, and `size` at the end.

    >>> torch.unfold_copy(torch.arange(5), 0, 3, 1)
    tensor([[0, 1, 2],
            [1, 2, 3],
            [2, 3, 4]])
    """
    return _copied(input, _as_strided.unfold(input, dimension, size, step))


@require_tensors
def unsqueeze_copy(input: Tensor, dim: int) -> Any:
    """A copy of `unsqueeze`.

    Shape: the input's with 1 at `dim`.

    >>> torch.unsqueeze_copy(torch.tensor([1, 2]), 1)
    tensor([[1],
            [2]])
    """
    return _copied(input, unsqueeze(input, dim))


@require_tensors
def view_as_complex_copy(input: Tensor) -> Any:
    """A copy of `view_as_complex`.

    Shape: (..., 2) to (...).

    >>> torch.view_as_complex_copy(torch.tensor([[1.0, 2.0]]))
    tensor([1.+2.j])
    """
    return _copied(input, _as_strided.view_as_complex(input))


@require_tensors
def view_as_real_copy(input: Tensor) -> Any:
    """A copy of `view_as_real`.

    Shape: (...) to (..., 2).

    >>> torch.view_as_real_copy(torch.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    return _copied(input, _as_strided.view_as_real(input))


@require_tensors
def view_copy(input: Tensor, size: Any = None, *, dtype: DTypeLike = None) -> Any:
    """A copy of `view`.

    Shape: `size`, with as many elements; one size may be -1.

    >>> torch.view_copy(torch.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    if dtype is not None or isinstance(size, Dtype):
        return _copied(input, view(input, dtype=dtype or size))
    return _copied(input, view(input, listed("view_copy", "size", size, 2)))


__torch__ = """
    alias_copy as_strided_copy diagonal_copy expand_copy permute_copy select_copy slice_copy
    split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy
    unfold_copy unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy
"""
