"""The logistic function, and logarithms of sums and products."""

import math

from tapegrad.arrays.kernel import fallback, kernel_of, tensor_kernel
from tapegrad.core.annotations import Any, Array, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors, two_operands
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import BOOL, COMPLEX, INTEGER, lacks, some_tensor
from tapegrad.operators.with_number import plus_number, times_number

__all__ = ["logaddexp", "logaddexp2", "logit", "logit_", "sigmoid", "sigmoid_", "xlogy", "xlogy_"]

LN2 = math.log(2)


@tensor_kernel
@vjp(x=lambda g, y: g * ((1 - y) * y))
@elementwise(promote="float")
def sigmoid(xp, x):
    """The logistic function `1 / (1 + exp(-x))`.

    >>> torch.sigmoid(torch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """
    return 1 / (1 + xp.exp(-x))  # exp may overflow: 1 / inf is the 0 it should be


_sigmoid_rule = sigmoid.op.vjps["x"].function


@vjp(
    grad=lambda g, result: _sigmoid_rule(g, result),  # linear in it
    result=lambda g, grad, result: g * (grad * (1 - 2 * result)),
)
@elementwise(name="sigmoid_backward", numbers=False)
def sigmoid_slope(xp, grad, result):
    """A cotangent of `sigmoid` brought to its argument: y (1 - y) times it."""
    return _sigmoid_rule(grad, result)


sigmoid_slope.recorded(
    grad=lambda g, result: sigmoid_slope(g, result),
    result=lambda g, grad, result: (
        g * grad * plus_number(times_number(result, number=-2), number=1)
    ),
)
sigmoid.recorded(x=lambda g, y: sigmoid_slope(g, y))


def logistic(xp: Namespace, x: Array) -> Any:
    """`sigmoid` within the rules of other operators, by the kernel where there is one."""
    return kernel_of(xp, "sigmoid")(x)


@fallback("sigmoid")
def _sigmoid(xp: Namespace, x: Array) -> Any:
    if xp.isdtype(x.dtype, "complex floating"):
        return 1 / (1 + xp.exp(-x))
    e = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1 / (1 + e), e / (1 + e))


def _clamped(xp: Namespace, x: Array, eps: float | None) -> Any:
    return x if eps is None else xp.where(x < eps, eps, xp.where(x > 1 - eps, 1 - eps, x))


def _log_odds_rule(xp: Namespace, g: Array, x: Array, eps: float | None) -> Any:
    slope = g / (x * (1 - x))
    free = eps is None or eps < 0
    low, high = (0.0, 1.0) if eps is None or free else (eps, 1 - eps)
    outside = math.nan if free else 0.0
    return xp.where(xp.logical_or(x < low, x > high), outside, slope)


@vjp(x=_log_odds_rule)
@elementwise(name="logit", promote="float", check=lacks("logit_cpu", COMPLEX))
def log_odds(xp, x, *, eps):
    """`log(x / (1 - x))`."""
    x = _clamped(xp, x, eps)
    return xp.log(x / (1 - x))


@require_tensors
def logit(input: Tensor, eps: float | None = None, *, out: Out = None) -> Any:
    """`log(x / (1 - x))`, the inverse of `sigmoid`, of elements kept `eps` away from 0 and 1.

    Shape: any, and that of the result.

    >>> torch.logit(torch.tensor([0.5, 0.8808]))
    tensor([0.0000, 2.0000])
    """
    return finish("logit", log_odds(input, eps=eps), out, input)


# --- of two operands -------------------------------------------------------------------------


