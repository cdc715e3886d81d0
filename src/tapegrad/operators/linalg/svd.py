"""The singular value decomposition: svd, svdvals."""

import math

from tapegrad import return_types
from tapegrad.arrays.namespaces import anywhere
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.result_order import column_major
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.linalg.decomposition import (
    adjoint,
    check_float_matrix,
    check_phases,
    column,
    converged,
    diagonal,
    diagonal_matrix,
    first_columns,
    off_diagonal,
    ratio,
    row,
    values_gradient,
    values_tangent,
)
from tapegrad.operators.linalg.matrix_check import finish_exact

__torch__ = "svd"


# --- all of it -------------------------------------------------------------------------------


def _gaps(s: Any) -> Any:
    """s_j^2 - s_i^2, as a product: the difference of squares would cancel."""
    return (row(s) - column(s)) * (row(s) + column(s))


def _gradient(xp, g_u, g_s, g_vh, u, s, vh, x_like):
    """With L and R the skew parts of U^H gU and V^H gV, and E the gaps of the squares of S:

    U [ (L/E) S + S (R/E) + diag(gS + diag(L)/(2S)) ] V^H,

    and what gU and gV have outside of the spaces that U and V span.
    """
    k = s.shape[-1]
    u, g_u = first_columns(u, k), first_columns(g_u, k)
    v, g_v = first_columns(adjoint(xp, vh), k), first_columns(adjoint(xp, g_vh), k)
    uh, vh = adjoint(xp, u), adjoint(xp, v)
    in_u, in_v = uh @ g_u, vh @ g_v
    left, right = in_u - adjoint(xp, in_u), in_v - adjoint(xp, in_v)
    gap = _gaps(s)
    inner = ratio(xp, off_diagonal(xp, left), gap) * row(s)
    inner = inner + column(s) * ratio(xp, off_diagonal(xp, right), gap)
    if xp.isdtype(u.dtype, "complex floating"):
        check_phases(xp, diagonal(xp, left + right), _PHASES, _ADVICE)
        g_s = g_s + ratio(xp, diagonal(xp, left) / 2, s)
    inner = inner + diagonal_matrix(xp, g_s)
    g = u @ inner @ vh
    if x_like.shape[-2] > k:
        g = g + ratio(xp, g_u - u @ in_u, row(s)) @ vh
    if x_like.shape[-1] > k:
        g = g + u @ adjoint(xp, ratio(xp, g_v - v @ in_v, row(s)))
    return g


_PHASES = (
    "svd_backward: The singular vectors in the complex case are specified up to multiplication by "
    "e^{i phi}. The specified loss function depends on this phase term, making it ill-defined."
)
_ADVICE = "Use what does not change when a pair of columns of U and V is multiplied by a phase."


def _tangents(xp, t, u, s, vh, full):
    """With P = U^H t V: dS = Re diag(P), dU = U (P S + S P^H)/E, dV = V (S P + P^H S)/E."""
    k = s.shape[-1]
    n_u, n_v = u.shape[-1], vh.shape[-2]
    u, v = first_columns(u, k), first_columns(adjoint(xp, vh), k)
    uh, vh = adjoint(xp, u), adjoint(xp, v)
    p = uh @ t @ v
    ph = adjoint(xp, p)
    gap = _gaps(s)
    turn_u = ratio(xp, off_diagonal(xp, p * row(s) + column(s) * ph), gap)
    turn_v = ratio(xp, off_diagonal(xp, column(s) * p + ph * row(s)), gap)
    d_s = diagonal(xp, p)
    if xp.isdtype(u.dtype, "complex floating"):
        d_s = xp.real(d_s)
        turn_u = turn_u + diagonal_matrix(xp, ratio(xp, (diagonal(xp, p - ph)) / 2, s))
    d_u, d_v = u @ turn_u, v @ turn_v
    if t.shape[-2] > k:
        d_u = d_u + ratio(xp, t @ v - u @ p, row(s))
    if t.shape[-1] > k:
        d_v = d_v + ratio(xp, adjoint(xp, t) @ u - v @ ph, row(s))
    return _widened(xp, d_u, n_u), d_s, adjoint(xp, _widened(xp, d_v, n_v))


def _widened(xp: Namespace, x: Array, n: int) -> Any:
    """Columns of zeros for the vectors that are not determined."""
    if x.shape[-1] == n:
        return x
    rest = xp.zeros((*x.shape[:-1], n - x.shape[-1]), dtype=x.dtype)
    return xp.concat([x, rest], axis=-1)


def _made_finite(xp: Namespace, x: Array) -> tuple[Array, Array | None]:
    """Zeros in place of matrices with an infinity, and which have none; None if all have none.

    LAPACK may never return from them.
    """
    finite = xp.isfinite(x)
    if not anywhere(~finite):
        return x, None
    finite = xp.all(finite, axis=(-2, -1), keepdims=True)
    return xp.where(finite, x, 0), finite


