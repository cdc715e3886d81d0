"""A product added to a tensor: beta * input + alpha * (a @ b), and `linear`."""

from tapegrad.arrays.namespaces import is_batched
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.autograd.writable import cannot_cast, check_writable
from tapegrad.core import errors
from tapegrad.core.annotations import (
    Any,
    Array,
    Callable,
    Namespace,
    OperatorLike,
    Out,
    Scalar,
    Tensor,
)
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import default, default_complex
from tapegrad.core.promote_types import promote
from tapegrad.core.result_order import in_operands_order
from tapegrad.core.scalar import fitted
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import IN_USE, autocast, lowered, without_autocast
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import primitive, vjp
from tapegrad.operators.dtype_check import BOOL, FLOATING, lacks, no_kernel
from tapegrad.operators.linalg.inner_outer import outer
from tapegrad.operators.linalg.matmul import (
    first_slope,
    first_slopes,
    is_flipped,
    second_factor,
    second_slope,
    second_slopes,
)
from tapegrad.operators.linalg.matmul_check import (
    check_batches,
    check_matrices,
    dtype_mismatch,
    unequal_dtypes,
)

__torch__ = "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_"


def _scaled(x: Tensor, factor: Any) -> Any:
    return x if factor == 1 else factor * x


def _slopes(product: Callable, a_slope: Callable, b_slope: Callable) -> Callable:
    """The rules of `beta * input + alpha * product(a, b)`, from the two of the product."""

    def declare(operator: OperatorLike) -> Any:
        operator.vjp(
            input=lambda xp, g, input_like, beta: _scaled(
                sum_to_shape(xp, g, input_like.shape), beta
            ),
            a=lambda xp, g, b, alpha: _scaled(a_slope(xp, g, b), alpha),
            b=lambda xp, g, a, alpha: _scaled(b_slope(xp, g, a), alpha),
        )
        operator.jvp(
            input=lambda xp, t, y, beta: _scaled(xp.broadcast_to(t, y.shape), beta),
            a=lambda xp, t, b, alpha: _scaled(product(xp, t, b), alpha),
            b=lambda xp, t, a, alpha: _scaled(product(xp, a, t), alpha),
        )
        return operator

    return declare


def _sum(xp: Namespace, input: Any, product: Any, beta: Scalar, alpha: Scalar) -> Any:
    """beta * input + alpha * product; with beta 0 the input's values, nan included, are ignored."""
    y = product if alpha == 1 else alpha * product
    term = input
    if beta != 1:
        if beta == 0:  # of each sample where the input is, as its gradient will be
            return y + xp.zeros_like(input) if is_batched(input) else y
        term = beta * input
    if is_batched(term):  # may have more elements than the product of what is not
        return y + term
    y += term  # in the memory of the product, where arrays can be written to
    return y


def _sum_of_blas(xp: Namespace, input: Any, product: Any, beta: Scalar, alpha: Scalar) -> Any:
    """The same, where alpha 0 leaves the product out, nan included, as the BLAS does."""
    if alpha == beta == 1 and not is_batched(input):
        product += input
        return product
    if alpha == 0:
        product = xp.zeros_like(product)
    return _sum(xp, input, product, beta, alpha)


def _product(xp: Namespace, a: Array, b: Array) -> Any:
    return xp.matmul(a, b)


def _first_slope(xp: Namespace, g: Array, b: Array) -> Any:
    return xp.matmul(g, xp.matrix_transpose(b))


def _second_slope(xp: Namespace, g: Array, a: Array) -> Any:
    return xp.matmul(xp.matrix_transpose(a), g)


@vjp(b=lambda xp, g, a, alpha, flipped: _scaled(second_factor(xp, g, a, flipped), alpha))
@_slopes(_product, _first_slope, _second_slope)
@primitive(node="AddmmBackward0", check=lacks("addmm_impl_cpu_", BOOL))
def add_matrix_product(xp, input, a, b, *, beta, alpha, flipped):
    """beta * input + alpha * (a @ b); `flipped` says that b is stored column by column."""
    if xp is numpy_namespace and alpha == beta == 1:
        return xp.add_product(input, a, b)
    return _sum_of_blas(xp, input, xp.matmul(a, b), beta, alpha)


add_matrix_product.recorded(
    a=lambda xp, g, b, alpha: _scaled(first_slope(xp, g, b), alpha),
    b=lambda xp, g, a, alpha, flipped: _scaled(second_slope(xp, g, a, flipped), alpha),
)


@_slopes(_product, _first_slope, _second_slope)
@primitive(node="BaddbmmBackward0", check=lacks("baddbmm", BOOL))
def add_products(xp, input, a, b, *, beta, alpha):
    """beta * input + alpha * (a @ b), for each matrix of a batch."""
    return _sum(xp, input, xp.matmul(a, b), beta, alpha)


