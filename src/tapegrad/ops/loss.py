"""Losses: numbers that say how far an input is from its target."""

from __future__ import annotations

import math
import warnings
from math import prod
from typing import Any

from tapegrad import errors
from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.op import primitive


def check_reduction(reduction: str) -> str:
    """`none`, `mean` or `sum`."""
    if reduction not in ("none", "mean", "sum"):
        raise errors.advised(
            ValueError(f"{reduction} is not a valid value for reduction"),
            "Use 'mean', 'sum' or 'none'.",
        )
    return reduction


def reduced(x: Any, reduction: str) -> Any:
    """A tensor of losses brought to one number, or left as it is."""
    if check_reduction(reduction) == "mean":
        return x.mean()
    return x.sum() if reduction == "sum" else x


def mean_or_sum(xp: Any, x: Any, reduction: str) -> Any:
    """An array of losses brought to one number, or left as it is."""
    if reduction == "none":
        return x
    total = xp.sum(x)
    return total if reduction == "sum" else total / (prod(x.shape) or math.nan)


def share(xp: Any, g: Any, like: Any, reduction: str) -> Any:
    """The cotangent of each element's loss."""
    n = prod(like.shape)
    return g / n if reduction == "mean" and n else g


def check_constant(function: str, argument: str, x: Any) -> None:
    """Raise where a derivative is asked for that is not defined."""
    if x.requires_grad and is_grad_enabled():
        raise errors.advised(
            RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{argument}'. This input cannot have requires_grad True."
            ),
            f"Pass {argument}.detach().",
        )


def check_alike(input: Any, weight: Any) -> None:
    """Raise unless a weight has the dtype of the input."""
    if weight.dtype is not input.dtype:
        raise errors.advised(
            RuntimeError(
                f"expected scalar type {input.dtype.scalar_name} but found "
                f"{weight.dtype.scalar_name}"
            ),
            f"Convert the weight: .to({input.dtype}).",
        )


# --- losses of pairs of equal shape ---


@primitive(node="MseLossBackward0")
def squared_error(xp, input, target, *, reduction):
    """(input - target)^2, summed or averaged."""
    d = input - target
    return mean_or_sum(xp, d * d, reduction)


def _squared_error_rule(xp, g, input, target, reduction):
    return (input - target) * (2 * share(xp, g, input, reduction))


squared_error.vjp(
    input=_squared_error_rule,
    target=lambda xp, g, input, target, reduction: _squared_error_rule(
        xp, g, target, input, reduction
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


@primitive(node="SmoothL1LossBackward0")
def smooth_l1(xp, input, target, *, beta, reduction):
    """d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere, d = input - target."""
    d = xp.abs(input - target)
    return mean_or_sum(xp, xp.where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), reduction)


def _smooth_l1_slope(xp, input, target, beta):
    d = input - target
    return xp.where(xp.abs(d) < beta, d / beta, xp.sign(d))


smooth_l1.vjp(
    input=lambda xp, g, input, target, beta, reduction: (
        _smooth_l1_slope(xp, input, target, beta) * share(xp, g, input, reduction)
    ),
    target=lambda xp, g, input, target, beta, reduction: (
        _smooth_l1_slope(xp, target, input, beta) * share(xp, g, input, reduction)
    ),
)
smooth_l1.jvp(
    input=lambda xp, t, input, target, beta, reduction: mean_or_sum(
        xp, _smooth_l1_slope(xp, input, target, beta) * t, reduction
    ),
    target=lambda xp, t, input, target, beta, reduction: mean_or_sum(
        xp, _smooth_l1_slope(xp, target, input, beta) * t, reduction
    ),
)


@primitive(node="HuberLossBackward0")
def huber(xp, input, target, *, delta, reduction):
    """d^2 / 2 where |d| <= delta, delta (|d| - delta / 2) elsewhere, d = input - target."""
    d = xp.abs(input - target)
    return mean_or_sum(xp, xp.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta)), reduction)


def _huber_slope(xp, input, target, delta):
    return xp.minimum(xp.maximum(input - target, -delta), delta)


