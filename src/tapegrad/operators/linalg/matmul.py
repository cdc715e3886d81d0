"""Products of vectors and matrices."""

from math import prod

from tapegrad.autograd.node import version_of
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending, two_operands
from tapegrad.core.dtype import bool_
from tapegrad.core.shape import broadcast, existing_axis
from tapegrad.core.torch_function import overridden
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import IN_USE, lowered
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.dispatch.out import check_no_graph
from tapegrad.operators.dtype_check import BOOL, lacks, no_kernel, unless_empty
from tapegrad.operators.linalg import matmul_check
from tapegrad.operators.linalg.decomposition import transposed as _t
from tapegrad.operators.linalg.dot_vdot import dot
from tapegrad.operators.shape.permute_transpose_movedim_swapaxes import transpose_matrix
from tapegrad.operators.shape.reshape_flatten_atleast import unsafe_view
from tapegrad.operators.shape.squeeze_unsqueeze import squeeze_fresh

__all__ = ["bmm", "matmul", "mm", "mv"]


def second_factor(xp: Namespace, g: Array, a: Array, flipped: bool) -> Any:
    """The cotangent of b in a @ b, in the memory order of b, so that it adds up without a copy."""
    return _t(xp, xp.matmul(_t(xp, g), a)) if flipped else xp.matmul(_t(xp, a), g)


def is_flipped(x: Tensor) -> bool:
    """Whether a matrix is stored column by column, like the transpose of an ordinary one."""
    array = x._array
    flags = getattr(array, "flags", None)
    if flags is None or not flags.f_contiguous:
        return False
    # of a single column, or row, the steps tell
    return not flags.c_contiguous or array.strides[1] == array.shape[0] * array.strides[0]


@jvp(a=lambda xp, t, b: xp.matmul(t, b), b=lambda xp, t, a: xp.matmul(a, t))
@vjp(a=lambda xp, g, b: xp.matmul(g, _t(xp, b)), b=second_factor)
@primitive(node="MmBackward0", check=unless_empty(lacks("addmm_impl_cpu_", BOOL)))
def matrix_product(xp, a, b, *, flipped):
    """The product of two matrices; `flipped` says that b is stored column by column."""
    return xp.matmul(a, b)


@jvp(a=lambda xp, t, b: xp.matmul(t, b), b=lambda xp, t, a: xp.matmul(a, t))
@vjp(a=lambda xp, g, b: xp.expand_dims(g, axis=1) * b, b=lambda xp, g, a: xp.matmul(_t(xp, a), g))
@primitive(node="MvBackward0", check=unless_empty(lacks("addmv_impl_cpu", BOOL)))
def matrix_vector(xp, a, b):
    """The product of a matrix and a vector."""
    return xp.matmul(a, b)


@jvp(a=lambda xp, t, b: xp.matmul(t, b), b=lambda xp, t, a: xp.matmul(a, t))
@vjp(
    a=lambda xp, g, a_like, b: sum_to_shape(xp, xp.matmul(g, _t(xp, b)), a_like.shape),
    b=lambda xp, g, a, b_like: sum_to_shape(xp, xp.matmul(_t(xp, a), g), b_like.shape),
)
@primitive(node="UnsafeViewBackward0", check=unless_empty(lacks("bmm", BOOL)))
def batched_product(xp, a, b):
    """The products of matrices, the leading dimensions broadcast."""
    return xp.matmul(a, b)


@jvp(a=lambda xp, t, b: xp.matmul(t, b), b=lambda xp, t, a: xp.matmul(a, t))
@vjp(a=lambda xp, g, b: xp.matmul(g, _t(xp, b)), b=lambda xp, g, a: xp.matmul(_t(xp, a), g))
@primitive(node="BmmBackward0", check=unless_empty(lacks("bmm", BOOL)))
def batch_of_products(xp, a, b):
    """The products of the matrices of two batches."""
    return xp.matmul(a, b)


# --- what a double backward records: the operators that PyTorch's does ---


def first_slope(xp: Namespace, g: Array, b: Array) -> Any:
    """The cotangent of the first of two matrices."""
    return matrix_product(g, transpose_matrix(b), flipped=False)


