"""Symmetric matrices that need not be definite: A = L D L^T. Without derivatives, as in PyTorch."""

from tapegrad import return_types
from tapegrad.arrays.linalg_errors import first_failure
from tapegrad.arrays.namespaces import elements
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import column_major
from tapegrad.core.shape import out_of_range
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import no_derivative
from tapegrad.operators.linalg import matrix_check
from tapegrad.operators.linalg.triangular_solve import check_right_side

_ADVICE = "Use torch.linalg.solve, or lu_factor and lu_solve, which have derivatives."


def _no_tangent(name: str) -> Any:
    """A forward rule that says that there is none."""

    def rule(t: Array) -> Any:
        text = f"Trying to use forward AD with aten::{name} that does not support it."
        raise errors.not_implemented(text, _ADVICE)

    return rule


@jvp(a=_no_tangent("linalg_ldl_factor_ex"))
@vjp(a=no_derivative("linalg_ldl_factor_ex", _ADVICE))
@primitive(
    node="NotImplemented",
    outputs=("packed", "pivots", "info"),
    nondiff=("pivots", "info"),
    kernels=("ldl_packed",),
    order=column_major(),
)
def indefinite_factors(xp, a, *, hermitian):
    """L and D in one matrix, the pivots of Bunch and Kaufman, and a pivot that is zero."""
    return xp.ldl_packed(a, hermitian)


_no_gradient = no_derivative("linalg_ldl_solve", _ADVICE)


@jvp(packed=_no_tangent("linalg_ldl_solve"), b=_no_tangent("linalg_ldl_solve"))
@vjp(packed=_no_gradient, b=_no_gradient)
@primitive(
    node="NotImplemented", hidden=("pivots",), kernels=("ldl_solution",), order=column_major()
)
def indefinite_system(xp, packed, pivots, b, *, hermitian):
    """X with A X = B from the factors of A."""
    return xp.ldl_solution(packed, pivots, b, hermitian)


def _factors(name: str, a: Tensor, hermitian: bool) -> Any:
    matrix_check.check_tensors(name, input=a)
    matrix_check.check_square("torch.linalg.ldl_factor_ex", a)
    matrix_check.check_floating("torch.linalg.ldl_factor_ex", a)
    matrix_check.check_kernel("ldl_factor_kernel_cpu", a)
    return indefinite_factors(a, hermitian=hermitian)


def _broken(name: str, info: Any) -> RuntimeError:
    where, pivot = first_failure(info)
    advice = "The matrix is singular: ldl_factor_ex gives the factors nevertheless."
    return errors.runtime_error(f"{name}: {where}the pivot {pivot} is zero", advice)


@require_tensors
def ldl_factor(input: Tensor, *, hermitian: bool = False, out: Out = None) -> Any:
    """The factors of a symmetric A = L D L^T (or Hermitian, A = L D L^H) in one matrix, and pivots.

    Shapes: (..., n, n) and (..., n), as LAPACK's sytrf (hetrf) has them. It has no derivative.
    D has blocks of size 1 and 2. Source: Bunch and Kaufman, 1977.

    Raises: RuntimeError for a pivot that is zero.

    >>> torch.linalg.ldl_factor(torch.tensor([[2.0, 1.0], [1.0, 0.0]])).pivots
    tensor([1, 2], dtype=torch.int32)
    """
    packed, pivots, info = _factors("linalg_ldl_factor", input, hermitian)
    if elements(info._array).any():
        raise _broken("torch.linalg.ldl_factor", elements(info._array))
    return matrix_check.finish_exact(
        "linalg_ldl_factor", return_types.linalg_ldl_factor((packed, pivots)), out
    )


@require_tensors
def ldl_factor_ex(
    input: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Out = None
) -> Any:
    """As `ldl_factor`, and `info`: 0, or the number of the first block of D that is zero.

    Shapes: (..., n, n) to (..., n, n), (..., n) and (...).

    >>> torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    found = _factors("linalg_ldl_factor_ex", input, hermitian)
    if check_errors and elements(found[2]._array).any():
        raise _broken("torch.linalg.ldl_factor_ex", found[2]._array)
    return matrix_check.finish_exact(
        "linalg_ldl_factor_ex", return_types.linalg_ldl_factor_ex(found), out
    )


@require_tensors
def ldl_solve(LD: Any, pivots: Any, B: Tensor, *, hermitian: bool = False, out: Out = None) -> Any:
    """The solution X of A X = B from what `ldl_factor(A)` gives.

    Shapes: LD (..., n, n), pivots (..., n), B (..., n, k); result as B.
    Raises: RuntimeError for pivots that are no integers or do not fit; IndexError for a vector.

    >>> LD, pivots = torch.linalg.ldl_factor(torch.tensor([[2.0, 0.0], [0.0, -4.0]]))
    >>> torch.linalg.ldl_solve(LD, pivots, torch.ones(2, 1))
    tensor([[ 0.5000],
            [-0.2500]])
    """
    name = "torch.linalg.ldl_solve"
    matrix_check.check_tensors("linalg_ldl_solve", LD=LD, pivots=pivots, B=B)
    matrix_check.check_square(name, LD)
    matrix_check.check_floating(name, LD)
    if B._array.ndim < 2:
        raise out_of_range(-2, B.ndim, "A vector is a matrix with one column: v[:, None].")
    check_right_side(name, B, LD)
    matrix_check.check_pivots(name, "LD", LD, pivots, "torch.linalg.ldl_factor")
    if pivots.dtype.is_floating_point or pivots.dtype.is_complex or pivots.dtype.name == "bool":
        text = f"{name}: Expected pivots to be integers. Got {pivots.dtype.scalar_name}"
        raise errors.runtime_error(text, "Pass the pivots that torch.linalg.ldl_factor gave.")
    matrix_check.check_kernel("ldl_solve_kernel_cpu", LD)
    return matrix_check.finish_exact(
        "linalg_ldl_solve", indefinite_system(LD, pivots, B, hermitian=hermitian), out
    )
