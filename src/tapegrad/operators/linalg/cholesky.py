"""Positive definite matrices: the Cholesky factor, and what is computed from it."""

from tapegrad import return_types
from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.arrays.namespaces import elements
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.result_order import column_major
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.linalg import matrix_check
from tapegrad.operators.linalg.decomposition import adjoint as _h
from tapegrad.operators.linalg.removed import say_once
from tapegrad.operators.linalg.triangular_solve import check_right_side

__torch__ = "cholesky cholesky_inverse cholesky_solve"


def _factor_vjp(xp, g, y, upper):
    """L^-H S L^-1, with S the Hermitian part of the lower triangle of L^H g.

    Source: Murray, Differentiation of the Cholesky decomposition, 2016.
    """
    factor, g = (_h(xp, y), _h(xp, g)) if upper else (y, g)
    core = xp.tril(xp.matmul(_h(xp, factor), g), k=0)
    core = (core + _h(xp, xp.tril(core, k=-1))) / 2
    core = xp.triangular_solution(factor, core, False, False, False)
    return xp.triangular_solution(_h(xp, factor), core, True, True, False)


def _factor_jvp(xp, t, y, upper):
    """L F, with F the lower triangle, half of its diagonal, of L^-1 t L^-H."""
    factor = _h(xp, y) if upper else y
    core = xp.triangular_solution(factor, t, False, True, False)
    core = xp.triangular_solution(_h(xp, factor), core, True, False, False)
    found = xp.matmul(factor, (xp.tril(core, k=0) + xp.tril(core, k=-1)) / 2)
    return _h(xp, found) if upper else found


def _factoring(name: str, node: str) -> Any:
    @jvp(a=_factor_jvp)
    @vjp(a=_factor_vjp)
    @primitive(
        name=name,
        node=node,
        outputs=("factor", "info"),
        nondiff=("info",),
        holomorphic=False,
        kernels=("cholesky_factor", "triangular_solution"),
        order=column_major(),
    )
    def factor(xp, a, *, upper):
        """The Cholesky factor, and the order of the leading minor that is not positive, or 0."""
        return xp.cholesky_factor(a, upper)

    return factor


definite_factor = _factoring("definite_factor", "LinalgCholeskyExBackward0")
older_definite_factor = _factoring("older_definite_factor", "CholeskyBackward0")


@autocast(name="cholesky")
def linalg_cholesky(input: Tensor, *, upper: bool = False, out: Out = None) -> Any:
    """The lower triangular L of A = L L^H, or with upper=True the upper U of A = U^H U.

    Shape: (..., n, n), symmetric (or Hermitian) and positive definite; one triangle of it is read.
    The gradient is that of a symmetric matrix (Murray, 2016).

    Raises: RuntimeError (`linalg.LinAlgError`) where a matrix is not positive definite.

    >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    factor, info = _checked("linalg_cholesky", "linalg.cholesky", input, upper)
    if elements(info._array).any():
        raise matrix_check.not_definite("linalg.cholesky", elements(info._array))
    return finish("linalg_cholesky", factor, out)


@autocast
def cholesky_ex(
    input: Tensor, *, upper: bool = False, check_errors: bool = False, out: Out = None
) -> Any:
    """The Cholesky factor, and `info`: 0, or the order of the minor that is not positive.

    Shapes: (..., n, n) to (..., n, n) and (...).

    >>> torch.linalg.cholesky_ex(torch.tensor([[-1.0]])).info
    tensor(1, dtype=torch.int32)
    """
    found = _checked("linalg_cholesky_ex", "linalg.cholesky", input, upper)
    if check_errors and elements(found[1]._array).any():
        raise matrix_check.not_definite("linalg.cholesky_ex", found[1]._array)
    return matrix_check.finish_exact(
        "linalg_cholesky_ex", return_types.linalg_cholesky_ex(found), out
    )


def _checked(function: str, name: str, a: Tensor, upper: bool) -> Any:
    matrix_check.check_tensors(function, input=a)
    if not isinstance(upper, bool):
        raise errors.must_be(function, "upper", 0, "bool", upper)
    matrix_check.check_square(name, a)
    matrix_check.check_floating(name, a)
    matrix_check.check_kernel("cholesky_cpu", a)
    return definite_factor(a, upper=upper)


@autocast
def cholesky(input: Tensor, upper: bool = False, *, out: Out = None) -> Any:
    """The Cholesky factor: the older form of `torch.linalg.cholesky`.

    Shape: (..., n, n), and so the result.
    Raises: RuntimeError (`linalg.LinAlgError`) where a matrix is not positive definite.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]), upper=True)
    tensor([[2., 1.],
            [0., 2.]])
    """
    matrix_check.check_tensors("cholesky", input=input)
    say_once("cholesky")
    matrix_check.check_square("cholesky", input)
    matrix_check.check_kernel("cholesky_cpu", input)
    factor, info = older_definite_factor(input, upper=upper)
    if elements(info._array).any():
        raise matrix_check.not_definite("cholesky", elements(info._array))
    return matrix_check.finish_castable("cholesky", "cholesky", factor, out)


# --- with a known factor ----------------------------------------------------------------------


def _factor_cotangent(xp: Namespace, g_a: Any, factor: Array, upper: bool) -> Any:
    """The cotangent of L or U from that of A: PyTorch's, which is not cut to the triangle."""
    both = g_a + _h(xp, g_a)
    return xp.matmul(factor, both) if upper else xp.matmul(both, factor)