def decomposed(xp: Namespace, x: Array, full: bool = False) -> tuple:
    """U, S and V^H; nan for matrices with an infinity."""
    x, finite = _made_finite(xp, x)
    u, s, vh = xp.linalg.svd(x, full_matrices=full)
    if finite is None:
        return u, s, vh
    nan = math.nan
    return xp.where(finite, u, nan), xp.where(finite[..., 0], s, nan), xp.where(finite, vh, nan)


@jvp(x=_tangents)
@vjp(x=_gradient)
@primitive(
    name="svd",
    node="LinalgSvdBackward0",
    outputs=("u", "s", "vh"),
    holomorphic=False,
    order=column_major(0, 2),
)
def singular_decomposition(xp, x, *, full):
    """U, S and V^H with x = U diag(S) V^H; U and V have orthonormal columns, S falls."""
    return decomposed(xp, x, full)


# --- the values alone ------------------------------------------------------------------------


def _gradient_of_values(xp, g, x):
    u, _, vh = decomposed(xp, x)
    return values_gradient(g, u, vh)


def _tangent_of_values(xp, t, x):
    u, _, vh = decomposed(xp, x)
    return values_tangent(xp, t, u, adjoint(xp, vh))


@jvp(x=_tangent_of_values)
@vjp(x=_gradient_of_values)
@primitive(node="LinalgSvdBackward0", holomorphic=False)
def singular_values(xp, x):
    """The singular values of matrices, falling.

    Their derivative computes the vectors anew: a decomposition without them costs a fraction, and
    a gradient is defined where values are equal.
    """
    x, finite = _made_finite(xp, x)
    values = xp.linalg.svdvals(x)
    return values if finite is None else xp.where(finite[..., 0], values, math.nan)


# --- the public functions --------------------------------------------------------------------


def _check_driver(driver: Any) -> None:
    if driver is not None:
        raise errors.runtime_error(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs "
            "with cuSOLVER backend.",
            "Leave driver= away.",
        )


@autocast(name="svd")
def linalg_svd(
    A: Tensor, full_matrices: bool = True, *, driver: Any = None, out: Out = None
) -> Any:
    """The singular value decomposition of matrices: A = U diag(S) Vh.

    Args:
        A: (..., m, n), real or complex.
        full_matrices: U (..., m, m) and Vh (..., n, n); otherwise (..., m, k) and (..., k, n),
            where k is the smaller of m and n.

    Returns:
        (U, S, Vh); S is (..., k), real, and falls. The signs (phases) of pairs of vectors are the
        algorithm's choice; gradients are defined for what does not depend on it.

    >>> U, S, Vh = torch.linalg.svd(torch.tensor([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    >>> S, U.shape, Vh.shape
    (tensor([3., 2.]), torch.Size([3, 3]), torch.Size([2, 2]))
    """
    check_float_matrix("linalg_svd", "linalg.svd", "linalg_svd_cpu", A=A)
    _check_driver(driver)
    found = converged("linalg.svd", singular_decomposition, A, full=bool(full_matrices))
    return finish_exact("linalg_svd", return_types.linalg_svd(found), out)


@autocast
def svdvals(A: Tensor, *, driver: Any = None, out: Out = None) -> Any:
    """The singular values of matrices, falling.

    Shape: (..., m, n) to (..., min(m, n)).

    >>> torch.linalg.svdvals(torch.tensor([[3.0, 0.0], [0.0, -4.0]]))
    tensor([4., 3.])
    """
    check_float_matrix("linalg_svdvals", "linalg.svd", "linalg_svd_cpu", A=A)
    _check_driver(driver)
    return finish_exact("_linalg_svd", converged("linalg.svd", singular_values, A), out)


@autocast
def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Out = None) -> Any:
    """The singular value decomposition input = U diag(S) V^H, a triple (U, S, V).

    `some`: only the first min(m, n) columns of U and V; without `compute_uv` they are zeros.
    torch.linalg.svd is its successor and gives V^H.

    Shapes: (..., m, n) to (..., m, k), (..., k) and (..., n, k), with k = min(m, n).

    >>> torch.svd(torch.ones(3, 2)).V.shape
    torch.Size([2, 2])
    """
    if hasattr(input, "_array") and input._array.ndim < 2:
        text = "The input tensor A must have at least 2 dimensions."
        if out is None:
            n = input._array.ndim
            text = f"input should have at least 2 dimensions, but has {n} dimensions instead"
        raise errors.runtime_error(
            f"linalg.svd: {text}", "Give a matrix (m, n), or a batch of matrices (..., m, n)."
        )
    check_float_matrix("svd", "linalg.svd", "linalg_svd_cpu", input=input)
    if not compute_uv:
        *batch, m, n = input._array.shape
        s = converged("linalg.svd", singular_values, input)
        found = (input.new_zeros((*batch, m, m)), s, input.new_zeros((*batch, n, n)).mH)
    else:
        u, s, vh = converged("linalg.svd", singular_decomposition, input, full=not some)
        found = (u, s, vh.mH)
    return finish_exact("svd", return_types.svd(found), out)
