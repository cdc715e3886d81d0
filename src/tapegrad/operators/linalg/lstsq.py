"""Least squares: the solution of overdetermined and underdetermined linear systems."""

import numpy as np

from tapegrad import return_types
from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.arrays.namespaces import elements
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.meta_array import MetaArray, nowhere
from tapegrad.core.result_order import row_major
from tapegrad.core.shape import broadcast
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.dispatch.per_sample import per_sample
from tapegrad.operators.linalg.decomposition import adjoint
from tapegrad.operators.linalg.matrix_check import check_tensors, finish_castable


def _solved(xp: Namespace, a: Array, b: Array, rcond: float, driver: str) -> Any:
    """P b, with P the pseudo-inverse of a."""
    return xp.least_squares(a, b, rcond, driver)[0]


def _has_residuals(shape: tuple, rank: Any, driver: str) -> bool:
    """Whether x is determined and leaves something."""
    m, n = shape[-2:]
    return m > n and (driver == "gels" or (driver != "gelsy" and bool((elements(rank) == n).all())))


def _pulled(xp: Namespace, g: Array, left: Array) -> Any:
    """What the residuals hand back to a X, with `left` = a X - b, and with the other sign to b."""
    return 0 if g.ndim == 1 and not g.shape[0] else 2 * left * xp.expand_dims(g, axis=-2)


def _gradient_of_a(xp, g_solution, g_residuals, a, b, solution, rcond, driver):
    """-Z X^H + (b - a X) (P Z)^H + P^H X (g - a^H Z)^H with Z = P^H g, P the pseudo-inverse of a.

    It is that of P, applied to b; see the pseudo-inverse. The residuals change with a X alone:
    X makes them least.
    """
    ah, left = adjoint(xp, a), a @ solution - b
    z = _solved(xp, ah, g_solution, rcond, driver)
    inside = _solved(xp, a, z, rcond, driver)
    outside = _solved(xp, ah, solution, rcond, driver)
    total = (_pulled(xp, g_residuals, left) - z) @ adjoint(xp, solution)
    total = total - left @ adjoint(xp, inside)
    return sum_to_shape(xp, total + outside @ adjoint(xp, g_solution - ah @ z), a.shape)


def _gradient_of_b(xp, g_solution, g_residuals, a, b, solution, rcond, driver):
    """P^H g, less what the residuals hand back."""
    z = _solved(xp, adjoint(xp, a), g_solution, rcond, driver)
    return sum_to_shape(xp, z - _pulled(xp, g_residuals, a @ solution - b), b.shape)


def _residual_tangents(xp: Namespace, left: Array, moved: Array, like: Array) -> Any:
    """Those of the sums of squares of `left`, which moves by `moved`."""
    if like.ndim == 1 and not like.shape[0]:
        return xp.zeros_like(like)
    return 2 * xp.sum(xp.real(xp.conj(left) * moved), axis=-2)


def _tangents_by_a(xp, t, a, b, solution, residuals, rcond, driver):
    """P (P^H t^H (b - a X) - t X) + (1 - P a) t^H P^H X, and of the residuals by t X."""
    ah, th, left = adjoint(xp, a), adjoint(xp, t), a @ solution - b
    outside = th @ _solved(xp, ah, solution, rcond, driver)
    inside = _solved(xp, ah, -th @ left, rcond, driver)
    moved = t @ solution
    found = outside + _solved(xp, a, inside - moved - a @ outside, rcond, driver)
    return found, _residual_tangents(xp, left, moved, residuals)


def _tangents_by_b(xp, t, a, b, solution, residuals, rcond, driver):
    moved = _residual_tangents(xp, a @ solution - b, -t, residuals)
    return _solved(xp, a, t, rcond, driver), moved


def _order(results: tuple, operands: list, params: dict) -> tuple:
    """X column by column, where there was room for B, which may have more rows."""
    x, (rows, columns) = results[0], operands[0].shape[-2:]
    make = nowhere if type(x) is MetaArray else np.empty
    room = make((*x.shape[:-2], x.shape[-1], max(rows, columns)), x.dtype)
    laid_out = room.mT[..., :columns, :]
    laid_out[...] = x
    return laid_out, *row_major(results[1:], operands)


@jvp(a=_tangents_by_a, b=_tangents_by_b)
@vjp(a=_gradient_of_a, b=_gradient_of_b)
@primitive(
    name="lstsq",
    node="LinalgLstsqBackward0",
    outputs=("solution", "residuals", "rank", "singular_values"),
    nondiff=("rank", "singular_values"),
    holomorphic=False,
    kernels=("least_squares",),
    order=_order,
)
def least_squares_solution(xp, a, b, *, rcond, driver):
    """X with |a X - b| least, and of those the shortest; what is left; rank and values of a."""
    x, rank, values = xp.least_squares(a, b, rcond, driver)
    if _has_residuals(a.shape, rank, driver):
        left = xp.abs(a @ x - b)
        return x, xp.sum(left * left, axis=-2), rank, values
    return x, xp.real(xp.reshape(x, (-1,))[:0]), rank, values


