"""The QR decomposition: an orthogonal and an upper triangular factor."""

from tapegrad import return_types
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.result_order import column_major
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.linalg.decomposition import (
    adjoint,
    check_float_matrix,
    diagonal,
    diagonal_matrix,
    first_columns,
)
from tapegrad.operators.linalg.matrix_check import check_tensors, finish_exact
from tapegrad.operators.linalg.removed import say_once

__torch__ = "qr"

_KERNELS = ("triangular_factor", "triangular_solution")


def _upper(xp: Namespace, c: Array) -> Any:
    """The upper triangle of c, half of its diagonal."""
    return xp.triu(c) - diagonal_matrix(xp, diagonal(xp, c) / 2)


def _gradient(xp, g_q, g_r, q, r, x_like, mode):
    """(gQ + Q H) R^-H, where H is Hermitian with the upper triangle of gR R^H - Q^H gQ.

    Source: Roberts and Roberts, QR and LQ Decomposition Matrix Backpropagation Algorithms for
    Square, Wide, and Deep Matrices and Their Software Implementation (2020).
    """
    _check_determined(x_like.shape, mode)
    k = q.shape[-1]
    square = first_columns(r, k)
    wide = r.shape[-1] > k
    if wide:  # the other columns are Q times theirs of R
        g_rest = g_r[..., k:]
        g_q = g_q + (q @ r[..., k:]) @ adjoint(xp, g_rest)
    w = _upper(xp, first_columns(g_r, k) @ adjoint(xp, square) - adjoint(xp, q) @ g_q)
    g = g_q + q @ (w + adjoint(xp, w))
    g = adjoint(xp, xp.triangular_solution(square, adjoint(xp, g), True, True, False))
    return xp.concat([g, q @ g_rest], axis=-1) if wide else g


def _tangents(xp, t, q, r, x_like, mode):
    """With C = Q^H t R^-1 and U the upper triangle of C + C^H: dR = U R, dQ = t R^-1 - Q U."""
    _check_determined(x_like.shape, mode)
    k = q.shape[-1]
    qh, square = adjoint(xp, q), first_columns(r, k)
    moved = xp.triangular_solution(square, first_columns(t, k), True, False, False)
    c = qh @ moved
    u = _upper(xp, c + adjoint(xp, c))
    d_q, d_r = moved - q @ u, u @ square
    if r.shape[-1] > k:
        d_rest = qh @ t[..., k:] + adjoint(xp, d_q) @ (q @ r[..., k:])
        d_r = xp.concat([d_r, d_rest], axis=-1)
    return d_q, d_r


@jvp(x=_tangents)
@vjp(x=_gradient)
@primitive(
    name="qr",
    node="LinalgQrBackward0",
    outputs=("q", "r"),
    holomorphic=False,
    kernels=_KERNELS,
    order=column_major(0, 1),
)
def orthogonal_triangular(xp, x, *, mode):
    """Q with orthonormal columns and R upper triangular, x = Q R; in mode "r" Q is empty."""
    if mode == "r":
        return xp.zeros((0,), dtype=x.dtype), xp.triangular_factor(x)
    return tuple(xp.linalg.qr(x, mode=mode))


def _check_determined(shape: tuple[int, ...], mode: str) -> None:
    """The factors that a derivative needs are there, and unique."""
    if mode == "r":
        raise errors.runtime_error(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
            "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.",
            "Use mode='reduced'.",
        )
    if mode == "complete" and shape[-2] > shape[-1]:
        text = "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        advice = "The additional columns of Q are not determined: use mode='reduced'."
        raise errors.runtime_error(text, advice)


# --- the public functions --------------------------------------------------------------------


@autocast(name="qr")
def linalg_qr(A: Tensor, mode: str = "reduced", *, out: Out = None) -> Any:
    """The QR decomposition of matrices: A = Q R, Q^H Q = 1, R upper triangular.

    Args:
        A: (..., m, n), real or complex.
        mode: "reduced": Q (..., m, k) and R (..., k, n) with k the smaller of m and n;
            "complete": Q (..., m, m) and R (..., m, n); "r": R alone, Q is empty.

    The signs (phases) of the diagonal of R are the algorithm's choice (Householder's).

    Raises: RuntimeError for another `mode`.

    >>> Q, R = torch.linalg.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> torch.allclose(Q @ R, torch.tensor([[3.0, 1.0], [4.0, 2.0]])), R[1, 0]
    (True, tensor(0.))
    """
    check_float_matrix("linalg_qr", "linalg.qr", "geqrf_cpu", A=A)
    if not isinstance(mode, str):
        raise errors.must_be("linalg_qr", "mode", 2, "str", mode)
    if mode not in ("reduced", "complete", "r"):
        raise errors.runtime_error(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'",
            "Choose one of these.",
        )
    found = return_types.linalg_qr(orthogonal_triangular(A, mode=mode))
    return finish_exact("linalg_qr", found, out)


@autocast
def qr(input: Tensor, some: bool = True, *, out: Out = None) -> Any:
    """The QR decomposition of matrices, a pair (Q, R); see torch.linalg.qr.

    `some`: the reduced one, Q (..., m, k) and R (..., k, n) with k the smaller of m and n.

    Shapes: (..., m, n) to (..., m, k) and (..., k, n), with k = min(m, n), or m without `some`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.qr(torch.ones(3, 2)).R.shape
    torch.Size([2, 2])
    """
    check_tensors("qr", input=input)
    say_once("qr")
    check_float_matrix("qr", "linalg.qr", "geqrf_cpu", input=input)
    mode = "reduced" if some else "complete"
    return finish_exact("qr", return_types.qr(orthogonal_triangular(input, mode=mode)), out)