def _product_change(xp: Namespace, t: Array, factor: Array, upper: bool) -> Any:
    """How A changes with its factor."""
    half = xp.matmul(_h(xp, t), factor) if upper else xp.matmul(t, _h(xp, factor))
    return half + _h(xp, half)


def _system_vjp_factor(xp, g, factor, y, upper):
    g_a = -xp.matmul(xp.definite_solution(factor, g, upper), _h(xp, y))
    return sum_to_shape(xp, _factor_cotangent(xp, g_a, factor, upper), factor.shape)


def _system_jvp_factor(xp, t, factor, y, upper):
    change = xp.matmul(_product_change(xp, t, factor, upper), y)
    return -xp.definite_solution(factor, change, upper)


@jvp(
    b=lambda xp, t, factor, upper: xp.definite_solution(factor, t, upper), factor=_system_jvp_factor
)
@vjp(
    b=lambda xp, g, b_like, factor, upper: sum_to_shape(
        xp, xp.definite_solution(factor, g, upper), b_like.shape
    ),
    factor=_system_vjp_factor,
)
@primitive(
    node="CholeskySolveBackward0",
    holomorphic=False,
    kernels=("definite_solution",),
    order=column_major(),
)
def definite_system(xp, b, factor, *, upper):
    """X with A X = B for A = L L^H, or A = U^H U."""
    return xp.definite_solution(factor, b, upper)


@tensor_kernel
def definite_solution(factor: Any, b: Tensor, upper: bool) -> Any:
    """The operator as a kernel of the Tensor namespace."""
    return definite_system(b, factor, upper=upper)


@jvp(
    factor=lambda xp, t, factor, y, upper: (
        -xp.matmul(xp.matmul(y, _product_change(xp, t, factor, upper)), y)
    )
)
@vjp(
    factor=lambda xp, g, factor, y, upper: _factor_cotangent(
        xp, -xp.matmul(xp.matmul(y, g), y), factor, upper
    )
)
@primitive(
    node="CholeskyInverseBackward0",
    holomorphic=False,
    kernels=("triangular_solution",),
    order=column_major(),
)
def definite_inverse(xp, factor, *, upper):
    """The inverse of A = L L^H, or of A = U^H U."""
    eye = xp.eye(factor.shape[-1], dtype=factor.dtype)
    half = xp.triangular_solution(factor, eye, upper, True, False)
    return xp.matmul(half, _h(xp, half)) if upper else xp.matmul(_h(xp, half), half)


@autocast
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False, *, out: Out = None) -> Any:
    """The solution X of A X = B from the Cholesky factor: A = L L^H, or U^H U if `upper`.

    Shapes: B = input (..., n, k), the factor input2 (..., n, n). Batches broadcast.
    Raises: RuntimeError for a vector.

    >>> L = torch.tensor([[2.0, 0.0], [1.0, 2.0]])
    >>> torch.cholesky_solve(torch.tensor([[8.0], [14.0]]), L)
    tensor([[0.7500],
            [2.5000]])
    """
    matrix_check.check_tensors("cholesky_solve", input=input, input2=input2)
    for name, x in (("b", input), ("u", input2)):
        if x._array.ndim < 2:
            raise errors.runtime_error(
                f"{name} should have at least 2 dimensions, but has {x._array.ndim} dimensions "
                "instead",
                "A vector is a matrix with one column: v[:, None].",
            )
    check_right_side("cholesky_solve", input, input2)
    matrix_check.check_kernel("cholesky_solve_cpu", input2)
    return matrix_check.finish_castable(
        "cholesky_solve", "cholesky_solve", definite_system(input, input2, upper=upper), out
    )


@autocast
def cholesky_inverse(input: Tensor, upper: bool = False, *, out: Out = None) -> Any:
    """The inverse of A from its Cholesky factor: A = L L^H, or U^H U if `upper`.

    Shape: (..., n, n), and so the result.
    Raises: RuntimeError (`linalg.LinAlgError`) for a singular matrix.

    >>> torch.cholesky_inverse(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([[0.2500, 0.0000],
            [0.0000, 1.0000]])
    """
    matrix_check.check_tensors("cholesky_inverse", input=input)
    matrix_check.check_square("cholesky_inverse", input)
    matrix_check.check_kernel("cholesky_inverse_out_cpu", input)
    zero = elements(input._array).diagonal(0, -2, -1) == 0
    if zero.any():
        info = (zero.argmax(-1) + 1) * zero.any(-1)
        raise matrix_check.singular_inverse("cholesky_inverse", info)
    return matrix_check.finish_castable(
        "cholesky_inverse", "cholesky_inverse", definite_inverse(input, upper=upper), out
    )