huber.vjp(
    input=lambda xp, g, input, target, delta, reduction: (
        _huber_slope(xp, input, target, delta) * share(xp, g, input, reduction)
    ),
    target=lambda xp, g, input, target, delta, reduction: (
        _huber_slope(xp, target, input, delta) * share(xp, g, input, reduction)
    ),
)
huber.jvp(
    input=lambda xp, t, input, target, delta, reduction: mean_or_sum(
        xp, _huber_slope(xp, input, target, delta) * t, reduction
    ),
    target=lambda xp, t, input, target, delta, reduction: mean_or_sum(
        xp, _huber_slope(xp, target, input, delta) * t, reduction
    ),
)


@primitive(node="BinaryCrossEntropyBackward0")
def bernoulli_nll(xp, input, target, *, reduction):
    """-(target log(input) + (1 - target) log(1 - input)), logarithms not below -100."""
    loss = (target - 1) * xp.maximum(xp.log1p(-input), -100) - target * xp.maximum(
        xp.log(input), -100
    )
    return mean_or_sum(xp, loss, reduction)


def _bernoulli_slope(xp, input, target):
    return (input - target) / xp.maximum((1 - input) * input, 1e-12)


def _log_odds(xp, input):
    return xp.maximum(xp.log1p(-input), -100) - xp.maximum(xp.log(input), -100)


bernoulli_nll.vjp(
    input=lambda xp, g, input, target, reduction: (
        _bernoulli_slope(xp, input, target) * share(xp, g, input, reduction)
    ),
    target=lambda xp, g, input, reduction: _log_odds(xp, input) * share(xp, g, input, reduction),
)
bernoulli_nll.jvp(
    input=lambda xp, t, input, target, reduction: mean_or_sum(
        xp, _bernoulli_slope(xp, input, target) * t, reduction
    ),
    target=lambda xp, t, input, reduction: mean_or_sum(xp, _log_odds(xp, input) * t, reduction),
)


# --- the public functions ---


