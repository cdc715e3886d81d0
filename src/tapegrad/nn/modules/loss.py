"""Losses, as modules: options first, then input and target."""

from math import prod

from tapegrad.core.annotations import Any, Callable, DeviceLike, DTypeLike, Sequence
from tapegrad.core.errors import deprecated, value_error
from tapegrad.core.missing import public_names
from tapegrad.nn import functional as F
from tapegrad.nn.modules.distance import PairwiseDistance
from tapegrad.nn.modules.linear import Linear
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import ClassOptions
from tapegrad.operators.nn.loss.mse_l1 import legacy_reduction
from tapegrad.tensors.tensor import Tensor


class _Loss(Module):
    """A loss that is averaged (`"mean"`), summed (`"sum"`) or neither (`"none"`)."""

    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = legacy_reduction(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
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


class _Reduced(ClassOptions, _Loss):
    """A loss of two tensors and nothing else: `class MSELoss(_Reduced, function=F.mse_loss)`."""

    __constants__ = ("reduction",)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._function(input, target, reduction=self.reduction)


class _WeightedReduced(ClassOptions, _WeightedLoss):
    """A loss of two tensors and weights."""

    __constants__ = ("reduction",)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._function(input, target, weight=self.weight, reduction=self.reduction)


class L1Loss(_Reduced, function=F.l1_loss):
    """Absolute difference: `|x - y|`.

    >>> torch.nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0]))
    tensor(1.5000)
    """


class MSELoss(_Reduced, function=F.mse_loss):
    """Squared difference: `(x - y)**2`.

    >>> torch.nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0]))
    tensor(2.5000)
    """


class SmoothL1Loss(_Loss):
    """Squared for differences below `beta`, absolute above, without a corner.

    `d**2 / (2 * beta)` where `d = |x - y| < beta`, else `d - beta / 2`.

    Source: Girshick, Fast R-CNN, 2015.

    >>> torch.nn.SmoothL1Loss()(torch.tensor([0.5, 2.0]), torch.tensor([0.0, 0.0]))
    tensor(0.8125)
    """

    __constants__ = ("reduction",)

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


class HuberLoss(_Loss):
    """Squared for differences up to `delta`, linear above: `delta` times `SmoothL1Loss(delta)`.

    Source: Huber, Robust estimation of a location parameter, 1964.

    >>> torch.nn.HuberLoss()(torch.tensor([0.5, 2.0]), torch.tensor([0.0, 0.0]))
    tensor(0.8125)
    """

    __constants__ = ("reduction", "delta")

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Negative log-likelihood of the right class: `-weight[y] * x[y]`, `x` log-probabilities.

    Args:
        weight: (C,), one for each class
        ignore_index: a target that does not count

    Shape: `x: (N, C, ...)` and `y: (N, ...)`, or `x: (C,)` and `y: ()`.

    >>> x = torch.tensor([[0.5, 0.25]]).log()
    >>> torch.nn.NLLLoss()(x, torch.tensor([1]))
    tensor(1.3863)
    """

    __constants__ = ("ignore_index", "reduction")

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
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
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
        deprecated(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in "
            "replacement and see https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more "
            "details."
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Negative log-likelihood of the right class, of scores: `log_softmax` and then `NLLLoss`.

    Args:
        weight: (C,), one for each class
        ignore_index: a target that does not count
        label_smoothing: how much of the target is spread evenly over all classes, 0 to 1

    Shape: `x: (N, C, ...)` and `y: (N, ...)` with classes, or `(N, C, ...)` with probabilities.

    >>> torch.nn.CrossEntropyLoss()(torch.zeros(2, 4), torch.tensor([3, 0]))
    tensor(1.3863)
    """

    __constants__ = ("ignore_index", "reduction", "label_smoothing")

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
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        options = {"reduction": self.reduction, "label_smoothing": self.label_smoothing}
        return F.cross_entropy(
            input, target, self.weight, ignore_index=self.ignore_index, **options
        )


class BCELoss(_WeightedReduced, function=F.binary_cross_entropy):
    """Binary cross-entropy of probabilities: `-(y * log(x) + (1 - y) * log(1 - x))`.

    The logarithms are not below -100, so that the loss stays finite.

    >>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """


class BCEWithLogitsLoss(_Loss):
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


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of targets from log-probabilities: `y * (log(y) - x)`.

    Args:
        reduction: `"batchmean"` divides by the number of rows, which is the mathematical mean
        log_target: whether the targets are logarithms, too

    >>> x = torch.tensor([[0.5, 0.5]]).log()
    >>> torch.nn.KLDivLoss(reduction="batchmean")(x, torch.tensor([[0.0, 1.0]]))
    tensor(0.6931)
    """

    __constants__ = ("reduction",)

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


class SoftMarginLoss(_Reduced, function=F.soft_margin_loss):
    """Scores on the wrong side of 0: `log(1 + exp(-y * x))` for targets 1 and -1.

    >>> torch.nn.SoftMarginLoss()(torch.zeros(1), torch.ones(1))
    tensor(0.6931)
    """


class _MarginLoss(_Loss):
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


class _PairLoss(ClassOptions, _MarginLoss):
    """A loss of pairs that a target tells how to take."""

    __constants__ = ("margin", "reduction")

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        options = {"margin": self.margin, "reduction": self.reduction}
        return self._function(input1, input2, target, **options)


class MarginRankingLoss(_PairLoss, function=F.margin_ranking_loss):
    """Pairs in the wrong order: `max(0, -y * (x1 - x2) + margin)`; y = 1 wants x1 the larger.

    >>> x1, x2 = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 0.0])
    >>> torch.nn.MarginRankingLoss()(x1, x2, torch.ones(2))
    tensor(1.)
    """


class CosineEmbeddingLoss(_PairLoss, function=F.cosine_embedding_loss):
    """Angles: `1 - cos` for targets 1, `max(0, cos - margin)` for targets -1.

    Shapes: input1 and input2 (N, D), target (N); or (D), (D), ().

    >>> x, y = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> torch.nn.CosineEmbeddingLoss()(x, y, torch.ones(1))
    tensor(1.)
    """


class HingeEmbeddingLoss(_MarginLoss):
    """Distances: `x` for targets 1, `max(0, margin - x)` for targets -1.

    >>> x, y = torch.tensor([0.5, 0.25]), torch.tensor([1.0, -1.0])
    >>> torch.nn.HingeEmbeddingLoss(reduction="none")(x, y)
    tensor([0.5000, 0.7500])
    """

    __constants__ = ("margin", "reduction")

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


class TripletMarginLoss(_Loss):
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

    __constants__ = ("margin", "p", "eps", "swap", "reduction")

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
        self.p, self.eps, self.swap = p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        options = self.margin, self.p, self.eps, self.swap
        return F.triplet_margin_loss(anchor, positive, negative, *options, reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with a distance of one's own: a module or any function of two tensors.

    >>> a, b = torch.zeros(1, 2), torch.ones(1, 2)
    >>> largest = lambda x, y: (x - y).abs().amax(-1)
    >>> torch.nn.TripletMarginWithDistanceLoss(distance_function=largest)(a, b, b)
    tensor(1.)
    """

    __constants__ = ("margin", "swap", "reduction")

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
            *(anchor, positive, negative),
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


