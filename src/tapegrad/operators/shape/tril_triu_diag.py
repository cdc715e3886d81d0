"""Triangles and diagonals of matrices."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import row_major
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape.reshape_flatten_atleast import copied, reshape


@vjp(x=lambda xp, g, k: xp.tril(g, k=k))
@linear(node="TrilBackward0")
def lower_triangle(xp, x, *, k):
    """`x` with zeros above the diagonal `k` of the last two axes."""
    return xp.tril(x, k=k)


@vjp(x=lambda xp, g, k: xp.triu(g, k=k))
@linear(node="TriuBackward0")
def upper_triangle(xp, x, *, k):
    """`x` with zeros below the diagonal `k` of the last two axes."""
    return xp.triu(x, k=k)


def axes_last(ndim: int, a: int, b: int) -> tuple[int, ...]:
    """All axes, `a` and `b` last."""
    return (*[i for i in range(ndim) if i not in (a, b)], a, b)


def _within(offset: int, rows: int, columns: int) -> int:
    """The number of a diagonal, or of an empty one beside the matrix: NumPy counts no further."""
    return max(-rows, min(offset, columns))


def _diagonal(xp: Namespace, x: Array, offset: int, a: int, b: int) -> Any:
    return xp.diagonal_view(xp.permute_dims(x, axes_last(x.ndim, a, b)), offset)


def _undiagonal(xp: Namespace, g: Array, shape: Any, offset: int, a: int, b: int) -> Any:
    from tapegrad.operators.shape.permute_transpose_movedim_swapaxes import inverse

    order = axes_last(len(shape), a, b)
    padded = xp.pad_diagonal(g, tuple(shape[i] for i in order), offset)
    return xp.permute_dims(padded, inverse(order))


@vjp(x=lambda xp, g, x_like, offset, a, b: _undiagonal(xp, g, x_like.shape, offset, a, b))
@linear(node="DiagonalBackward0", view=True, kernels=("diagonal_view", "pad_diagonal"))
def diagonal_axes(xp, x, *, offset, a, b):
    """The diagonal `offset` of axes `a` and `b`, as the last axis."""
    return _diagonal(xp, x, offset, a, b)


@vjp(x=lambda xp, g, x_like, offset: xp.pad_diagonal(g, x_like.shape, offset))
@linear(node="DiagonalBackward0_copy", kernels=("diagonal_view", "pad_diagonal"))
def copy_diagonal(xp, x, *, offset):
    """A copy of the diagonal `offset` of a matrix."""
    return copied(xp, xp.diagonal_view(x, offset), "C")


@vjp(x=lambda xp, g, offset: xp.diagonal_view(g, offset))
@linear(node="DiagonalBackwardBackward0", kernels=("pad_diagonal", "diagonal_view"))
def pad_diagonal(xp, x, *, shape, offset):
    """Zeros of `shape` with the last axis of `x` on a diagonal of the last two axes."""
    return xp.pad_diagonal(x, shape, offset)


@vjp(x=lambda xp, g, offset, a, b: _diagonal(xp, g, offset, a, b))
@linear(node="DiagEmbedBackward0", kernels=("pad_diagonal", "diagonal_view"), order=row_major)
def embed_diagonal(xp, x, *, offset, a, b):
    """Zeros with the last axis of `x` on the diagonal `offset` of new axes `a` and `b`."""
    n = x.shape[-1] + abs(offset)
    shape = list(x.shape[:-1])
    for axis in sorted((a, b)):
        shape.insert(axis, n)
    return _undiagonal(xp, x, tuple(shape), offset, a, b)


# --- public ----------------------------------------------------------------------------------


def _check_matrix(name: str, x: Tensor) -> None:
    if x._array.ndim < 2:
        text = f"{name}: input tensor must have at least 2 dimensions"
        raise errors.runtime_error(text, "Give it a dimension first, with unsqueeze().")


@require_tensors
def tril(input: Tensor, diagonal: int = 0, *, out: Out = None) -> Any:
    """The lower triangle of matrices; zeros above `diagonal`.

    Shape: (..., m, n), and so the result.
    Raises: RuntimeError for fewer than two dimensions.

    >>> torch.ones(2, 3).tril()
    tensor([[1., 0., 0.],
            [1., 1., 0.]])
    """
    _check_matrix("tril", input)
    return finish("tril", lower_triangle(input, k=_within(diagonal, *input._array.shape[-2:])), out)


@require_tensors
def triu(input: Tensor, diagonal: int = 0, *, out: Out = None) -> Any:
    """The upper triangle of matrices; zeros below `diagonal`.

    Shape: (..., m, n), and so the result.
    Raises: RuntimeError for fewer than two dimensions.

    >>> torch.ones(2, 3).triu(1)
    tensor([[0., 1., 1.],
            [0., 0., 1.]])
    """
    _check_matrix("triu", input)
    return finish("triu", upper_triangle(input, k=_within(diagonal, *input._array.shape[-2:])), out)


def _two_axes(dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    a, b = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if a == b:
        text = f"diagonal dimensions cannot be identical {dim1}, {dim2}"
        raise errors.runtime_error(text, "A diagonal lies in a plane: name two dimensions.")
    return a, b


@require_tensors
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A view of the diagonal of two dimensions, as the last dimension.

    Shape: the input's without `dim1` and `dim2`, and the diagonal's length at the end.

    >>> torch.tensor([[1, 2], [3, 4]]).diagonal()
    tensor([1, 4])
    """
    a, b = _two_axes(dim1, dim2, input._array.ndim)
    offset = _within(offset, input._array.shape[a], input._array.shape[b])
    return diagonal_axes(input, offset=offset, a=a, b=b)


