"""Losses with a margin, as modules: what is on the right side of it, far enough, costs nothing."""

from __future__ import annotations

from collections.abc import Callable

from tapegrad.core.errors import value_error
from tapegrad.nn import functional as F
from tapegrad.nn.distance import PairwiseDistance
from tapegrad.nn.loss import Loss, WeightedLoss
from tapegrad.tensors.tensor import Tensor


class SoftMarginLoss(Loss):
    """Scores on the wrong side of 0: `log(1 + exp(-y * x))` for targets 1 and -1.

    >>> torch.nn.SoftMarginLoss()(torch.zeros(1), torch.ones(1))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class _MarginLoss(Loss):
    """A loss whose first argument is its margin."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_MarginLoss):
    """Pairs in the wrong order: `max(0, -y * (x1 - x2) + margin)`; y = 1 wants x1 the larger.

    >>> x1, x2 = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 0.0])
    >>> torch.nn.MarginRankingLoss()(x1, x2, torch.ones(2))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class CosineEmbeddingLoss(_MarginLoss):
    """Angles: `1 - cos` for targets 1, `max(0, cos - margin)` for targets -1.

    Shapes: input1 and input2 (N, D), target (N); or (D), (D), ().

    >>> x, y = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> torch.nn.CosineEmbeddingLoss()(x, y, torch.ones(1))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class HingeEmbeddingLoss(_MarginLoss):
    """Distances: `x` for targets 1, `max(0, margin - x)` for targets -1.

    >>> x, y = torch.tensor([0.5, 0.25]), torch.tensor([1.0, -1.0])
    >>> torch.nn.HingeEmbeddingLoss(reduction="none")(x, y)
    tensor([0.5000, 0.7500])
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class TripletMarginLoss(Loss):
    """An anchor nearer to what is unlike it: `max(0, d(a, p) - d(a, n) + margin)`.

    Args:
        margin: how much nearer the positive one has to be
        p: order of the norm that is the distance
        eps: added to the differences
        swap: whether the positive one may stand for the anchor in the second distance

    Source: Balntas et al., "Learning local feature descriptors with triplets", 2016.

    >>> a, b = torch.zeros(1, 2), torch.ones(1, 2)
    >>> torch.nn.TripletMarginLoss(margin=2.0)(a, a, b)
    tensor(0.5858)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = _positive(type(self).__name__, margin)
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(Loss):
    """`TripletMarginLoss` with a distance of one's own: a module or any function of two tensors.

    >>> a, b = torch.zeros(1, 2), torch.ones(1, 2)
    >>> largest = lambda x, y: (x - y).abs().amax(-1)
    >>> torch.nn.TripletMarginWithDistanceLoss(distance_function=largest)(a, b, b)
    tensor(1.)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = _positive(type(self).__name__, margin)
        self.distance_function = distance_function or PairwiseDistance()
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


def _positive(name: str, margin: float) -> float:
    if margin <= 0:
        raise value_error(
            f"{name}: expected margin to be greater than 0, got {margin} instead",
            "It is how much nearer the positive one has to be.",
        )
    return margin


class MultiMarginLoss(WeightedLoss):
    """Scores too near to that of the right class: `sum_j max(0, margin - x[y] + x[j])^p / C`.

    Args:
        p: 1 or 2
        margin: how far the right class leads
        weight: (C,), one for each class

    Shapes: input (N, C), target (N); or (C), ().

    >>> torch.nn.MultiMarginLoss()(torch.tensor([[1.0, 3.0, 2.5]]), torch.tensor([1]))
    tensor(0.1667)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise value_error("only p == 1 and p == 2 supported", "p is 1 or 2.")
        if weight is not None and weight.ndim != 1:
            raise value_error(
                "MultiMarginLoss: expected weight to be None or 1D tensor, got "
                f"{weight.ndim}D instead",
                "One weight for each class.",
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class MultiLabelMarginLoss(Loss):
    """Scores too near to those of the labels: `sum max(0, 1 - x[k] + x[j]) / C`.

    Shapes: input and target (N, C). A row of the target lists its labels; -1 ends the list.

    >>> x, y = torch.tensor([[0.5, 2.0, 1.0]]), torch.tensor([[1, -1, 0]])
    >>> torch.nn.MultiLabelMarginLoss()(x, y)
    tensor(0.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(WeightedLoss):
    """Binary cross-entropy of each score, averaged over the classes and then over the rows.

    >>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(2, 3), torch.ones(2, 3))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )
