"""Losses with a margin, with PyTorch's arguments."""

from __future__ import annotations

from collections.abc import Callable

from tapegrad.core.argument_check import takes_tensors
from tapegrad.core.errors import index_error, runtime_error, value_error
from tapegrad.operators.nn.loss import margin as _margin
from tapegrad.operators.nn.loss import multi_margin
from tapegrad.operators.nn.loss.mse_l1 import check_reduction, legacy_reduction
from tapegrad.operators.pointwise.silu_mish_softplus import log_sigmoid
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


@takes_tensors
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `log(1 + exp(-y * x))` for targets 1 and -1.

    Shapes: input and target alike.

    >>> torch.nn.functional.soft_margin_loss(torch.zeros(1), torch.ones(1))
    tensor(0.6931)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return _margin.soft_margin_loss(input, target, reduction)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `max(0, -y * (x1 - x2) + margin)`: y = 1 wants x1 the larger, y = -1 x2.

    Shapes: the three broadcast to each other.

    >>> x1, x2 = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 0.0])
    >>> torch.nn.functional.margin_ranking_loss(x1, x2, torch.ones(2), reduction="none")
    tensor([2., 0.])
    """
    reduction = check_reduction(legacy_reduction(size_average, reduce, reduction))
    if not input1.ndim == input2.ndim == target.ndim:
        raise runtime_error(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} ",
            "Bring them to as many dimensions, for example with unsqueeze().",
        )
    return _margin.margin_ranking(input1, input2, target, margin, reduction)


@takes_tensors
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `x` where the target is 1, of `max(0, margin - x)` where it is -1.

    Shapes: input and target alike; x is a distance, such as `|x1 - x2|`.

    >>> x, y = torch.tensor([0.5, 0.25]), torch.tensor([1.0, -1.0])
    >>> torch.nn.functional.hinge_embedding_loss(x, y, reduction="none")
    tensor([0.5000, 0.7500])
    """
    reduction = check_reduction(legacy_reduction(size_average, reduce, reduction))
    return _margin.hinge_embedding(input, target, margin, reduction)


@takes_tensors
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `1 - cos` for targets 1, of `max(0, cos - margin)` for targets -1.

    Shapes: input1 and input2 (N, D), target (N); or (D), (D), ().

    >>> x, y = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> torch.nn.functional.cosine_embedding_loss(x, y, torch.ones(1))
    tensor(1.)
    """
    reduction = check_reduction(legacy_reduction(size_average, reduce, reduction))
    return _margin.cosine_embedding(input1, input2, target, margin, reduction)


@takes_tensors
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `max(0, d(anchor, positive) - d(anchor, negative) + margin)`.

    d is `pairwise_distance` of order p. With `swap` the positive one may stand for the anchor in
    the second distance, if that is nearer.

    Source: Balntas et al., "Learning local feature descriptors with triplets", 2016.

    >>> a, b = torch.zeros(1, 2), torch.ones(1, 2)
    >>> torch.nn.functional.triplet_margin_loss(a, a, b, margin=2.0)
    tensor(0.5858)
    """
    reduction = check_reduction(legacy_reduction(size_average, reduce, reduction))
    _check_margin(margin)
    return _margin.triplet_margin(anchor, positive, negative, margin, p, eps, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own: any function of two tensors.

    >>> a, b = torch.zeros(1, 2), torch.ones(1, 2)
    >>> loss = torch.nn.functional.triplet_margin_with_distance_loss
    >>> loss(a, b, b, distance_function=lambda x, y: (x - y).abs().amax(-1))
    tensor(1.)
    """
    check_reduction(reduction)
    _check_margin(margin)
    _margin.check_triple(anchor, positive, negative)
    distance = _margin.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return _margin.reduced(_margin.clamp_min(margin + near - far, 0), reduction)


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise value_error(
            f"margin must be greater than 0, got {margin}",
            "It is how much nearer the positive one has to be.",
        )


@takes_tensors
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `sum_j max(0, margin - x[y] + x[j])^p / C` over classes j other than y.

    Shapes: input (N, C), target (N), weight (C): the loss of a row counts weight[y] times.

    >>> x = torch.tensor([[1.0, 3.0, 2.5]])
    >>> torch.nn.functional.multi_margin_loss(x, torch.tensor([1]))
    tensor(0.1667)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return multi_margin.multi_margin_loss(input, target, p, margin, weight, reduction)


@takes_tensors
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `sum max(0, 1 - x[k] + x[j]) / C` over labels k and classes j that are none.

    Shapes: input and target (N, C). A row of the target lists its labels; -1 ends the list.

    >>> x, y = torch.tensor([[0.5, 2.0, 1.0]]), torch.tensor([[1, -1, 0]])
    >>> torch.nn.functional.multilabel_margin_loss(x, y)
    tensor(0.)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return multi_margin.multilabel_margin_loss(input, target, reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `-(y * log(s(x)) + (1 - y) * log(s(-x)))`, s the sigmoid, over all classes.

    Shapes: input and target (..., C), weight broadcasts to them.

    >>> torch.nn.functional.multilabel_soft_margin_loss(torch.zeros(2, 3), torch.ones(2, 3))
    tensor(0.6931)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    if input.ndim == 0:
        raise index_error(
            "Dimension specified as -1 but tensor has no dimensions",
            "The last dimension counts the classes.",
        )
    if reduction not in ("none", "mean", "sum"):
        raise value_error(f"{reduction} is not valid", "Use 'mean', 'sum' or 'none'.")
    return _margin.reduced(loss.sum(input.ndim - 1) / input.shape[-1], reduction)
