"""Losses with PyTorch's arguments: the operators, and the two arguments older than `reduction`."""

from __future__ import annotations

from tapegrad.operators.nn.loss import bce
from tapegrad.operators.nn.loss import mse_l1 as ops
from tapegrad.operators.nn.loss.kl_div import kl_div
from tapegrad.operators.nn.loss.mse_l1 import legacy_reduction
from tapegrad.operators.nn.loss.nll_cross_entropy import cross_entropy, nll_loss
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
]


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The mean of `(input - target)**2`.

    Shapes: input and target alike. With `weight`, of that shape, too, it is
    `sum(weight * (input - target)**2) / sum(weight)`.

    >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.zeros(2))
    tensor(2.5000)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return ops.mse_loss(input, target, reduction, weight)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The mean of `|input - target|`.

    Shapes: input and target alike. With `weight`, of that shape, too, it is
    `sum(weight * |input - target|) / sum(weight)`.

    >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.zeros(2))
    tensor(1.5000)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return ops.l1_loss(input, target, reduction, weight)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """The mean of `d**2 / (2 * beta)` where `d = |input - target| < beta`, else `d - beta / 2`.

    Shapes: input and target alike.

    Source: Girshick, Fast R-CNN, 2015, eq. 3 (beta = 1).

    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([0.5, 2.0]), torch.zeros(2))
    tensor(0.8125)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return ops.smooth_l1_loss(input, target, reduction, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """The mean of `d**2 / 2` where `d = |input - target| <= delta`, else `delta * (d - delta / 2)`.

    Shapes: input and target alike.

    Source: Huber, Robust estimation of a location parameter, 1964.

    >>> torch.nn.functional.huber_loss(torch.tensor([0.5, 2.0]), torch.zeros(2))
    tensor(0.8125)
    """
    return ops.huber_loss(input, target, reduction, delta, weight)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `-(y * log(x) + (1 - y) * log(1 - x))` for probabilities `x`.

    A logarithm counts as -100 where it is less. `weight` multiplies the losses before they are
    averaged.

    Shapes: input and target alike; weight broadcasts to them.

    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.ones(1))
    tensor(0.6931)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return bce.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The mean of `-(y * log(s(x)) + (1 - y) * log(1 - s(x)))`, s the sigmoid, for scores `x`.

    Without overflow: it is `max(x, 0) - x * y + log(1 + exp(-|x|))`. `pos_weight` multiplies the
    first term, `weight` the losses before they are averaged.

    Shapes: input and target alike; the weights broadcast to them.

    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.zeros(1), torch.ones(1))
    tensor(0.6931)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    loss = bce.binary_cross_entropy_with_logits
    return loss(input, target, weight, reduction, pos_weight)