@require_tensors
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """A view of the diagonals of matrices: (..., m, n) to (..., k).

    Shape: (..., m, n) to (..., length of the diagonal).

    >>> torch.linalg.diagonal(torch.tensor([[1, 2], [3, 4]]), offset=1)
    tensor([2])
    """
    errors.need_tensor("linalg_diagonal", "A", 1, A)
    return diagonal(A, offset, dim1, dim2)


@require_tensors
def diag(input: Tensor, diagonal: int = 0, *, out: Out = None) -> Any:
    """The diagonal of a matrix, or a matrix with the vector `input` on a diagonal.

    Shape: (m, n) to (length of the diagonal,); (n,) to (n + |diagonal|, n + |diagonal|).
    Raises: RuntimeError for other than one or two dimensions.

    >>> torch.diag(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    ndim = input._array.ndim
    if ndim == 1:
        return finish("diag", diag_embed(input, diagonal), out)
    if ndim == 2:
        offset = _within(diagonal, *input._array.shape)
        return finish("diag", copy_diagonal(input, offset=offset), out)
    name = "diag(): " if out is None else ""
    text = f"{name}Supports 1D or 2D tensors. Got {ndim}D"
    raise errors.runtime_error(text, "diagonal() and diag_embed() take batches.")


@require_tensors
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with the last dimension of `input` on a diagonal.

    Shape: (..., n) to (..., m, m), m = n + |offset|, these two at `dim1` and `dim2`.

    >>> torch.diag_embed(torch.tensor([1, 2]), offset=1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """
    a, b = _two_axes(dim1, dim2, input._array.ndim + 1)
    return embed_diagonal(input, offset=offset, a=a, b=b)


@require_tensors
def diagflat(input: Tensor, offset: int = 0) -> Any:
    """A matrix with all elements of `input` on a diagonal.

    Shape: n elements to (m, m), with m = n + |offset|.

    >>> torch.diagflat(torch.tensor([[1], [2]]))
    tensor([[1, 0],
            [0, 2]])
    """
    return diag_embed(reshape(input, (-1,)), offset)


tril_, triu_ = in_place(tril, repeats="written"), in_place(triu, repeats="written")

__all__ = ["diag", "diag_embed", "diagflat", "diagonal", "tril", "triu"]
