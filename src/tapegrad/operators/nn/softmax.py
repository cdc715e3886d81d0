"""Softmax and its logarithm: rules of their own, for memory and for numerics."""

from tapegrad.arrays.kernel import fallback, kernel_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, DTypeLike, OperatorLike, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import no_kernel

__all__ = ["log_softmax", "softmax"]


@fallback("softmax_along")
def _softmax(xp, x, axis):
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


@fallback("softmax_back")
def _softmax_back(xp, g, y, axis):
    product = g * y
    return product - y * xp.sum(product, axis=axis, keepdims=True)


def _softmax_rule(xp, g, y, axis):
    return kernel_of(xp, "softmax_back")(g, y, axis)


@jvp(x=lambda xp, t, y, axis: _softmax_rule(xp, t, y, axis))  # symmetric Jacobian
@vjp(x=_softmax_rule)
@primitive(promote="arith", node="SoftmaxBackward0")
def softmax_along(xp, x, *, axis):
    """exp(x) / sum(exp(x)) along `axis`."""
    return kernel_of(xp, "softmax_along")(x, axis) if 0 not in x.shape else xp.zeros_like(x)


@fallback("log_softmax_along")
def _log_softmax(xp, x, axis):
    shifted = x - xp.max(x, axis=axis, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))


@fallback("log_softmax_back")
def _log_softmax_back(xp, g, y, axis):
    return g - xp.exp(y) * xp.sum(g, axis=axis, keepdims=True)


def _log_softmax_rule(xp, g, y, axis):
    return kernel_of(xp, "log_softmax_back")(g, y, axis)


@jvp(x=lambda xp, t, y, axis: t - xp.sum(xp.exp(y) * t, axis=axis, keepdims=True))
@vjp(x=_log_softmax_rule)
@primitive(promote="arith", node="LogSoftmaxBackward0")
def log_softmax_along(xp, x, *, axis):
    """x - log(sum(exp(x))) along `axis`."""
    return kernel_of(xp, "log_softmax_along")(x, axis) if 0 not in x.shape else xp.zeros_like(x)


@require_tensors
def softmax(input: Tensor, dim: int, *, dtype: DTypeLike = None, out: Out = None) -> Any:
    """exp(x) / sum(exp(x)) along `dim`: positive numbers that sum to 1.

    Shape: any, and that of the result.

    >>> torch.softmax(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([0.0900, 0.2447, 0.6652])
    """
    return finish("softmax", _along("softmax", softmax_along, input, dim, dtype), out)


@require_tensors
def log_softmax(input: Tensor, dim: int, *, dtype: DTypeLike = None, out: Out = None) -> Any:
    """The logarithm of softmax along `dim`, without overflow.

    Shape: any, and that of the result.

    >>> torch.log_softmax(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([-2.4076, -1.4076, -0.4076])
    """
    return finish("log_softmax", _along("log_softmax", log_softmax_along, input, dim, dtype), out)


def _along(name: str, operator: OperatorLike, input: Tensor, dim: int, dtype: DTypeLike) -> Any:
    errors.need_tensors(name, input=input)
    if dtype is not None:
        input = input.to(dtype)
    axis = axis_of(dim, input.ndim)
    if not input.dtype.is_floating_point:
        last = "_lastdim" if axis == max(input.ndim - 1, 0) else ""
        raise no_kernel(f"{name}{last}_kernel_impl", input.dtype)
    return operator(input, axis=axis if input._array.ndim else ())  # over no axis: of one number
