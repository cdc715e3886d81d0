"""A product added to a tensor: beta * input + alpha * (a @ b), and `linear`."""

from tapegrad.arrays.namespaces import is_batched
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.promote_types import promote
from tapegrad.core.scalar import fitted
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import IN_USE, autocast, lowered, without_autocast
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import BOOL, lacks
from tapegrad.operators.linalg.inner_outer import outer
from tapegrad.operators.linalg.matmul import bmm, is_flipped, mm, mv, second_factor
from tapegrad.operators.linalg.matmul_check import check_batches, check_matrices, unequal_dtypes

__all__ = [
    "addbmm", "addbmm_", "addmm", "addmm_", "addmv", "addmv_", "addr", "addr_", "baddbmm",
    "baddbmm_",
]  # fmt: skip


def _scaled(x: Tensor, factor: Any) -> Any:
    return x if factor == 1 else factor * x


@jvp(
    input=lambda xp, t, y, beta: _scaled(xp.broadcast_to(t, y.shape), beta),
    a=lambda xp, t, b, alpha: _scaled(xp.matmul(t, b), alpha),
    b=lambda xp, t, a, alpha: _scaled(xp.matmul(a, t), alpha),
)
@vjp(
    input=lambda xp, g, input_like, beta: _scaled(sum_to_shape(xp, g, input_like.shape), beta),
    a=lambda xp, g, b, alpha: _scaled(xp.matmul(g, xp.matrix_transpose(b)), alpha),
    b=lambda xp, g, a, alpha, flipped: _scaled(second_factor(xp, g, a, flipped), alpha),
)
@primitive(node="AddmmBackward0", check=lacks("addmm_impl_cpu_", BOOL))
def add_matrix_product(xp, input, a, b, *, beta, alpha, flipped):
    """beta * input + alpha * (a @ b); `flipped` says that b is stored column by column."""
    y = _scaled(xp.matmul(a, b), alpha)
    term = _scaled(input, beta)
    if is_batched(term):  # may have more elements than the product of what is not
        return y + term
    y += term  # in the memory of the product, where arrays can be written to
    return y


_PLAIN = (int, float)  # types of factors that fit as they are


@require_tensors
def addmm(
    input: Tensor, mat1: Any, mat2: Any, *, beta: Scalar = 1, alpha: Scalar = 1, out: Out = None
) -> Any:
    """beta * input + alpha * (mat1 @ mat2) for matrices; `input` broadcasts.

    Shapes: mat1 (n, k), mat2 (k, m), the result (n, m).

    >>> torch.addmm(torch.ones(2), torch.ones(2, 3), torch.ones(3, 2))
    tensor([[4., 4.],
            [4., 4.]])
    """
    if IN_USE and out is None:
        input, mat1, mat2 = lowered(input, mat1, mat2)
    try:
        if input._array.dtype != mat2._array.dtype:
            advice = f"Convert one of them: .to({mat2.dtype})."
            raise unequal_dtypes("self and mat2", input, mat2, advice)
        check_matrices(mat1, mat2, "mat1")
    except AttributeError:
        errors.need_tensors("addmm", input=input, mat1=mat1, mat2=mat2)
        raise
    _check_expands(input, (mat1._array.shape[0], mat2._array.shape[1]))
    if type(alpha) not in _PLAIN or type(beta) not in _PLAIN or mat2._array.dtype.kind in "iu":
        beta, alpha = fitted(beta, mat2.dtype), fitted(alpha, mat2.dtype)
    if beta == 0:  # what is in `input`, nan and inf included, does not matter
        return finish("addmm", mm(mat1, mat2) * alpha, out)
    result = add_matrix_product(input, mat1, mat2, beta=beta, alpha=alpha, flipped=is_flipped(mat2))
    return finish("addmm", result, out)


def _check_expands(input: Tensor, target: tuple[int, ...]) -> None:
    shape = input._array.shape
    if shape != target:
        advice = "The added tensor must broadcast to the product's shape."
        errors.check_expand(shape, target, advice, input.dtype.scalar_name)