add_products.recorded(
    a=lambda xp, g, b, alpha: _scaled(first_slopes(xp, g, b), alpha),
    b=lambda xp, g, a, alpha: _scaled(second_slopes(xp, g, a), alpha),
)


def _sum_of_products(xp: Namespace, a: Array, b: Array) -> Any:
    return xp.sum(xp.matmul(a, b), axis=0)


@_slopes(_sum_of_products, _first_slope, _second_slope)
@primitive(node="AddbmmBackward0", check=lacks("addmm_impl_cpu_", BOOL))
def add_sum_of_products(xp, input, a, b, *, beta, alpha):
    """beta * input + alpha * the sum of a @ b over the matrices of a batch."""
    total = _sum_of_products(xp, a, b)
    total = total if total.dtype == a.dtype else xp.astype(total, a.dtype)
    return _sum_of_blas(xp, input, total, beta, alpha)


@_slopes(_product, lambda xp, g, b: g[:, None] * b, _second_slope)
@primitive(node="AddmvBackward0", check=lacks("addmv_impl_cpu", BOOL))
def add_matrix_vector(xp, input, a, b, *, beta, alpha):
    """beta * input + alpha * (a @ b) for a matrix a and a vector b."""
    return _sum_of_blas(xp, input, xp.matmul(a, b), beta, alpha)


def _order_of_input(result: Any, operands: list, params: dict) -> Any:
    """That of the sum: the input's, where it is a matrix."""
    return in_operands_order(result, operands[:1])


@_slopes(lambda xp, a, b: a[:, None] * b, _product, lambda xp, g, a: xp.matmul(a, g))
@primitive(node="AddrBackward0", order=_order_of_input)
def add_outer(xp, input, a, b, *, beta, alpha):
    """beta * input + alpha * the products of all pairs of elements of two vectors."""
    return _sum(xp, input, a[:, None] * b, beta, alpha)


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
        _check_dtypes("self", input, mat2)
        check_matrices(mat1, mat2, "mat1")
    except AttributeError:
        errors.need_tensors("addmm", input=input, mat1=mat1, mat2=mat2)
        raise
    shape = mat1._array.shape[0], mat2._array.shape[1]
    _check_expands(input, shape)
    if type(alpha) not in _PLAIN or type(beta) not in _PLAIN or mat2._array.dtype.kind in "iu":
        beta, alpha = _factors(mat1, mat2, beta, alpha, shape)
    elif not mat2._array.size:
        alpha = 0
    result = add_matrix_product(input, mat1, mat2, beta=beta, alpha=alpha, flipped=is_flipped(mat2))
    return finish("addmm", result, out, input)


def _check_dtypes(name: str, x: Tensor, mat2: Tensor) -> None:
    if x._array.dtype != mat2._array.dtype:
        advice = f"Convert one of them: .to({mat2.dtype})."
        raise unequal_dtypes(f"{name} and mat2", x, mat2, advice)


def _check_expands(input: Tensor, target: tuple[int, ...]) -> None:
    shape = input._array.shape
    if shape != target:
        advice = "The added tensor must broadcast to the product's shape."
        errors.check_expand(shape, target, advice, input.dtype)


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
    n, k = mat._array.shape
    if vec._array.shape[0] != k:
        raise errors.runtime_error(
            f"size mismatch, got input ({n}), mat ({n}x{k}), vec ({vec._array.shape[0]})",
            f"The vector must have as many elements as the matrix has columns ({k}).",
        )
    if not input.dtype is mat.dtype is vec.dtype:
        names = [x.dtype.scalar_name for x in (input, mat, vec)]
        raise errors.runtime_error(
            "addmv input tensors must have the same dtype, but got {}, {}, and {}".format(*names),
            f"Convert the others: .to({mat.dtype}).",
        )
    _check_expands(input, (n,))
    result = _added(add_matrix_vector, input, mat, vec, beta, alpha, (n,))
    return finish("addmv", result, out, input)


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
    _check_vectors(vec1, vec2)
    dtype = promote([x._array for x in (input, vec1, vec2)])
    for name, factor in (("beta", beta), ("alpha", alpha)):
        _check_factor(name, factor, dtype)
    shape = vec1._array.shape[0], vec2._array.shape[0]
    _check_expands(input, shape)
    x, a, b = [x if x.dtype is dtype else x.to(dtype) for x in (input, vec1, vec2)]
    return finish("addr", _added(add_outer, x, a, b, beta, alpha, shape), out, x, a, b)


def _check_vectors(vec1: Tensor, vec2: Tensor) -> None:
    for name, x in (("vec1", vec1), ("vec2", vec2)):
        if x.ndim != 1:
            text = f"addr: Expected 1-D argument {name}, but got {x.ndim}-D"
            raise errors.runtime_error(text, "Flatten it first.")


