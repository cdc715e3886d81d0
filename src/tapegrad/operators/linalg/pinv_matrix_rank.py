"""The pseudo-inverse of matrices, and their rank."""

import numpy as np

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Number, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import of
from tapegrad.core.shape import broadcast
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.linalg import matrix_check
from tapegrad.operators.linalg.decomposition import adjoint, column, converged, row
from tapegrad.operators.linalg.svd import decomposed

__torch__ = "pinverse"


def _gradient(xp, g, x, y):
    """-P^H g P^H + (1 - x P) g^H P P^H + P^H P g^H (1 - P x), for a constant rank; P is y.

    Source: Golub and Pereyra, The Differentiation of Pseudo-Inverses and Nonlinear Least Squares
    Problems Whose Variables Separate (1973).
    """
    ph, gh = adjoint(xp, y), adjoint(xp, g)
    left, right = gh @ y, y @ gh
    total = (left - x @ (y @ left)) @ ph - ph @ g @ ph
    return total + ph @ (right - (right @ y) @ x)


def _tangent(xp, t, x, y):
    """-P t P + P P^H t^H (1 - x P) + (1 - P x) t^H P^H P."""
    ph, th = adjoint(xp, y), adjoint(xp, t)
    left, right = ph @ th, th @ ph
    total = y @ (left - (left @ x) @ y) - y @ t @ y
    return total + (right - y @ (x @ right)) @ y


@jvp(x=_tangent)
@vjp(x=_gradient)
@primitive(name="pinv", node="LinalgPinvBackward0", hidden=("atol", "rtol"), holomorphic=False)
def pseudo_inverse(xp, x, atol, rtol, *, hermitian):
    """V diag(1/S) U^H of x = U diag(S) V^H, with 0 for S up to max(atol, rtol * largest)."""
    if hermitian:
        values, v = xp.linalg.eigh(x)
        u = v
    else:
        u, values, vh = decomposed(xp, x)
        v = adjoint(xp, vh)
    size = xp.abs(values)
    if size.shape[-1] == 0:
        return xp.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype=x.dtype)
    keep = size > column(xp.maximum(atol, rtol * xp.max(size, axis=-1)))
    inverse = xp.where(keep, 1 / xp.where(keep, values, xp.ones_like(values)), 0 * values)
    return (v * row(inverse)) @ adjoint(xp, u)


# --- tolerances ------------------------------------------------------------------------------

_FORMS = (
    "Tensor input, *, Tensor atol = None, Tensor rtol = None, bool hermitian = False, "
    "Tensor out = None",
    "Tensor input, *, float atol = None, float rtol = None, bool hermitian = False, "
    "Tensor out = None",
    "Tensor input, Tensor {0}, bool hermitian = False, *, Tensor out = None",
    "Tensor input, float {0}, bool hermitian = False, *, Tensor out = None",
)


def _check_forms(name: str, x: Tensor, single: str, given: dict[str, Any]) -> None:
    """`given`: the tolerances, of which one stands alone; two are both tensors or both numbers."""
    given = {name: value for name, value in given.items() if value is not None}
    kinds = {hasattr(value, "_array") for value in given.values()}
    alone = single not in given or len(given) == 1
    known = all(hasattr(v, "_array") or isinstance(v, (int, float)) for v in given.values())
    if not hasattr(x, "_array") or len(kinds) > 1 or not alone or not known:
        forms = tuple(form.format(single) for form in _FORMS)
        raise errors.invalid_combination(f"linalg_{name}", (x,), given, forms)


def _tolerances(name: str, x: Tensor, atol: Any, rtol: Any) -> tuple:
    """Both tolerances as arrays; without any, rtol is eps times the larger of the sizes."""
    real = x._array.real.dtype
    if rtol is None:
        rtol = np.finfo(real).eps * max(x._array.shape[-2:])
        if hasattr(atol, "_array"):
            rtol = namespace_of((atol._array,)).where(atol._array > 0, 0.0, rtol)
        elif atol is not None and atol > 0:
            rtol = 0.0
    arrays = []
    for which, value in (("atol", 0.0 if atol is None else atol), ("rtol", rtol)):
        array: Any = getattr(value, "_array", value)
        array = array if hasattr(array, "dtype") else np.asarray(array)
        if array.dtype.kind == "c":
            raise errors.runtime_error(
                f"torch.linalg.{name}: {which} tensor of complex type is not supported. Got "
                f"{of(array.dtype).scalar_name}",
                "A tolerance is a real number.",
            )
        arrays.append(array.astype(real))
    return tuple(arrays)


# --- the public functions --------------------------------------------------------------------