class MultiMarginLoss(_WeightedLoss):
    """Scores too near to that of the right class: `sum_j max(0, margin - x[y] + x[j])^p / C`.

    Args:
        p: 1 or 2
        margin: how far the right class leads
        weight: (C,), one for each class

    Shapes: input (N, C), target (N); or (C), ().

    >>> torch.nn.MultiMarginLoss()(torch.tensor([[1.0, 3.0, 2.5]]), torch.tensor([1]))
    tensor(0.1667)
    """

    __constants__ = ("p", "margin", "reduction")

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
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        options = self.p, self.margin, self.weight
        return F.multi_margin_loss(input, target, *options, reduction=self.reduction)


class MultiLabelMarginLoss(_Reduced, function=F.multilabel_margin_loss):
    """Scores too near to those of the labels: `sum max(0, 1 - x[k] + x[j]) / C`.

    Shapes: input and target (N, C). A row of the target lists its labels; -1 ends the list.

    >>> x, y = torch.tensor([[0.5, 2.0, 1.0]]), torch.tensor([[1, -1, 0]])
    >>> torch.nn.MultiLabelMarginLoss()(x, y)
    tensor(0.)
    """


class MultiLabelSoftMarginLoss(_WeightedReduced, function=F.multilabel_soft_margin_loss):
    """Binary cross-entropy of each score, averaged over the classes and then over the rows.

    >>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(2, 3), torch.ones(2, 3))
    tensor(0.6931)
    """


