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


def _softmax_change(xp, t, grad, result, axis):
    """How `softmax_back` changes with the result of the softmax."""
    by_grad = grad - xp.sum(grad * result, axis=axis, keepdims=True)
    return t * by_grad - result * xp.sum(grad * t, axis=axis, keepdims=True)


def _softmax_change_back(xp, g, grad, result, axis):
    by_grad = grad - xp.sum(grad * result, axis=axis, keepdims=True)
    return g * by_grad - grad * xp.sum(g * result, axis=axis, keepdims=True)


@jvp(grad=lambda xp, t, result, axis: _softmax_rule(xp, t, result, axis), result=_softmax_change)
@vjp(
    grad=lambda xp, g, result, axis: _softmax_rule(xp, g, result, axis), result=_softmax_change_back
)
@primitive(name="softmax_backward_data", node="SoftmaxBackwardDataBackward0", numbers=False)
def softmax_back(xp, grad, result, *, axis):
    """A cotangent of `softmax` brought to its argument."""
    return _softmax_rule(xp, grad, result, axis)


softmax_back.recorded(grad=lambda xp, g, result, axis: softmax_back(g, result, axis=axis))
softmax_along.recorded(x=lambda xp, g, y, axis: softmax_back(g, y, axis=axis))


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


def _log_softmax_change(xp, g, grad, result, axis):
    return -g * xp.exp(result) * xp.sum(grad, axis=axis, keepdims=True)


@jvp(
    grad=lambda xp, t, result, axis: _log_softmax_rule(xp, t, result, axis),
    result=lambda xp, t, grad, result, axis: _log_softmax_change(xp, t, grad, result, axis),
)
@vjp(
    grad=lambda xp, g, result, axis: g - xp.sum(xp.exp(result) * g, axis=axis, keepdims=True),
    result=_log_softmax_change,
)
@primitive(name="log_softmax_backward_data", node="LogSoftmaxBackwardDataBackward0", numbers=False)
def log_softmax_back(xp, grad, result, *, axis):
    """A cotangent of `log_softmax` brought to its argument."""
    return _log_softmax_rule(xp, grad, result, axis)


log_softmax_along.recorded(x=lambda xp, g, y, axis: log_softmax_back(g, y, axis=axis))


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
        if not input._array.size and not input.requires_grad:
            return input.new_empty(input.shape)  # no kernel is asked
        last = "_lastdim" if axis == max(input.ndim - 1, 0) else ""
        raise no_kernel(f"{name}{last}_kernel_impl", input.dtype)
    return operator(input, axis=axis if input._array.ndim else ())  # over no axis: of one number