def _check_matrix(input: Tensor, vec1: Any, vec2: Any, **options: Any) -> None:
    """Raise, in the words of `addr_`, where the tensor is not as large as the product."""
    check_writable(input)
    _check_vectors(vec1, vec2)
    shape, advice = input._array.shape, "Out of place, addr() repeats its input."
    if len(shape) != 2:
        raise errors.runtime_error(
            f"2D tensor expected, got {len(shape)}D tensor for input", advice
        )
    n, m = list(vec1._array.shape), list(vec2._array.shape)
    if list(shape) != n + m:
        text = f"size mismatch, input: {list(shape)}, v1: {n}, v2: {m}"
        raise errors.runtime_error(text, advice)


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
    shape = batch1.size(0), batch1.size(1), batch2.size(2)
    _check_expands(input, shape)
    if input.dtype is not batch1.dtype:
        names = [errors.c_name(x.dtype) for x in (input, batch1, batch2)]
        raise errors.runtime_error(
            "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}".format(*names),
            f"Convert the others: .to({batch1.dtype}).",
        )
    check_batches(batch1._array, batch2._array)
    if batch1.dtype is not batch2.dtype:
        if batch1.dtype.category == BOOL:
            raise no_kernel("baddbmm", batch1.dtype)
        raise dtype_mismatch(batch1, batch2)
    result = _added(add_products, input, batch1, batch2, beta, alpha, shape)
    return finish("baddbmm", result, out, input)


@autocast
def addbmm(
    input: Tensor, batch1: Any, batch2: Any, *, beta: Scalar = 1, alpha: Scalar = 1, out: Out = None
) -> Any:
    """beta * input + alpha * the sum over b of batch1[b] @ batch2[b].

    Shapes: batch1 (b, n, k), batch2 (b, k, m), the result (n, m); input broadcasts.

    >>> torch.addbmm(torch.ones(2, 4), torch.ones(5, 2, 3), torch.ones(5, 3, 4)).shape
    torch.Size([2, 4])
    """
    shape = batch1.size(1), batch2.size(2)
    _check_expands(input, shape)
    _check_sum_of_products(batch1, batch2)
    _check_dtypes("self", input, batch2)
    _check_dtypes("mat1", batch1, batch2)
    result = _added(add_sum_of_products, input, batch1, batch2, beta, alpha, shape)
    return finish("addbmm", result, out, input)


def _check_sum_of_products(batch1: Tensor, batch2: Tensor) -> None:
    a, b = batch1._array.shape, batch2._array.shape
    for name, shape in (("batch1", a), ("batch2", b)):
        if len(shape) != 3:
            advice = f"Its shape is {list(shape)}: matmul() takes any number of dimensions."
            raise errors.runtime_error(f"{name} must be a 3D tensor", advice)
    if a[0] != b[0]:
        raise errors.runtime_error(
            f"batch1 and batch2 must have same number of batches, got {a[0]} and {b[0]}",
            f"Shapes are {list(a)} and {list(b)}.",
        )
    if a[2] != b[1]:
        raise errors.runtime_error(
            f"Incompatible matrix sizes for bmm ({a[1]}x{a[2]} and {b[1]}x{b[2]})",
            f"Shapes are {list(a)} and {list(b)}.",
        )


def _factors(a: Tensor, b: Tensor, beta: Scalar, alpha: Scalar, shape: tuple) -> tuple[Any, Any]:
    """`beta` and `alpha` as numbers of the dtype, of which a product without terms needs none."""
    dtype = a.dtype
    if a._array.size and b._array.size:
        return fitted(beta, dtype), fitted(alpha, dtype)
    if 0 in shape:
        return 1, 0
    if dtype.category < FLOATING and isinstance(beta, (float, complex)):
        made = default() if isinstance(beta, float) else default_complex()
        raise cannot_cast(made, dtype, "Convert the tensors to a floating-point type first.")
    return fitted(beta, dtype), 0


def _added(
    operator: OperatorLike,
    input: Tensor,
    a: Tensor,
    b: Tensor,
    beta: Scalar,
    alpha: Scalar,
    shape: tuple[int, ...],
) -> Any:
    """beta * input + alpha * the product that `operator` knows, with factors that fit the dtype."""
    dtype = a.dtype
    if type(alpha) not in _PLAIN or type(beta) not in _PLAIN or dtype.category < 2:
        beta, alpha = _factors(a, b, beta, alpha, shape)
        if dtype.category == BOOL and operator is add_outer:
            return (input & beta) | (outer(a, b) & alpha)
    elif not b._array.size:
        alpha = 0
    return operator(input, a, b, beta=beta, alpha=alpha)


addmm_, addmv_, addr_ = (
    in_place(without_autocast(addmm), apart=None),
    in_place(addmv, apart=None),
    in_place(addr, first=_check_matrix),
)
addbmm_, baddbmm_ = (
    in_place(without_autocast(addbmm)),
    in_place(without_autocast(baddbmm), apart=None),
)
