"""Systems of linear equations with a triangular matrix."""

from tapegrad import return_types
from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import column_major
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import by_place, jvp, primitive, vjp
from tapegrad.operators.linalg import matrix_check
from tapegrad.operators.linalg.decomposition import transposed as _t
from tapegrad.operators.linalg.removed import say_once

__torch__ = "triangular_solve"


def triangle(xp: Namespace, x: Array, upper: bool, unitriangular: bool) -> Any:
    """The part of matrices that a triangular solver reads."""
    k = 1 if unitriangular else 0
    return xp.triu(x, k=k) if upper else xp.tril(x, k=-k)


def _vjp_a(xp, g, a, y, upper, left, unitriangular):
    g_b = xp.triangular_solution(_t(xp, a), g, not upper, left, unitriangular)
    found = -(xp.matmul(g_b, _t(xp, y)) if left else xp.matmul(_t(xp, y), g_b))
    return sum_to_shape(xp, triangle(xp, found, upper, unitriangular), a.shape)


def _vjp_b(xp, g, a, b_like, upper, left, unitriangular):
    found = xp.triangular_solution(_t(xp, a), g, not upper, left, unitriangular)
    return sum_to_shape(xp, found, b_like.shape)


def _jvp_a(xp, t, a, y, upper, left, unitriangular):
    t = triangle(xp, t, upper, unitriangular)
    change = xp.matmul(t, y) if left else xp.matmul(y, t)
    return -xp.triangular_solution(a, change, upper, left, unitriangular)


@jvp(
    a=_jvp_a,
    b=lambda xp, t, a, upper, left, unitriangular: xp.triangular_solution(
        a, t, upper, left, unitriangular
    ),
)
@vjp(a=_vjp_a, b=_vjp_b)
@primitive(
    node="LinalgSolveTriangularBackward0", kernels=("triangular_solution",), order=column_major()
)
def triangular_system(xp, a, b, *, upper, left, unitriangular):
    """X with A X = B, or X A = B; of A one triangle is read, and ones for a unit diagonal."""
    return xp.triangular_solution(a, b, upper, left, unitriangular)


triangular_solution = tensor_kernel(by_place(triangular_system))


@require_tensors
def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Out = None,
) -> Any:
    """The solution X of A X = B, or with left=False of X A = B, for a triangular matrix A.

    Shapes: A (..., n, n), B (..., n, k), with left=False (..., k, n). Batches broadcast. Only the
    `upper` or lower triangle of A is read, and its diagonal is taken for ones if `unitriangular`.

    >>> A = torch.tensor([[1.0, 0.0], [2.0, 4.0]])
    >>> torch.linalg.solve_triangular(A, torch.ones(2, 1), upper=False)
    tensor([[ 1.0000],
            [-0.2500]])
    """
    matrix_check.check_tensors("linalg_solve_triangular", input=A, B=B)
    name = "linalg.solve_triangular"
    matrix_check.check_square(name, A)
    matrix_check.check_matrix(name, B, "B")
    matrix_check.check_fit(name, A._array.shape, B._array.shape, left)
    matrix_check.check_kernel("triangular_solve_cpu", A)
    if B.dtype is not A.dtype:
        B = B.to(A.dtype)
    result = triangular_system(A, B, upper=upper, left=left, unitriangular=unitriangular)
    return finish("linalg_solve_triangular", result, out, B)


def _pair_vjp_b(xp, g_solution, b_like, a, upper, transpose, unitriangular):
    turned, up = (a, upper) if transpose else (_t(xp, a), not upper)
    found = xp.triangular_solution(turned, g_solution, up, True, unitriangular)
    return sum_to_shape(xp, found, b_like.shape)