class GaussianNLLLoss(_Loss):
    """Numbers from normal distributions: `(log(var) + (x - y)^2 / var) / 2`.

    Args:
        full: whether the constant `log(2 pi) / 2` counts
        eps: the least variance

    Source: Nix and Weigend, "Estimating the mean and variance of the target probability
    distribution", 1994.

    >>> torch.nn.GaussianNLLLoss()(torch.tensor([0.0, 1.0]), torch.zeros(2), torch.ones(2))
    tensor(0.2500)
    """

    __constants__ = ("full", "eps", "reduction")

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class PoissonNLLLoss(_Loss):
    """Counts from Poisson distributions: `exp(x) - y * x` for logarithms x of what is expected.

    Args:
        log_input: False if x is what is expected itself: `x - y * log(x + eps)`
        full: whether Stirling's approximation of log(y!) is added

    >>> torch.nn.PoissonNLLLoss()(torch.zeros(2), torch.tensor([0.0, 3.0]))
    tensor(1.)
    """

    __constants__ = ("log_input", "full", "eps", "reduction")

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        options = {"eps": self.eps, "reduction": self.reduction}
        return F.poisson_nll_loss(log_input, target, self.log_input, self.full, **options)


class CTCLoss(_Loss):
    """Sequences of labels, wherever in time they are: connectionist temporal classification.

    Args:
        blank: the number of the symbol between labels
        zero_infinity: whether targets that cannot be reached cost nothing, instead of inf

    Shapes: log_probs (T, N, C), targets (N, L) or one after the other, lengths (N).

    Source: Graves et al., "Connectionist Temporal Classification", 2006.

    >>> logp = torch.full((2, 1, 2), 0.5).log()  # of the paths 11, 10, 01, 00 three say "1"
    >>> torch.nn.CTCLoss()(logp, torch.tensor([[1]]), (2,), (1,)).neg().exp()
    tensor(0.7500)
    """

    __constants__ = ("blank", "reduction")

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        lengths = input_lengths, target_lengths
        options = self.blank, self.reduction, self.zero_infinity
        return F.ctc_loss(log_probs, targets, *lengths, *options)


class LinearCrossEntropyLoss(_WeightedLoss):
    """`CrossEntropyLoss` of the scores `linear(x)`, which with `options` never exist all at once.

    Args:
        in_features: length D of a row of the input
        num_classes: number of classes C
        out_features: sizes of further dimensions of scores and targets
        bias: whether the layer has a bias
        weight: (C,), one for each class
        ignore_index: a target that does not count
        label_smoothing: how much of the target is spread evenly over all classes, 0 to 1
        options: `LinearCrossEntropyOptions`, how many rows are taken at a time

    Shape: `x: (N, D)`, targets `(N, *out_features)`; the parameters are those of `self.linear`.

    >>> loss = torch.nn.LinearCrossEntropyLoss(3, 4)
    >>> loss(torch.zeros(2, 3), torch.tensor([3, 0])).detach()
    tensor(1.3863)
    """

    __constants__ = ("num_classes", "out_features", "reduction", "ignore_index", "label_smoothing")

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: Sequence[int] = (),
        bias: bool = False,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = tuple(out_features)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.options = options
        n_scores = num_classes * prod(self.out_features)
        self.linear = Linear(in_features, n_scores, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        scores = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.view(*scores, -1) if self.out_features else self.linear.weight,
            target,
            linear_bias=bias.view(scores) if bias is not None and self.out_features else bias,
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


__all__ = public_names(globals())
