"""Determinants of matrices and their logarithms."""

from tapegrad import return_types
from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.linalg import matrix_check

__torch__ = "det logdet slogdet"


def _spread(xp: Namespace, g: Array) -> Any:
    """A number for each matrix, with axes for rows and columns."""
    return xp.expand_dims(xp.expand_dims(g, axis=-1), axis=-1)


@jvp(a=lambda xp, t, a: xp.sum(xp.cofactors(a) * t, axis=(-2, -1)))
@vjp(a=lambda xp, g, a: _spread(xp, g) * xp.cofactors(a))
@primitive(node="LinalgDetBackward0", kernels=("cofactors", "determinants"))
def determinant(xp, a):
    """The determinant of square matrices."""
    return xp.determinants(a)


@tensor_kernel
@jvp(a=lambda xp, t, a: xp.cofactor_change(a, t))
# the second derivative of the determinant is symmetric: one rule for both modes
@vjp(a=lambda xp, g, a: xp.cofactor_change(a, g))
@primitive(kernels=("cofactors", "cofactor_change"))
def cofactors(xp, a):
    """det(A) A^-T, the derivative of the determinant, also of singular matrices."""
    return xp.cofactors(a)


@tensor_kernel
def cofactor_change(a: Tensor, direction: Any) -> Any:
    """The kernel of that name for tensors; of a singular matrix it has no derivative."""
    from tapegrad.operators.linalg.inv import inv

    turned = inv(a).mT
    total = (turned * direction).sum((-2, -1), keepdim=True)
    change = total * turned - turned @ direction.mT @ turned
    return determinant(a).unsqueeze(-1).unsqueeze(-1) * change


def _turned_inverse(xp: Namespace, a: Array) -> Any:
    """A^-T; of a singular matrix infinite or nan, where the logarithm of the size is -inf."""
    return xp.matrix_transpose(xp.invert(a)[0])


def _log_vjp(xp, g_sign, g_logabsdet, a, sign):
    """(g_l - i Im(conj(g_s) s)) A^-H: the size changes by Re tr(A^-1 dA), the phase by Im."""
    if not xp.isdtype(a.dtype, "complex floating"):
        return _spread(xp, g_logabsdet) * _turned_inverse(xp, a)
    turn = xp.imag(xp.conj(g_sign) * sign)
    factor = xp.astype(g_logabsdet, a.dtype) - 1j * xp.astype(turn, a.dtype)
    return _spread(xp, factor) * xp.conj(_turned_inverse(xp, a))


def _log_jvp(xp, t, a, sign):
    change = xp.sum(_turned_inverse(xp, a) * t, axis=(-2, -1))  # the trace of A^-1 t
    if not xp.isdtype(a.dtype, "complex floating"):
        return xp.zeros_like(sign), change
    return sign * (1j * xp.astype(xp.imag(change), a.dtype)), xp.real(change)


@jvp(a=_log_jvp)
@vjp(a=_log_vjp)
@primitive(
    node="LinalgSlogdetBackward0",
    outputs=("sign", "logabsdet"),
    holomorphic=False,
    kernels=("invert",),
)
def log_determinant(xp, a):
    """Sign (of complex numbers: phase) and logarithm of the size of the determinant."""
    return tuple(xp.linalg.slogdet(xp.matrix_transpose(a)))


def _check(function: str, name: str, argument: str, a: Tensor) -> None:
    matrix_check.check_tensors(function, **{argument: a})
    matrix_check.check_square(name, a)
    matrix_check.check_floating(name, a, low_precision=name == "linalg.det")


@require_tensors
def linalg_det(A: Tensor, *, out: Out = None) -> Any:
    """The determinant of a square matrix, or of each of a batch.

    Its gradient is det(A) A^-H; of a singular matrix, the cofactors.

    Shape: (..., n, n) to (...).

    >>> torch.linalg.det(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(-2.)
    """
    _check("linalg_det", "linalg.det", "A", A)
    matrix_check.check_kernel("lu_cpu", A)
    return finish("linalg_det", determinant(A), out)


@require_tensors
def det(input: Tensor) -> Any:
    """The determinant of a square matrix, or of each of a batch: as `torch.linalg.det`.

    Shape: (..., n, n) to (...).

    >>> torch.det(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(-2.)
    """
    _check("det", "linalg.det", "input", input)
    matrix_check.check_kernel("lu_cpu", input)
    return determinant(input)


@require_tensors
def linalg_slogdet(A: Tensor, *, out: Out = None) -> Any:
    """Sign and logarithm of the absolute determinant: det(A) = sign * exp(logabsdet).

    It does not overflow where the determinant would. Of complex matrices the sign is a number on
    the unit circle.

    Shapes: (..., n, n) to (...) and (...).

    >>> torch.linalg.slogdet(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    torch.return_types.linalg_slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(0.))
    """
    _check("linalg_slogdet", "linalg.slogdet", "A", A)
    pair = return_types.linalg_slogdet(log_determinant(A))
    return matrix_check.finish_exact("linalg_slogdet", pair, out)


@require_tensors
def slogdet(input: Tensor, *, out: Out = None) -> Any:
    """Sign and logarithm of the absolute determinant: as `torch.linalg.slogdet`.

    Shapes: (..., n, n) to (...) and (...).

    >>> torch.slogdet(torch.eye(2)).logabsdet
    tensor(0.)
    """
    _check("slogdet", "linalg.slogdet", "input", input)
    return matrix_check.finish_exact("slogdet", return_types.slogdet(log_determinant(input)), out)


@require_tensors
def logdet(input: Tensor) -> Any:
    """The logarithm of the determinant: -inf where it is 0, nan where it is negative.

    Shape: (..., n, n) to (...).

    >>> torch.logdet(torch.eye(3))
    tensor(0.)
    """
    _check("logdet", "logdet", "input", input)
    sign, size = log_determinant(input)
    if input.dtype.is_complex:
        return sign.log() + size
    from tapegrad.operators.pointwise.where_clamp import where

    return where(sign == -1, float("nan"), size)