@vjp(
    input=lambda xp, g, input, other: g / (1 + xp.exp(other - input)),
    other=lambda xp, g, input, other: g / (1 + xp.exp(input - other)),
)
@elementwise(promote="float", numbers=False, check=lacks("logaddexp_cpu", BOOL, INTEGER))
def logaddexp(xp, input, other):
    """`log(exp(a) + exp(b))`, computed without overflow.

    >>> torch.logaddexp(torch.tensor([0.0, 100.0]), torch.tensor([0.0, 100.0]))
    tensor([  0.6931, 100.6931])
    """
    if not xp.isdtype(input.dtype, "complex floating"):
        return xp.logaddexp(input, other)
    first = xp.real(input) >= xp.real(other)
    large, small = xp.where(first, input, other), xp.where(first, other, input)
    total = large + xp.log1p(xp.exp(small - large))
    # both are infinite: of -inf there is no sum, of inf one that may have an angle
    total = xp.where(xp.real(large) == -xp.inf, small, total)
    total = xp.where(xp.real(small) == xp.inf, xp.log(xp.exp(input) + xp.exp(other)), total)
    return xp.where(xp.isnan(input) | xp.isnan(other), xp.nan * (1 + 1j), total)


@vjp(
    input=lambda xp, g, input, other: g / (1 + xp.exp((other - input) * LN2)),
    other=lambda xp, g, input, other: g / (1 + xp.exp((input - other) * LN2)),
)
@elementwise(
    promote="float",
    numbers=False,
    ufunc="logaddexp2",
    check=lacks("logaddexp2_cpu", BOOL, INTEGER, COMPLEX),
)
def logaddexp2(xp, input, other):
    """`log2(2**a + 2**b)`, computed without overflow.

    >>> torch.logaddexp2(torch.tensor([0.0, 100.0]), torch.tensor([0.0, 100.0]))
    tensor([  1., 101.])
    """
    return xp.logaddexp(input * LN2, other * LN2) / LN2


def _x_log_y(xp: Namespace, x: Array, y: Array) -> Any:
    """`x log y`, 0 where `x` is 0 and `y` is a number."""
    return xp.where(xp.logical_and(x == 0, y == y), 0.0, x * xp.log(y))


def _log_where(xp: Namespace, g: Array, x: Array, y: Array) -> Any:
    return xp.where(xp.logical_and(x == 0, y <= 0), 0.0, g * xp.log(y))


_no_complex = lacks("xlogy_cpu", COMPLEX)


@vjp(
    input=lambda xp, g, input, other: _log_where(xp, g, input, other),
    other=lambda g, input, other: g * input / other,
)
@elementwise(name="xlogy", promote="float", check=_no_complex)
def x_log_y(xp, input, other):
    """`input * log(other)`."""
    return _x_log_y(xp, input, other)


@vjp(other=lambda g, other, number: g * number / other)
@elementwise(node="XlogyBackward1", promote="float", hidden=("number",), check=_no_complex)
def number_log_y(xp, other, number):
    """`number * log(other)`."""
    return _x_log_y(xp, xp.asarray(number, dtype=other.dtype), other)


def _x_log_number_rule(xp: Namespace, g: Array, input: Array, number: Any) -> Any:
    if number > 0:
        return g * math.log(float(number))
    log = -math.inf if number == 0 else math.nan
    return xp.where(input == 0, 0.0, g * log)


@vjp(input=_x_log_number_rule)
@elementwise(
    node="XlogyBackward2",
    promote="float",
    hidden=("number",),
    check=some_tensor("xlogy", _no_complex),
)
def x_log_number(xp, input, number):
    """`input * log(number)`."""
    return _x_log_y(xp, input, xp.asarray(number, dtype=input.dtype))


@two_operands()
def xlogy(input: Tensor, other: Scalar, *, out: Out = None) -> Any:
    """`input * log(other)`, and 0 where `input` is 0.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.xlogy(torch.tensor([0.0, 2.0]), torch.tensor([0.0, 2.7183]))
    tensor([0.0000, 2.0000])
    """
    by: Any = x_log_y
    operands: tuple = (input, other)
    if not hasattr(other, "_array"):
        by = x_log_number
    elif not hasattr(input, "_array"):
        by, operands = number_log_y, (other, input)
    return by.direct(*operands) if out is None else by(*operands, out=out)


sigmoid_, logit_, xlogy_ = in_place(sigmoid), in_place(logit), in_place(xlogy)
