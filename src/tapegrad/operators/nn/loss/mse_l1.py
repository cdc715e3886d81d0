"""Losses: numbers that say how far an input is from its target."""

import math
from math import prod

from tapegrad.arrays.kernel import fallback, kernel_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Namespace, Tensor
from tapegrad.core.argument_check import users_level
from tapegrad.core.promote_types import result_type
from tapegrad.core.result_order import in_operands_order
from tapegrad.core.scalar import float_of
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import floats_only


def check_reduction(reduction: str) -> str:
    """`none`, `mean` or `sum`."""
    if reduction not in ("none", "mean", "sum"):
        text = f"{reduction} is not a valid value for reduction"
        raise errors.value_error(text, "Use 'mean', 'sum' or 'none'.")
    return reduction


def legacy_reduction(size_average: Any, reduce: Any, reduction: str) -> str:
    """What the two older arguments mean, true or false; `reduction` where they are not given."""
    if size_average is None and reduce is None:
        return reduction
    whole = reduce is None or bool(reduce)
    mean = size_average is None or bool(size_average)
    reduction = "none" if not whole else "mean" if mean else "sum"
    errors.warn(
        "size_average and reduce args will be deprecated, please use "
        f"reduction='{reduction}' instead.",
        users_level(),
    )
    return reduction


def reduced(x: Tensor, reduction: str) -> Any:
    """A tensor of losses brought to one number, or left as it is."""
    if check_reduction(reduction) == "mean":
        return x.mean()
    return x.sum() if reduction == "sum" else x


def mean_or_sum(xp: Namespace, x: Array, reduction: str) -> Any:
    """An array of losses brought to one number, or left as it is."""
    if reduction == "none":
        return x
    total = xp.sum(x)
    return total if reduction == "sum" else total / (prod(x.shape) or math.nan)


def share(xp: Namespace, g: Array, like: Array, reduction: str) -> Any:
    """The cotangent of each element's loss."""
    n = prod(like.shape)
    return g / n if reduction == "mean" and n else g


@fallback("pointwise")
def _at_once(xp: Namespace, function: Callable, arrays: tuple) -> Any:
    return function(*arrays)


def pointwise(xp: Namespace, function: Callable, *arrays: Array) -> Any:
    """`function(*arrays)`, elementwise, by the kernel for large arrays where there is one."""
    return kernel_of(xp, "pointwise")(function, arrays)


def check_alike(input: Tensor, weight: Tensor) -> None:
    """Raise unless a weight has the dtype of the input."""
    if weight.dtype is not input.dtype:
        advice = f"Convert the weight: .to({input.dtype})."
        raise errors.wrong_dtype(input.dtype, weight.dtype, advice)


# --- losses of pairs of equal shape ---


@primitive(
    promote="arith", node="MseLossBackward0", check=floats_only("mse_cpu"), order=in_operands_order
)
def squared_error(xp, input, target, *, reduction):
    """(input - target)^2, summed or averaged."""
    d = input - target
    return mean_or_sum(xp, d * d, reduction)


squared_error.vjp(
    input=lambda xp, g, input, target, reduction: (
        (input - target) * (2 * share(xp, g, input, reduction))
    ),
    target=lambda xp, g, input, target, reduction: (
        (target - input) * (2 * share(xp, g, input, reduction))
    ),
)
squared_error.jvp(
    input=lambda xp, t, input, target, reduction: mean_or_sum(
        xp, 2 * (input - target) * t, reduction
    ),
    target=lambda xp, t, input, target, reduction: mean_or_sum(
        xp, 2 * (target - input) * t, reduction
    ),
)


@primitive(node="MseLossBackwardBackward0", numbers=False, registered=False)
def squared_error_back(xp, grad, input, target, *, reduction):
    """The gradient of `squared_error` with respect to `input`."""
    return (input - target) * (2 * share(xp, grad, input, reduction))


squared_error_back.vjp(
    grad=lambda xp, g, input, target, reduction: mean_or_sum(
        xp, g * 2 * (input - target), reduction
    ),
    input=lambda xp, g, grad, input_like, reduction: (
        g * (2 * share(xp, grad, input_like, reduction))
    ),
    target=lambda xp, g, grad, input_like, reduction: (
        g * (-2 * share(xp, grad, input_like, reduction))
    ),
)
squared_error_back.jvp(
    grad=lambda xp, t, input, target, reduction: (
        (input - target) * (2 * share(xp, t, input, reduction))
    ),
    input=lambda xp, t, grad, input_like, reduction: (
        t * (2 * share(xp, grad, input_like, reduction))
    ),
    target=lambda xp, t, grad, input_like, reduction: (
        t * (-2 * share(xp, grad, input_like, reduction))
    ),
)
squared_error.recorded(
    input=lambda xp, g, input, target, reduction: squared_error_back(
        g, input, target, reduction=reduction
    ),
    target=lambda xp, g, input, target, reduction: squared_error_back(
        g, target, input, reduction=reduction
    ),
)


@primitive(
    promote="arith",
    node="SmoothL1LossBackward0",
    check=floats_only("smooth_l1_cpu"),
    order=in_operands_order,
)
def smooth_l1(xp, input, target, *, beta, reduction):
    """d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere, d = input - target."""
    loss = pointwise(xp, lambda a, b: _bent(xp, xp.abs(a - b), beta), input, target)
    return mean_or_sum(xp, loss, reduction) / beta