def _pair(name: str, input: Any, target: Any) -> tuple:
    """Two operands of one shape and dtype, broadcast with PyTorch's warning where they differ."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            UserWarning,
            stacklevel=3,
        )
        from tapegrad import ops

        input, target = ops.broadcast_tensors(input, target)
    if input.dtype is not target.dtype:
        from tapegrad.promotion import result_type

        dtype = result_type(input, target)
        input, target = input.to(dtype), target.to(dtype)
    return input, target


def _weighted(loss: Any, weight: Any, reduction: str) -> Any:
    return reduced(loss if weight is None else loss * weight, reduction)


def mse_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """The mean of (input - target)^2.

    >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(2.)
    """
    input, target = _pair("mse_loss", input, target)
    check_reduction(reduction)
    if weight is None:
        return squared_error(input, target, reduction=reduction)
    loss = squared_error(input, target, reduction="none") * weight
    return loss.sum() / weight.sum() if reduction == "mean" else reduced(loss, reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """The mean of |input - target|.

    >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(1.)
    """
    input, target = _pair("l1_loss", input, target)
    check_reduction(reduction)
    loss = (input - target).abs()
    if weight is None:
        return reduced(loss, reduction)
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" else reduced(loss, reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """The mean of d^2 / (2 beta) where |d| < beta, of |d| - beta / 2 elsewhere.

    Source: Girshick, "Fast R-CNN", 2015, eq. 3 (beta = 1).

    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(0.7500)
    """
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _pair("smooth_l1_loss", input, target)
    if beta == 0:
        return l1_loss(input, target, reduction)
    return smooth_l1(input, target, beta=beta, reduction=check_reduction(reduction))


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """The mean of d^2 / 2 where |d| <= delta, of delta (|d| - delta / 2) elsewhere.

    Source: Huber, "Robust Estimation of a Location Parameter", 1964.

    >>> torch.nn.functional.huber_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(0.7500)
    """
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    input, target = _pair("huber_loss", input, target)
    check_reduction(reduction)
    if weight is None:
        return huber(input, target, delta=delta, reduction=reduction)
    loss = huber(input, target, delta=delta, reduction="none") * weight
    return loss.sum() / weight.sum() if reduction == "mean" else reduced(loss, reduction)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """The mean of -(target log(input) + (1 - target) log(1 - input)) for probabilities `input`.

    >>> loss = torch.nn.functional.binary_cross_entropy
    >>> loss(torch.tensor([0.5, 0.5]), torch.tensor([0.0, 1.0]))
    tensor(0.6931)
    """
    if input.shape != target.shape:
        raise errors.advised(
            ValueError(
                f"Using a target size ({target.shape}) that is different to the input size "
                f"({input.shape}) is deprecated. Please ensure they have the same size."
            ),
            "Reshape one of them: the loss pairs element with element.",
        )
    check_reduction(reduction)
    values = input.detach()
    if not bool(((values >= 0) & (values <= 1)).all()):
        raise errors.advised(
            RuntimeError("all elements of input should be between 0 and 1"),
            "Apply sigmoid() first, or use binary_cross_entropy_with_logits.",
        )
    if weight is None:
        return bernoulli_nll(input, target, reduction=reduction)
    return _weighted(bernoulli_nll(input, target, reduction="none"), weight, reduction)


@primitive(node="BinaryCrossEntropyWithLogitsBackward0")
def logistic_nll(xp, input, target, weight, pos_weight, *, reduction):
    """The loss of `bernoulli_nll` at sigmoid(input), from the logits themselves."""
    factor = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    softplus = xp.maximum(-input, 0) + xp.log1p(xp.exp(-xp.abs(input)))
    loss = (1 - target) * input + factor * softplus
    return mean_or_sum(xp, loss if weight is None else loss * weight, reduction)


def _logistic_slope(xp, input, target, weight, pos_weight):
    e = xp.exp(-xp.abs(input))
    s = xp.where(input >= 0, 1 / (1 + e), e / (1 + e))
    if pos_weight is None:
        slope = s - target
    else:
        slope = (pos_weight * target + (1 - target)) * s - pos_weight * target
    return slope if weight is None else slope * weight


def _logistic_target_slope(xp, input, weight, pos_weight):
    slope = -input
    if pos_weight is not None:
        softplus = xp.maximum(-input, 0) + xp.log1p(xp.exp(-xp.abs(input)))
        slope = slope + (pos_weight - 1) * softplus
    return slope if weight is None else slope * weight


logistic_nll.vjp(
    input=lambda xp, g, input, target, weight, pos_weight, reduction: (
        _logistic_slope(xp, input, target, weight, pos_weight) * share(xp, g, input, reduction)
    ),
    target=lambda xp, g, input, weight, pos_weight, reduction: (
        _logistic_target_slope(xp, input, weight, pos_weight) * share(xp, g, input, reduction)
    ),
)
logistic_nll.jvp(
    input=lambda xp, t, input, target, weight, pos_weight, reduction: mean_or_sum(
        xp, _logistic_slope(xp, input, target, weight, pos_weight) * t, reduction
    ),
    target=lambda xp, t, input, weight, pos_weight, reduction: mean_or_sum(
        xp, _logistic_target_slope(xp, input, weight, pos_weight) * t, reduction
    ),
)


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """Binary cross-entropy at sigmoid(input), computed without overflow.

    >>> loss = torch.nn.functional.binary_cross_entropy_with_logits
    >>> loss(torch.tensor([0.0, 0.0]), torch.tensor([0.0, 1.0]))
    tensor(0.6931)
    """
    if input.shape != target.shape:
        raise errors.advised(
            ValueError(
                f"Target size ({target.shape}) must be the same as input size ({input.shape})"
            ),
            "Reshape one of them: the loss pairs element with element.",
        )
    check_reduction(reduction)
    for name, x in (("weight", weight), ("pos_weight", pos_weight)):
        if x is not None and x.shape != input.shape:
            from tapegrad import ops

            expanded = ops.broadcast_to(x, input.shape)
            if name == "weight":
                weight = expanded
            else:
                pos_weight = expanded
    return logistic_nll(input, target, weight, pos_weight, reduction=reduction)
