"""Systems of linear equations."""

from math import prod

from tapegrad import return_types
from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.arrays.linalg_errors import singular_system
from tapegrad.arrays.namespaces import elements
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import column_by_column
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import primitive
from tapegrad.operators.linalg import matrix_check
from tapegrad.operators.linalg.decomposition import transposed as _t


def _order(results: tuple, operands: list, params: dict) -> tuple:
    """As computed, column by column; a batch of vectors like a matrix of them, as in PyTorch."""
    return (column_by_column(results[0]), *results[1:]) if params["vectors"] else results


@primitive(
    node="LinalgSolveExBackward0",
    outputs=("result", "info", "lu", "pivots"),
    nondiff=("info", "lu", "pivots"),
    kernels=("solve_systems", "solve_again"),
    order=_order,
)
def linear_system(xp, a, b, *, left, vectors):
    """X with A X = B, or X A = B, and for each A the pivot (from 1) that is zero, or 0.

    `vectors`: b is a batch of vectors. LU and its pivots are the factors of A, or of A^T where
    X A = B is solved.
    """
    if not left:
        x, *rest = xp.solve_systems(_t(xp, a), _t(xp, b))
        return _t(xp, x), *rest
    x, *rest = xp.solve_systems(a, _columns(xp, b, vectors))
    return _vectors(xp, x, vectors), *rest


def _columns(xp: Namespace, x: Array, vectors: bool) -> Any:
    return xp.expand_dims(x, axis=-1) if vectors else x


def _vectors(xp: Namespace, x: Array, vectors: bool) -> Any:
    return xp.squeeze(x, axis=-1) if vectors else x


def _solved(xp: Namespace, factors: Any, b: Array, left: bool, turned: bool) -> Any:
    """X with A X = B or X A = B for matrices, or with A^T for A; `factors` are A, LU, pivots."""
    a, lu, pivots = factors
    if left:
        return xp.solve_again(a, lu, pivots, b, turned)
    return _t(xp, xp.solve_again(_t(xp, a), lu, pivots, _t(xp, b), turned))


def system_gradient(xp: Namespace, g_b: Any, x: Array, left: bool) -> Any:
    """The cotangent of A in A X = B or X A = B, from that of B."""
    return -(xp.matmul(g_b, _t(xp, x)) if left else xp.matmul(_t(xp, x), g_b))


def _vjp_a(xp, g, a, lu, pivots, result, left, vectors):
    g_b = _solved(xp, (a, lu, pivots), _columns(xp, g, vectors), left, True)
    found = system_gradient(xp, g_b, _columns(xp, result, vectors), left)
    return sum_to_shape(xp, found, a.shape)


def _vjp_b(xp, g, a, lu, pivots, b_like, left, vectors):
    found = _solved(xp, (a, lu, pivots), _columns(xp, g, vectors), left, True)
    return sum_to_shape(xp, _vectors(xp, found, vectors), b_like.shape)


def _jvp_a(xp, t, a, lu, pivots, result, left, vectors):
    x = _columns(xp, result, vectors)
    change = xp.matmul(t, x) if left else xp.matmul(x, t)
    return _vectors(xp, -_solved(xp, (a, lu, pivots), change, left, False), vectors)


def _jvp_b(xp, t, a, lu, pivots, left, vectors):
    found = _solved(xp, (a, lu, pivots), _columns(xp, t, vectors), left, False)
    return _vectors(xp, found, vectors)


linear_system.vjp(a=_vjp_a, b=_vjp_b)
linear_system.jvp(a=_jvp_a, b=_jvp_b)


@tensor_kernel
def solution(a: Tensor, b: Tensor) -> Any:
    """X with A X = B for matrices; an error for singular A. For the Tensor namespace."""
    result, info, _, _ = linear_system(a, b, left=True, vectors=False)
    if elements(info._array).any():
        raise singular_system("torch.linalg.solve", elements(info._array))
    return result


