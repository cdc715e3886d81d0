"""Losses: how far outputs are from targets, as one number (or with `reduction="none"`, many)."""

from __future__ import annotations

from warnings import warn

from tapegrad.nn import functional as F
from tapegrad.nn.module import Module
from tapegrad.operators.nn.loss.mse_l1 import legacy_reduction
from tapegrad.tensors.tensor import Tensor


class Loss(Module):
    """A loss that is averaged (`"mean"`), summed (`"sum"`) or neither (`"none"`)."""

    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = legacy_reduction(size_average, reduce, reduction)


class WeightedLoss(Loss):
    """A loss with a weight for each class or element, which moves with the module."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(Loss):
    """Absolute difference: `|x - y|`.

    >>> torch.nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0]))
    tensor(1.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(Loss):
    """Squared difference: `(x - y)**2`.

    >>> torch.nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0]))
    tensor(2.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """Squared for differences below `beta`, absolute above, without a corner.

    `d**2 / (2 * beta)` where `d = |x - y| < beta`, else `d - beta / 2`.

    Source: Girshick, Fast R-CNN, 2015.

    >>> torch.nn.SmoothL1Loss()(torch.tensor([0.5, 2.0]), torch.tensor([0.0, 0.0]))
    tensor(0.8125)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Loss):
    """Squared for differences up to `delta`, linear above: `delta` times `SmoothL1Loss(delta)`.

    Source: Huber, Robust estimation of a location parameter, 1964.

    >>> torch.nn.HuberLoss()(torch.tensor([0.5, 2.0]), torch.tensor([0.0, 0.0]))
    tensor(0.8125)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(WeightedLoss):
    """Negative log-likelihood of the right class: `-weight[y] * x[y]`, `x` log-probabilities.

    Args:
        weight: (C,), one for each class
        ignore_index: a target that does not count

    Shape: `x: (N, C, ...)` and `y: (N, ...)`, or `x: (C,)` and `y: ()`.

    >>> x = torch.tensor([[0.5, 0.25]]).log()
    >>> torch.nn.NLLLoss()(x, torch.tensor([1]))
    tensor(1.3863)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """The old name of `NLLLoss`, which takes images as well. It warns.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     loss = torch.nn.NLLLoss2d()
    >>> isinstance(loss, torch.nn.NLLLoss)
    True
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in "
            "replacement and see https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more "
            "details.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(WeightedLoss):
    """Negative log-likelihood of the right class, of scores: `log_softmax` and then `NLLLoss`.

    Args:
        weight: (C,), one for each class
        ignore_index: a target that does not count
        label_smoothing: how much of the target is spread evenly over all classes, 0 to 1

    Shape: `x: (N, C, ...)` and `y: (N, ...)` with classes, or `(N, C, ...)` with probabilities.

    >>> torch.nn.CrossEntropyLoss()(torch.zeros(2, 4), torch.tensor([3, 0]))
    tensor(1.3863)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(WeightedLoss):
    """Binary cross-entropy of probabilities: `-(y * log(x) + (1 - y) * log(1 - x))`.

    The logarithms are not below -100, so that the loss stays finite.

    >>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(Loss):
    """Binary cross-entropy of scores: a sigmoid and `BCELoss` in one, without overflow.

    Args:
        weight: rescales the loss of each element
        pos_weight: rescales the loss of positive targets

    >>> torch.nn.BCEWithLogitsLoss()(torch.zeros(1), torch.ones(1))
    tensor(0.6931)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, weight=self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(Loss):
    """Kullback-Leibler divergence of targets from log-probabilities: `y * (log(y) - x)`.

    Args:
        reduction: `"batchmean"` divides by the number of rows, which is the mathematical mean
        log_target: whether the targets are logarithms, too

    >>> x = torch.tensor([[0.5, 0.5]]).log()
    >>> torch.nn.KLDivLoss(reduction="batchmean")(x, torch.tensor([[0.0, 1.0]]))
    tensor(0.6931)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)