def _pair_vjp_a(xp, g_solution, g_cloned_coefficient, a, solution, upper, transpose, unitriangular):
    turned, up = (a, upper) if transpose else (_t(xp, a), not upper)
    g_b = xp.triangular_solution(turned, g_solution, up, True, unitriangular)
    found = -xp.matmul(g_b, _t(xp, solution))
    found = triangle(xp, _t(xp, found) if transpose else found, upper, unitriangular)
    return sum_to_shape(xp, found + g_cloned_coefficient, a.shape)


def _pair_jvp_b(xp, t, a, upper, transpose, unitriangular):
    turned, up = (_t(xp, a), not upper) if transpose else (a, upper)
    x = xp.triangular_solution(turned, t, up, True, unitriangular)
    return x, xp.zeros_like(xp.broadcast_to(a, (*x.shape[:-2], *a.shape[-2:])))


def _pair_jvp_a(xp, t, a, solution, upper, transpose, unitriangular):
    turned, up = (_t(xp, a), not upper) if transpose else (a, upper)
    part = triangle(xp, t, upper, unitriangular)
    change = xp.matmul(_t(xp, part) if transpose else part, solution)
    x = -xp.triangular_solution(turned, change, up, True, unitriangular)
    return x, xp.broadcast_to(t, (*x.shape[:-2], *t.shape[-2:]))


@jvp(b=_pair_jvp_b, a=_pair_jvp_a)
@vjp(b=_pair_vjp_b, a=_pair_vjp_a)
@primitive(
    node="TriangularSolveBackward0",
    outputs=("solution", "cloned_coefficient"),
    kernels=("triangular_solution",),
    order=column_major(0, 1),
)
def triangular_pair(xp, b, a, *, upper, transpose, unitriangular):
    """X with A X = B, or A^T X = B, for triangular A; and A, as often as there are B."""
    turned, up = (_t(xp, a), not upper) if transpose else (a, upper)
    x = xp.triangular_solution(turned, b, up, True, unitriangular)
    return x, xp.broadcast_to(a, (*x.shape[:-2], *a.shape[-2:])) + 0


def check_right_side(name: str, b: Tensor, a: Tensor) -> None:
    """What older functions accept: matrices A and B for A X = B, of one dtype."""
    x, y = b._array.shape, a._array.shape
    if a.dtype is not b.dtype:
        raise errors.runtime_error(
            "Expected b and A to have the same dtype, but found b of type "
            f"{b.dtype.scalar_name} and A of type {a.dtype.scalar_name} instead.",
            f"Convert one of them: .to({a.dtype}).",
        )
    matrix_check.check_square("", a)
    if x[-2] != y[-1]:
        raise errors.runtime_error(
            f"Incompatible matrix sizes for {name}: each A matrix is {y[-1]} by {y[-1]} but "
            f"each b matrix is {x[-2]} by {x[-1]}",
            f"b must have {y[-1]} rows.",
        )
    matrix_check.check_batches(y, x)


@autocast
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Out = None,
) -> Any:
    """The solution X of A X = b, or A^T X = b, for a triangular matrix A, and a copy of A.

    The older form of `torch.linalg.solve_triangular`.

    Shapes: (..., n, k) and A (..., n, n) to (..., n, k) and (..., n, n).
    Raises: RuntimeError for a vector.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> A = torch.tensor([[1.0, 2.0], [0.0, 4.0]])
    >>> torch.triangular_solve(torch.ones(2, 1), A).solution
    tensor([[0.5000],
            [0.2500]])
    """
    say_once("triangular_solve")
    matrix_check.check_tensors("triangular_solve", input=input, A=A)
    for name, x in (("b", input), ("A", A)):
        if x._array.ndim < 2:
            raise errors.runtime_error(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but "
                f"it has {x._array.ndim} dimensions instead",
                "A vector is a matrix with one column: v[:, None].",
            )
    check_right_side("triangular_solve", input, A)
    matrix_check.check_kernel("triangular_solve_cpu", A)
    pair = triangular_pair(input, A, upper=upper, transpose=transpose, unitriangular=unitriangular)
    return matrix_check.finish_exact("triangular_solve", return_types.triangular_solve(pair), out)