@require_tensors
def pinv(
    A: Tensor,
    rcond: Number | None = None,
    hermitian: bool = False,
    *,
    atol: Number | None = None,
    rtol: Number | None = None,
    out: Out = None,
) -> Any:
    """The pseudo-inverse of matrices (Moore-Penrose).

    With A = U diag(S) V^H it is V diag(1/S) U^H, where singular values up to
    max(atol, rtol * largest) count as 0.

    Shape: (..., m, n) to (..., n, m).

    Args:
        rcond: an old name of rtol.
        hermitian: A is Hermitian, and its eigenvalues take the place of singular values.
        atol: 0 by default.
        rtol: by default eps * max(m, n), or 0 where atol is given; a number or, as atol, a
            tensor with a value for each matrix.

    >>> torch.linalg.pinv(torch.tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000, 0.0000],
            [0.0000, 0.0000, 0.2500]])
    """
    _check_forms("pinv", A, "rcond", {"rcond": rcond, "atol": atol, "rtol": rtol})
    name = A.dtype.name
    if A._array.ndim < 2 or name not in ("float32", "float64", "complex64", "complex128"):
        raise errors.runtime_error(
            f"linalg.pinv({A.dtype.scalar_name}{{{list(A._array.shape)}}}): expected a tensor "
            "with 2 or more dimensions of float, double, cfloat or cdouble types",
            "Give a matrix (m, n), or a batch of matrices (..., m, n).",
        )
    tolerances = _tolerances("pinv", A, atol, rtol if rcond is None else rcond)
    batch = A._array.shape[:-2]
    for tolerance in tolerances:
        batch = broadcast(tolerance.shape, batch)
    if batch != A._array.shape[:-2]:
        A = A.expand(*batch, -1, -1)
    found = _inverted(A, tolerances, bool(hermitian))
    return matrix_check.finish_castable("linalg_pinv", "linalg.pinv", found, out)


def _inverted(x: Tensor, tolerances: tuple, hermitian: bool) -> Any:
    if hermitian:
        matrix_check.check_square("linalg.eigh", x)

    def inverted(x: Tensor) -> Any:
        return pseudo_inverse(x, *map(wrap, tolerances), hermitian=hermitian)

    return converged("linalg.eigh" if hermitian else "linalg.svd", inverted, x)


@autocast
def pinverse(input: Tensor, rcond: float = 1e-15) -> Any:
    """The pseudo-inverse of matrices; see torch.linalg.pinv, of which `rcond` is the rtol.

    Shape: (..., m, n) to (..., n, m).

    >>> torch.pinverse(torch.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    matrix_check.check_tensors("pinverse", input=input)
    if not isinstance(rcond, (int, float)):
        raise errors.must_be("pinverse", "rcond", 2, "float", rcond)
    return pinv(input, rcond)


@autocast
def matrix_rank(
    A: Tensor,
    tol: Number | None = None,
    hermitian: bool = False,
    *,
    atol: Number | None = None,
    rtol: Number | None = None,
    out: Out = None,
) -> Any:
    """How many singular values of matrices exceed max(atol, rtol * largest): int64.

    Shape: (..., m, n) to (...).

    Args:
        tol: an old name of atol.
        hermitian: A is Hermitian: its eigenvalues' absolute values are taken.
        atol: 0 by default.
        rtol: by default eps * max(m, n), or 0 where atol is given.

    >>> torch.linalg.matrix_rank(torch.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    _check_forms("matrix_rank", A, "tol", {"tol": tol, "atol": atol, "rtol": rtol})
    matrix_check.check_matrix("torch.linalg.matrix_rank", A, "input")
    if A.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        text = "This function doesn't handle types other than float and double"
        raise errors.runtime_error(text, "Convert the tensor first: x.float().")
    atol, rtol = _tolerances("matrix_rank", A, atol if tol is None else tol, rtol)
    if hermitian:
        from tapegrad.operators.linalg.eig_eigh import eigvalsh

        size = eigvalsh(A.detach()).abs()
    else:
        from tapegrad.operators.linalg.svd import svdvals

        size = svdvals(A.detach())
    xp = namespace_of((size._array, atol, rtol))
    largest = size.amax(-1) if size.shape[-1] else size.sum(-1)
    for tolerance in (rtol, atol):
        broadcast(np.shape(tolerance), largest._array.shape)
    limit = xp.maximum(atol, rtol * largest._array)
    found = (size > wrap(limit).unsqueeze(-1)).sum(-1)
    return matrix_check.finish_castable(
        "linalg_matrix_rank", "torch.linalg.matrix_rank", found, out
    )