@tensor_kernel
def least_squares(a: Tensor, b: Tensor, rcond: float, driver: str) -> tuple:
    """The kernel on tensors, for derivatives of derivatives."""
    x, _, rank, values = least_squares_solution(a, b, rcond=rcond, driver=driver)
    return x, rank, values


# --- the public function ---------------------------------------------------------------------

_NAME = "torch.linalg.lstsq"
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@autocast
def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None, out: Out = None
) -> Any:
    """The least-squares solution X of A X = B: the X for which |A X - B| is least.

    Where several are, the one with the least |X|.

    Args:
        A: (..., m, n), real or complex.
        B: (..., m, k), or (..., m) for one right-hand side each.
        rcond: singular values up to rcond times the largest count as 0; eps * max(m, n) if None.
        driver: LAPACK's "gelsy" (the default), "gelsd", "gelss", or "gels" for full rank.

    Returns:
        (solution, residuals, rank, singular_values): (..., n, k) or (..., n); the squares of
        |A X - B| for each column where m > n, the rank is full and the driver is not gelsy, else
        empty; the ranks, empty with gels; the singular values with gelsd and gelss, else empty.

    >>> A = torch.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> torch.linalg.lstsq(A, torch.tensor([[1.0], [3.0], [5.0]])).solution
    tensor([[1.0000],
            [2.0000]])
    """
    _check(A, B, driver)
    by_rank = driver in ("gelsd", "gelss") and A._array.shape[-2] > A._array.shape[-1]
    found = (_answer_in_turn if by_rank else _answer)(A, B, rcond, driver)
    return finish_castable("linalg_lstsq", _NAME, found, out, *found._fields)


def _answer(A: Tensor, B: Tensor, rcond: float | None, driver: str | None) -> Any:
    """The same for arguments that fit."""
    from tapegrad.arrays.numpy.qr_lstsq import RankError

    x, y = A._array, B._array
    vector = y.ndim == 1 or (y.ndim == x.ndim - 1 and y.shape == x.shape[:-1])
    b = B.unsqueeze(-1) if vector else B
    axis = -1 if vector else -2
    if x.shape[-2] != y.shape[axis]:
        text = f"{_NAME}: input.size(-2) should match other.size({axis})"
        advice = f"The matrix has {x.shape[-2]} rows, the right-hand side {y.shape[axis]}."
        raise errors.runtime_error(text, advice)
    batch = broadcast(x.shape[:-2], y.shape[:-1] if y.ndim < x.ndim else y.shape[:-2])
    if b._array.ndim < x.ndim:
        b = b.expand(*batch, *b._array.shape[-2:])
    if rcond is None:
        rcond = float(np.finfo(x.dtype).eps) * max(x.shape[-2:])
    try:
        driver = driver or "gelsy"
        x, *others = least_squares_solution(A, b, rcond=float(rcond), driver=driver)
    except RankError as error:
        raise _rank_error(error, bool(batch)) from None
    found = (x.squeeze(-1) if vector else x, *others)
    return return_types.linalg_lstsq(found)


_answer_in_turn = per_sample(_answer, name="linalg_lstsq")  # the rank decides about residuals


def _check(A: Tensor, B: Tensor, driver: Any) -> None:
    check_tensors("linalg_lstsq", input=A, b=B)
    if driver is not None and not isinstance(driver, str):
        raise errors.must_be("linalg_lstsq", "driver", 0, "str", driver)
    if A._array.ndim < 2:
        advice = "Give a matrix (m, n), or a batch of matrices (..., m, n)."
        raise errors.runtime_error(f"{_NAME}: input must have at least 2 dimensions.", advice)
    if B._array.ndim < 1:
        text = f"{_NAME}: other must have at least 1 dimension."
        raise errors.runtime_error(text, "Give right-hand sides (m) or (..., m, k).")
    if A.dtype is not B.dtype:
        raise errors.runtime_error(
            f"{_NAME}: Expected input and other to have the same dtype, but got input's dtype "
            f"{A.dtype.scalar_name} and other's dtype {B.dtype.scalar_name}",
            f"Convert one of them: .to({A.dtype}).",
        )
    if not 0 <= A._array.ndim - B._array.ndim <= 1:
        raise errors.runtime_error(
            f"{_NAME}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            "other.dim()) <= 1",
            "Give each matrix of the batch its right-hand sides: (..., m) or (..., m, k).",
        )
    if driver is not None and driver not in _DRIVERS:
        text = f"{_NAME}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        raise errors.runtime_error(text, "Leave driver= away.")
    if A.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        text = "This function doesn't handle types other than float and double"
        raise errors.runtime_error(text, "Convert the tensors first: x.float().")
    if not np.isfinite(elements(A._array)).all():
        text = f"{_NAME}: input tensor should not contain infs or NaNs."
        raise errors.linalg_error(text, "Look for them with torch.isfinite(x).")


def _rank_error(error: Any, batched: bool) -> errors.LinAlgError:
    where = f"(Batch element {error.number}): " if batched else ""
    return errors.linalg_error(
        f"{_NAME}: {where}The least squares solution could not be computed because the input "
        f"matrix does not have full rank (error code: {error.info}).",
        "Another driver, such as gelsd, takes any rank.",
    )