@tensor_kernel
def solve_again(a: Tensor, lu: Any, pivots: Any, b: Tensor, turned: bool) -> Any:
    """X with A X = B, or A^T X = B: the factors have no history. For the Tensor namespace."""
    return solution(a.mT if turned else a, b)


def _checked(function: str, a: Tensor, b: Tensor, left: bool) -> tuple:
    matrix_check.check_tensors(function, A=a, B=b)
    matrix_check.check_floating("linalg.solve", a)
    matrix_check.check_same_dtype("linalg.solve", a, b)
    matrix_check.check_square("linalg.solve", a)
    shape, other = a._array.shape, b._array.shape
    vectors = len(other) == 1 or (len(other) == len(shape) - 1 and other == shape[:-1])
    if not vectors:
        matrix_check.check_matrix("linalg.solve", b, "B")
    matrix_check.check_fit("linalg.solve", shape, (*other, 1) if vectors else other, left)
    matrix_check.check_kernel("lu_cpu", a)
    if vectors and not left:  # a row of one element
        raise errors.runtime_error(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)",
            "Divide instead.",
        )
    return linear_system(a, b, left=left, vectors=vectors)[:2]


@autocast
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Out = None) -> Any:
    """The solution X of A X = B, or with left=False of X A = B, for square A.

    Shapes: A (..., n, n); B (n,), (..., n) or (..., n, k), with left=False (..., k, n); X as B.
    Batches broadcast. The gradient of B is A^-H g, that of A is -A^-H g X^H.

    Raises: RuntimeError (`linalg.LinAlgError`) for a singular A.

    >>> A = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> torch.linalg.solve(A, torch.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    result, info = _checked("linalg_solve", A, B, left)
    if elements(info._array).any():
        raise singular_system("torch.linalg.solve", elements(info._array))
    return finish("linalg_solve", result, out)


@require_tensors
def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Out = None
) -> Any:
    """The solution of A X = B, and `info`: 0, or the pivot at which a singular A failed.

    Shapes: those of `solve`, and the info (...).

    >>> torch.linalg.solve_ex(torch.tensor([[2.0]]), torch.tensor([4.0]))
    torch.return_types.linalg_solve_ex(
    result=tensor([2.]),
    info=tensor(0, dtype=torch.int32))
    """
    result, info = _checked("linalg_solve_ex", A, B, left)
    if check_errors and elements(info._array).any():
        raise singular_system("torch.linalg.solve_ex", elements(info._array))
    return matrix_check.finish_exact(
        "linalg_solve_ex", return_types.linalg_solve_ex((result, info)), out
    )


@autocast
def tensorsolve(input: Tensor, other: Tensor, dims: Any = None, *, out: Out = None) -> Any:
    """X with tensordot(A, X, X.ndim) = B: the first dimensions of A, as many as B has, are rows.

    `dims` are moved to the end of A first.

    Shapes: A (*b, *x) with as many elements in b as in x, B (*b); result (*x).
    Raises: RuntimeError where these numbers of elements differ.

    >>> A = 2 * torch.eye(6).reshape(2, 3, 6)
    >>> torch.linalg.tensorsolve(A, torch.ones(2, 3))
    tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000])
    """
    matrix_check.check_tensors("linalg_tensorsolve", input=input, other=other)
    if dims is not None:
        axes = [axis_of(d, input.ndim) for d in dims]
        input = input.movedim(axes, list(range(input.ndim - len(axes), input.ndim)))
    shape = input._array.shape
    columns = shape[other.ndim :]
    total, n = prod(other._array.shape), prod(columns)
    if n != total:
        raise errors.runtime_error(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {n} != {total}",
            "The dimensions that B has, and the others of A, must have as many elements.",
        )
    result = solve(input.reshape(total, n), other.reshape(-1))
    return matrix_check.finish_castable(
        "linalg_tensorsolve", "tensorsolve", result.reshape(columns), out
    )