@require_tensors
def addmv(
    input: Tensor, mat: Any, vec: Any, *, beta: Scalar = 1, alpha: Scalar = 1, out: Out = None
) -> Any:
    """beta * input + alpha * (mat @ vec).

    Shapes: mat (n, k), vec (k), the result (n); input broadcasts.

    >>> torch.addmv(torch.ones(2), torch.ones(2, 3), torch.ones(3))
    tensor([4., 4.])
    """
    dims = input.ndim, mat.ndim, vec.ndim
    if dims[0] > 1 or dims[1:] != (2, 1):
        raise errors.runtime_error(
            "vector + matrix @ vector expected, got {}, {}, {}".format(*dims),
            "The numbers of dimensions must be 1 (or 0), 2 and 1.",
        )
    return finish("addmv", _sum(input, mv(mat, vec), beta, alpha), out)


@require_tensors
def addr(
    input: Tensor, vec1: Any, vec2: Any, *, beta: Scalar = 1, alpha: Scalar = 1, out: Out = None
) -> Any:
    """beta * input + alpha * outer(vec1, vec2).

    Shapes: vec1 (n), vec2 (m), the result (n, m); input broadcasts.

    >>> torch.addr(torch.zeros(2, 2), torch.ones(2), torch.ones(2))
    tensor([[1., 1.],
            [1., 1.]])
    """
    for name, x in (("vec1", vec1), ("vec2", vec2)):
        if x.ndim != 1:
            text = f"addr: Expected 1-D argument {name}, but got {x.ndim}-D"
            raise errors.runtime_error(text, "Flatten it first.")
    dtype = promote([x._array for x in (input, vec1, vec2)])
    for name, factor in (("beta", beta), ("alpha", alpha)):
        _check_factor(name, factor, dtype)
    product = outer(vec1, vec2)  # of bytes it would wrap around where the result need not
    if product.dtype is not dtype:
        product = outer(vec1.to(dtype), vec2.to(dtype))
    return finish("addr", _sum(input, product, beta, alpha), out)


def _check_factor(name: str, factor: Scalar, dtype: Any) -> None:
    if isinstance(factor, bool) and dtype.category != BOOL:
        text = f"Boolean {name} only supported for Boolean results."
        raise errors.runtime_error(text, "Pass a number.")
    if isinstance(factor, (float, complex)) and dtype.category < 2:
        text = f"For integral input tensors, argument {name} must not be a floating point number."
        advice = "Pass an integer, or convert the tensors to a floating-point type first."
        raise errors.runtime_error(text, advice)


@autocast
def baddbmm(
    input: Tensor, batch1: Any, batch2: Any, *, beta: Scalar = 1, alpha: Scalar = 1, out: Out = None
) -> Any:
    """beta * input + alpha * bmm(batch1, batch2).

    Shapes: batch1 (b, n, k), batch2 (b, k, m), the result (b, n, m); input broadcasts.

    >>> torch.baddbmm(torch.ones(1), torch.ones(5, 2, 3), torch.ones(5, 3, 4)).shape
    torch.Size([5, 2, 4])
    """
    return finish("baddbmm", _sum(input, bmm(batch1, batch2), beta, alpha), out)


@autocast
def addbmm(
    input: Tensor, batch1: Any, batch2: Any, *, beta: Scalar = 1, alpha: Scalar = 1, out: Out = None
) -> Any:
    """beta * input + alpha * the sum over b of batch1[b] @ batch2[b].

    Shapes: batch1 (b, n, k), batch2 (b, k, m), the result (n, m); input broadcasts.

    >>> torch.addbmm(torch.ones(2, 4), torch.ones(5, 2, 3), torch.ones(5, 3, 4)).shape
    torch.Size([2, 4])
    """
    check_batches(batch1._array, batch2._array)
    return finish(
        "addbmm", _sum(input, bmm(batch1, batch2).sum(0, dtype=batch1.dtype), beta, alpha), out
    )


def _sum(input: Tensor, product: Any, beta: Scalar, alpha: Scalar) -> Any:
    """beta * input + alpha * product; with beta 0 the input's values, nan included, are ignored."""
    _check_expands(input, product._array.shape)
    dtype = product.dtype
    if type(alpha) not in _PLAIN or type(beta) not in _PLAIN or dtype.category < 2:
        beta, alpha = fitted(beta, dtype), fitted(alpha, dtype)
        if dtype.category == BOOL:
            return (input & beta) | (product & alpha)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return (input if beta == 1 else input * beta) + product


addmm_, addmv_, addr_ = in_place(without_autocast(addmm)), in_place(addmv), in_place(addr)
addbmm_, baddbmm_ = in_place(without_autocast(addbmm)), in_place(without_autocast(baddbmm))