def _bent(xp: Namespace, d: Array, knee: float) -> Any:
    """d^2 / 2 up to the knee, and straight on from there."""
    near = xp.minimum(d, knee)
    return (d - 0.5 * near) * near


def _limited(xp: Namespace, d: Array, limit: float) -> Any:
    return xp.minimum(xp.maximum(d, -limit), limit)


def _smooth_l1_pull(xp, g, input, target, beta, reduction):
    g = share(xp, g, input, reduction)
    return pointwise(xp, lambda a, b, g: _limited(xp, (a - b) / beta, 1) * g, input, target, g)


def _smooth_l1_push(xp, t, input, target, beta, reduction):
    return mean_or_sum(xp, _limited(xp, (input - target) / beta, 1) * t, reduction)


smooth_l1.vjp(
    input=_smooth_l1_pull,
    target=lambda xp, g, input, target, beta, reduction: _smooth_l1_pull(
        xp, g, target, input, beta, reduction
    ),
)
smooth_l1.jvp(
    input=_smooth_l1_push,
    target=lambda xp, t, input, target, beta, reduction: _smooth_l1_push(
        xp, t, target, input, beta, reduction
    ),
)


@primitive(
    promote="arith",
    node="HuberLossBackward0",
    check=floats_only("huber_cpu"),
    order=in_operands_order,
)
def huber(xp, input, target, *, delta, reduction):
    """d^2 / 2 where |d| <= delta, delta (|d| - delta / 2) elsewhere, d = input - target."""
    loss = pointwise(xp, lambda a, b: _bent(xp, xp.abs(a - b), delta), input, target)
    return mean_or_sum(xp, loss, reduction)


def _huber_pull(xp, g, input, target, delta, reduction):
    g = share(xp, g, input, reduction)
    return pointwise(xp, lambda a, b, g: _limited(xp, a - b, delta) * g, input, target, g)


def _huber_push(xp, t, input, target, delta, reduction):
    return mean_or_sum(xp, _limited(xp, input - target, delta) * t, reduction)


huber.vjp(
    input=_huber_pull,
    target=lambda xp, g, input, target, delta, reduction: _huber_pull(
        xp, g, target, input, delta, reduction
    ),
)
huber.jvp(
    input=_huber_push,
    target=lambda xp, t, input, target, delta, reduction: _huber_push(
        xp, t, target, input, delta, reduction
    ),
)


# --- the public functions ---


def _pair(input: Tensor, target: Tensor) -> tuple:
    """Two operands of one shape and dtype, broadcast with PyTorch's warning where they differ."""
    if input.shape != target.shape:
        errors.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            users_level(),
        )
        from tapegrad import operators

        input, target = operators.broadcast_tensors(input, target)
    if input.dtype is not target.dtype:
        dtype = result_type(input, target)
        input, target = input.to(dtype), target.to(dtype)
    return input, target


def _weighted(loss: Any, weight: Tensor, reduction: str) -> Any:
    if weight._array.shape != loss._array.shape:
        advice = f"They are {list(weight._array.shape)} and {list(loss._array.shape)}."
        raise errors.value_error("Weights and input must have the same size.", advice)
    if reduction not in ("none", "mean", "sum"):
        text = f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
        raise errors.value_error(text, "Name one of them.")
    return loss * weight


@autocast
def mse_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None
) -> Any:
    """The mean of (input - target)^2; with `weight`, weighted by it.

    >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(2.)
    """
    input, target = _pair(input, target)
    if weight is None:
        return squared_error(input, target, reduction=check_reduction(reduction))
    loss = _weighted((input - target) ** 2, weight, reduction)
    return loss.sum() / weight.sum() if reduction == "mean" else reduced(loss, reduction)


@autocast
def l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None
) -> Any:
    """The mean of |input - target|.

    >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(1.)
    """
    input, target = _pair(input, target)
    loss = (input - target).abs()
    if weight is None:
        return reduced(loss, reduction)
    loss = _weighted(loss, weight, reduction)
    return loss.sum() / weight.sum() if reduction == "mean" else reduced(loss, reduction)


@autocast
def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Any:
    """The mean of d^2 / (2 beta) where |d| < beta, of |d| - beta / 2 elsewhere.

    Source: Girshick, "Fast R-CNN", 2015, eq. 3 (beta = 1).

    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(0.7500)
    """
    if type(beta) is not float:
        beta = float_of("smooth_l1_loss", "beta", 4, beta)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _pair(input, target)
    if beta == 0:
        return l1_loss(input, target, reduction)
    return smooth_l1(input, target, beta=beta, reduction=check_reduction(reduction))


@autocast
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Any:
    """The mean of d^2 / 2 where |d| <= delta, of delta (|d| - delta / 2) elsewhere.

    Source: Huber, "Robust Estimation of a Location Parameter", 1964.

    >>> torch.nn.functional.huber_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(0.7500)
    """
    if type(delta) is not float:
        delta = float_of("huber_loss", "delta", 4, delta)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    dtype = input.dtype  # that of the result, as in PyTorch
    input, target = _pair(input, target)
    if weight is None:
        loss = huber(input, target, delta=delta, reduction=check_reduction(reduction))
        return loss if loss.dtype is dtype else loss.to(dtype)
    loss = huber(input, target, delta=delta, reduction="none")
    return reduced(_weighted(loss, weight, reduction), reduction)