def second_slope(xp: Namespace, g: Array, a: Array, flipped: bool) -> Any:
    """The cotangent of the second of two matrices."""
    if flipped:
        return transpose_matrix(matrix_product(transpose_matrix(g), a, flipped=False))
    return matrix_product(transpose_matrix(a), g, flipped=False)


def first_slopes(xp: Namespace, g: Array, b: Array) -> Any:
    """The cotangent of the first of two batches of matrices."""
    return batch_of_products(g, xp.matrix_transpose(b))


def second_slopes(xp: Namespace, g: Array, a: Array) -> Any:
    """The cotangent of the second of two batches of matrices."""
    return batch_of_products(xp.matrix_transpose(a), g)


matrix_product.recorded(a=first_slope, b=second_slope)
matrix_vector.recorded(
    a=lambda xp, g, b: xp.reshape(g, (g.shape[0], 1)) * b,
    b=lambda xp, g, a: matrix_vector(transpose_matrix(a), g),
)
batch_of_products.recorded(a=first_slopes, b=second_slopes)


# --- the public functions ---


@two_operands()
def mm(input: Tensor, mat2: Any, *, out: Out = None) -> Any:
    """The product of two matrices.

    Shapes: (n, k) and (k, m) to (n, m).
    Raises: RuntimeError where dtypes or sizes do not fit.

    >>> torch.mm(torch.ones(2, 3), torch.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    if IN_USE and out is None:
        input, mat2 = lowered(input, mat2)
    try:
        matmul_check.check_matrices(input, mat2)
    except AttributeError:
        errors.need_tensors("mm", input=input, mat2=mat2)
        raise
    return finish("mm", matrix_product(input, mat2, flipped=is_flipped(mat2)), out)


@two_operands()
def mv(input: Tensor, vec: Any, *, out: Out = None) -> Any:
    """The product of a matrix and a vector.

    Shapes: (n, k) and (k,) to (n,).
    Raises: RuntimeError where dtypes or sizes do not fit.

    >>> torch.mv(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    try:
        x, v = input._array, vec._array
    except AttributeError:
        errors.need_tensors("mv", input=input, vec=vec)
        raise
    if x.ndim != 2 or v.ndim != 1:
        existing_axis(0, x.ndim, "mv() takes a matrix and a vector.")
        text = f"vector + matrix @ vector expected, got 1, {x.ndim}, {v.ndim}"
        raise errors.runtime_error(text, "mv() takes a matrix and a vector.")
    if x.shape[1] != v.shape[0]:
        raise errors.runtime_error(
            f"size mismatch, got input ({x.shape[0]}), mat ({x.shape[0]}x{x.shape[1]}), "
            f"vec ({v.shape[0]})",
            f"The vector must have as many elements as the matrix has columns ({x.shape[1]}).",
        )
    if x.dtype != v.dtype:
        names = [t.dtype.scalar_name for t in (vec, input, vec)]
        raise errors.runtime_error(
            "addmv input tensors must have the same dtype, but got "
            f"{names[0]}, {names[1]}, and {names[2]}",
            f"Convert one of them: .to({input.dtype}).",
        )
    return finish("mv", matrix_vector(input, vec), out)


@two_operands()
def bmm(input: Tensor, mat2: Any, *, out: Out = None) -> Any:
    """The products of two batches of matrices.

    Shapes: (b, n, k) and (b, k, m) to (b, n, m).
    Raises: RuntimeError where dtypes or sizes do not fit.

    >>> torch.bmm(torch.ones(5, 2, 3), torch.ones(5, 3, 4)).shape
    torch.Size([5, 2, 4])
    """
    if IN_USE and out is None:
        input, mat2 = lowered(input, mat2)
    try:
        x, y = input._array, mat2._array
    except AttributeError:
        errors.need_tensors("bmm", input=input, mat2=mat2)
        raise
    matmul_check.check_batches(x, y)
    if x.dtype != y.dtype:
        if input.dtype is bool_ and x.size and y.size:
            raise no_kernel("bmm", bool_)
        raise matmul_check.dtype_mismatch(input, mat2)
    return finish("bmm", batch_of_products(input, mat2), out)


@mending
def matmul(input: Any = MISSING, other: Any = MISSING, *, out: Out = None, **names: Any) -> Any:
    """The matrix product, the leading dimensions broadcast; a vector is a row or a column.

    Shapes: (..., n, k) and (..., k, m) to (..., n, m).
    Raises: RuntimeError for 0-d tensors, or where the sizes do not fit.

    >>> torch.matmul(torch.ones(7, 2, 3), torch.ones(3, 4)).shape
    torch.Size([7, 2, 4])
    """
    if names:
        given = names if out is None else names | {"out": out}
        return mended(matmul, None, (input, other), given)
    try:
        if IN_USE and out is None:
            input, other = lowered(input, other)
        n, m = input._array.ndim, other._array.ndim
    except AttributeError:
        again = overridden(matmul, (input, other), {} if out is None else {"out": out})
        if again is not None:
            return again()
        if other is MISSING:
            return mended(matmul, None, (input,), {})
        errors.need_tensors("matmul", input=input, other=other)
        raise
    if out is not None:
        check_no_graph("matmul", out, input, other)
    if n == 2 and m == 2:
        result = mm(input, other)
    elif n == 0 or m == 0:
        text = f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D"
        raise errors.runtime_error(text, "Use * for a product with a number.")
    elif n == 1 and m == 1:
        result = dot(input, other)
    elif n == 2 and m == 1:
        result = mv(input, other)
    elif n == 1 and m == 2:
        result = squeeze_fresh(mm(input.unsqueeze(0), other), axis=0)
        version_of(result).value += 1  # written once, as by PyTorch's squeeze_
    elif m <= 2:
        result = _folded(input, other)
    else:
        result = _broadcast_product(input, other)
    return finish("matmul", result, out)


def _folded(input: Tensor, other: Tensor) -> Any:
    """A batch times one matrix or vector: one large product instead of many small ones."""
    shape = input._array.shape
    rows = input.reshape(-1, shape[-1]) if input._array.size else None
    if rows is None:
        return _broadcast_product(input, other)
    try:
        if other._array.ndim == 1:
            return unsafe_view(mv(rows, other), shape=shape[:-1])
        return unsafe_view(mm(rows, other), shape=(*shape[:-1], other._array.shape[1]))
    except RuntimeError:
        _refuse(input, other)
        raise


def _broadcast_product(input: Tensor, other: Tensor) -> Any:
    a, b = input._array, other._array
    if a.dtype != b.dtype or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        _refuse(input, other)
    row, column = a.ndim == 1, b.ndim == 1
    if row:
        input = input.unsqueeze(0)
    if column:
        other = other.unsqueeze(1)
    try:
        result = batched_product(input, other)
    except ValueError:
        raise errors.broadcast(a.shape[:-2], b.shape[:-2]) from None
    if row or column:
        shape = result._array.shape
        result = unsafe_view(result, shape=(*shape[:-2], shape[-1 if row else -2]))
    return result


def _refuse(input: Tensor, other: Tensor) -> None:
    """Raise where factors do not fit, in the words of the product that PyTorch would form."""
    a, b = input.detach(), other.detach()
    n, m = a._array.ndim, b._array.ndim
    large, small, asked = (a, b, other) if n >= m else (b.mT, a, input)
    if n == 2 and m > 2 and not asked.requires_grad:
        folds = False
    else:
        folds = small.ndim <= 2 and (asked.requires_grad or _lies_as_rows(large))
    if folds:
        rows = large.reshape(-1, large.shape[-1])
        if small.ndim == 1:
            mv(rows, small)
        else:
            mm(rows, small if n >= m else small.t())
        return
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    left = a.new_zeros(()).expand(prod(batch), a.shape[-2] if n > 1 else 1, a.shape[-1])
    columns = b.shape[-1] if m > 1 else 1
    bmm(left, b.new_zeros(()).expand(prod(batch), b.shape[-2 if m > 1 else 0], columns))


def _lies_as_rows(x: Tensor) -> bool:
    """Whether a batch of matrices is one matrix of all their rows, as it lies in memory."""
    shape, strides = x.shape, x.stride()
    return not x.numel() or all(
        strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2)
    )
