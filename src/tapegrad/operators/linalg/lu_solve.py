"""Systems of linear equations with a matrix of which the LU factors are known."""

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.arrays.namespaces import elements
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import as_computed
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import by_place, jvp, primitive, vjp
from tapegrad.operators.linalg import matrix_check
from tapegrad.operators.linalg.decomposition import adjoint as _h
from tapegrad.operators.linalg.lu_factor import _parts
from tapegrad.operators.linalg.removed import say_once

__torch__ = "lu_solve"


def _vjp_packed(xp, g, packed, pivots, y, left, adjoint):
    g_b = xp.lu_solution(packed, pivots, g, left, not adjoint)
    found = -(xp.matmul(g_b, _h(xp, y)) if left else xp.matmul(_h(xp, y), g_b))
    found = _h(xp, found) if adjoint else found  # the cotangent of A
    p = xp.permutation_matrix(pivots, packed.shape[-2], packed)
    lower, upper = _parts(xp, packed)
    found = xp.matmul(xp.matrix_transpose(p), found)
    g_lower = xp.tril(xp.matmul(found, _h(xp, upper)), k=-1)
    g_upper = xp.triu(xp.matmul(_h(xp, lower), found), k=0)
    return sum_to_shape(xp, g_lower + g_upper, packed.shape)


def _vjp_b(xp, g, packed, pivots, b_like, left, adjoint):
    return sum_to_shape(xp, xp.lu_solution(packed, pivots, g, left, not adjoint), b_like.shape)


def _jvp_packed(xp, t, packed, pivots, y, left, adjoint):
    p = xp.permutation_matrix(pivots, packed.shape[-2], packed)
    lower, upper = _parts(xp, packed)
    t_lower, t_upper = xp.tril(t, k=-1), xp.triu(t, k=0)
    change = xp.matmul(p, xp.matmul(t_lower, upper) + xp.matmul(lower, t_upper))
    change = _h(xp, change) if adjoint else change
    change = xp.matmul(change, y) if left else xp.matmul(y, change)
    return -xp.lu_solution(packed, pivots, change, left, adjoint)


@jvp(
    packed=_jvp_packed,
    b=lambda xp, t, packed, pivots, left, adjoint: xp.lu_solution(packed, pivots, t, left, adjoint),
)
@vjp(packed=_vjp_packed, b=_vjp_b)
@primitive(
    node="LinalgLuSolveBackward0",
    hidden=("pivots",),
    holomorphic=False,
    kernels=("lu_solution", "permutation_matrix"),
    order=as_computed,
)
def factored_system(xp, packed, pivots, b, *, left, adjoint):
    """X with A X = B, or X A = B, for A = P L U, or for its adjoint."""
    return xp.lu_solution(packed, pivots, b, left, adjoint)


lu_solution = tensor_kernel(by_place(factored_system))


@require_tensors
def linalg_lu_solve(
    LU: Any, pivots: Any, B: Tensor, *, left: bool = True, adjoint: bool = False, out: Out = None
) -> Any:
    """The solution X of A X = B, or with left=False of X A = B, from what `lu_factor(A)` gives.

    Shapes: LU (..., n, n), pivots (..., n), B (..., n, k), with left=False (..., k, n).
    `adjoint`: the conjugate transpose of A takes its place.

    >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> torch.linalg.lu_solve(LU, pivots, torch.ones(2, 1))
    tensor([[0.5000],
            [0.2500]])
    """
    matrix_check.check_tensors("linalg_lu_solve", LU=LU, pivots=pivots, B=B)
    return _solve("linalg_lu_solve", LU, pivots, B, left, adjoint, out)


@autocast
def lu_solve(input: Tensor, LU_data: Any, LU_pivots: Any, *, out: Out = None) -> Any:
    """The solution X of A X = b from the LU factors: the older form of `torch.linalg.lu_solve`.

    Shapes: input (..., n, k), LU (..., n, n), pivots (..., n); result (..., n, k).

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> torch.lu_solve(torch.ones(2, 1), LU, pivots)
    tensor([[0.5000],
            [0.2500]])
    """
    say_once("lu_solve")
    matrix_check.check_tensors("lu_solve", input=input, LU_data=LU_data, LU_pivots=LU_pivots)
    return _solve("lu_solve", LU_data, LU_pivots, input, True, False, out)


def _solve(
    function: str, packed: Any, pivots: Any, b: Tensor, left: bool, adjoint: bool, out: Out
) -> Any:
    name = "linalg.lu_solve"
    matrix_check.check_floating("torch.linalg.lu_solve", packed)
    matrix_check.check_same_dtype(name, packed, b, "LU")
    matrix_check.check_square("torch.linalg.lu_solve", packed)
    if pivots.dtype.name != "int32":
        text = f"{name}: pivots should be a Tensor of scalar type torch.int32"
        raise errors.runtime_error(text, "Pass the pivots that torch.linalg.lu_factor gave.")
    matrix_check.check_matrix(name, b, "B")
    matrix_check.check_fit(name, packed._array.shape, b._array.shape, left)
    if pivots._array.shape[-1:] != packed._array.shape[-1:]:
        text = f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        raise errors.runtime_error(text, f"{packed.shape[-1]} are needed.")
    matrix_check.check_pivots(name, "LU", packed, pivots, "torch.linalg.lu_factor")
    matrix_check.check_kernel("lu_solve_cpu", packed)
    swaps = elements(pivots._array)
    if swaps.size and (swaps.min() < 1 or swaps.max() > packed._array.shape[-1]):
        bound = "greater or equal to 1" if swaps.min() < 1 else "smaller or equal to LU.size(-2)"
        raise errors.runtime_error(
            f"Pivots given to lu_solve must all be {bound}. "
            "Did you properly pass the result of lu_factor?",
            "They count rows from 1.",
        )
    result = factored_system(packed, pivots, b, left=left, adjoint=adjoint)
    return matrix_check.finish_exact(function, result, out)
