"""Losses with PyTorch's arguments: the operators, and the two arguments older than `reduction`."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tapegrad.arrays.namespaces import elements
from tapegrad.autograd.mode import no_grad
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.errors import index_error, must_be, runtime_error, value_error, warn
from tapegrad.core.overridable import overridable
from tapegrad.operators.creation.arange import arange
from tapegrad.operators.linalg.linear import linear
from tapegrad.operators.nn.loss import bce, multi_margin, poisson_nll
from tapegrad.operators.nn.loss import margin as margins
from tapegrad.operators.nn.loss import mse_l1 as ops
from tapegrad.operators.nn.loss.ctc import alignment
from tapegrad.operators.nn.loss.kl_div import kl_div
from tapegrad.operators.nn.loss.linear_cross_entropy import chunked_cross_entropy
from tapegrad.operators.nn.loss.mse_l1 import check_reduction, legacy_reduction, reduced
from tapegrad.operators.nn.loss.nll_cross_entropy import cross_entropy, nll_loss
from tapegrad.operators.pointwise.silu_mish_softplus import log_sigmoid
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
    "cross_entropy", "ctc_loss", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss",
    "kl_div", "l1_loss", "linear_cross_entropy", "margin_ranking_loss", "mse_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss",
    "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


@overridable
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


@overridable
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


@overridable
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


@overridable
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


@overridable
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


@overridable
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


@require_tensors
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
    return margins.soft_margin_loss(input, target, reduction)


@overridable
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
    return margins.margin_ranking(input1, input2, target, margin, reduction)


@require_tensors
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
    return margins.hinge_embedding(input, target, margin, reduction)


@require_tensors
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
    return margins.cosine_embedding(input1, input2, target, margin, reduction)


@require_tensors
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

    Shapes: (..., D) each, which broadcast; the result is (), or without reduction (...).

    Source: Balntas et al., "Learning local feature descriptors with triplets", 2016.

    >>> a, b = torch.zeros(1, 2), torch.ones(1, 2)
    >>> torch.nn.functional.triplet_margin_loss(a, a, b, margin=2.0)
    tensor(0.5858)
    """
    reduction = check_reduction(legacy_reduction(size_average, reduce, reduction))
    _check_margin(margin)
    return margins.triplet_margin(anchor, positive, negative, margin, p, eps, swap, reduction)


@overridable
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

    Shapes: as the distance takes them; the result is (), or without reduction the distance's.

    >>> a, b = torch.zeros(1, 2), torch.ones(1, 2)
    >>> loss = torch.nn.functional.triplet_margin_with_distance_loss
    >>> loss(a, b, b, distance_function=lambda x, y: (x - y).abs().amax(-1))
    tensor(1.)
    """
    check_reduction(reduction)
    _check_margin(margin)
    margins.check_triple(anchor, positive, negative)
    distance = margins.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return margins.reduced(margins.clamp_min(margin + near - far, 0), reduction)


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise value_error(
            f"margin must be greater than 0, got {margin}",
            "It is how much nearer the positive one has to be.",
        )


@require_tensors
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


@require_tensors
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


@overridable
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
    return margins.reduced(loss.sum(input.ndim - 1) / input.shape[-1], reduction)


@overridable
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `(log(var) + (input - target)^2 / var) / 2`, `var` no less than eps.

    With `full` the constant `log(2 pi) / 2` is added. The gradient for `var` is as if eps did not
    limit it, as in PyTorch.

    Shapes: `var` has the input's, or that without the last dimension, or with one of size 1.

    Source: Nix and Weigend, "Estimating the mean and variance of the target probability
    distribution", 1994.

    >>> x = torch.tensor([0.0, 1.0])
    >>> torch.nn.functional.gaussian_nll_loss(x, torch.zeros(2), torch.ones(2))
    tensor(0.2500)
    """
    if isinstance(var, float):
        var = var * input.new_ones(input.shape)
    if not isinstance(var, Tensor):
        raise must_be("gaussian_nll_loss", "var", 3, "Tensor or float", var)
    if (elements(var._array) < 0).any():
        raise value_error("var has negative entry/entries", "A variance is positive.")
    if var.shape != input.shape:
        var = _variances(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise value_error(f"{reduction} is not valid", "Use 'mean', 'sum' or 'none'.")
    limited = var.clone()
    with no_grad():
        limited.clamp_(min=eps)
    loss = 0.5 * (limited.log() + (input - target) ** 2 / limited)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _variances(input: Tensor, var: Tensor) -> Tensor:
    """One variance for each row of the input, or what broadcasts along one dimension."""
    shape, have = tuple(input.shape), tuple(var.shape)
    if have == shape[:-1]:
        return var.unsqueeze(-1)
    apart = [n for n, m in zip(have, shape, strict=False) if n != m]
    if len(have) != len(shape) or apart != [1]:
        raise value_error(
            "var is of incorrect size",
            f"The input is {list(shape)}, var {list(have)}: one dimension of it may be 1.",
        )
    return var


@require_tensors
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `exp(x) - y * x` for logarithms x of expected counts, y the counts seen.

    With log_input=False, `x - y * log(x + eps)` for the expected counts themselves. With `full`
    Stirling's approximation of log(y!) is added where y > 1: `y log(y) - y + log(2 pi y) / 2`.

    Shapes: any that broadcast; the result is (), or without reduction the common one.

    >>> torch.nn.functional.poisson_nll_loss(torch.zeros(2), torch.tensor([0.0, 3.0]))
    tensor(1.)
    """
    reduction = check_reduction(legacy_reduction(size_average, reduce, reduction))
    return poisson_nll.poisson_nll(input, target, log_input, full, eps, reduction)


@require_tensors
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the logarithm of the probability of each target, wherever in time its labels are.

    The sum over all sequences of symbols that become the target when repeated symbols are joined
    and then blanks taken out. "mean" divides by the length of each target before averaging. A
    target that cannot be reached has the loss inf, or with zero_infinity 0 and no gradient.

    The gradient is the one along log-probabilities that stay normalised, as in PyTorch: right
    behind log_softmax.

    Shape: (), or without reduction that of the lengths.

    Args:
        log_probs: (T, N, C) or (T, C), the logarithms of probabilities (of log_softmax)
        targets: (N, L), or all labels one after the other; for one target (L)
        input_lengths: (N), how much of the time T counts
        target_lengths: (N), how many labels there are
        blank: the number of the symbol between labels

    Source: Graves et al., "Connectionist Temporal Classification", 2006.

    >>> logp = torch.full((2, 1, 2), 0.5).log()  # of the paths 11, 10, 01, 00 three say "1"
    >>> torch.nn.functional.ctc_loss(logp, torch.tensor([[1]]), (2,), (1,)).neg().exp()
    tensor(0.7500)
    """
    check_reduction(reduction)
    return alignment(
        log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity
    )


@dataclass(slots=True, eq=False)
class LinearCrossEntropyOptions:
    """How many rows of the batch `linear_cross_entropy` takes at a time.

    Args:
        allow_retain_graph: accepted; a graph can always be walked again here.
        batch_chunk_size: rows at a time; None to work it out.
        chunking_method: `"aspect_ratio:R"`, the scores of a piece have at most R times as many
            elements as the whole input; `"auto"` is R = 2; None takes the batch whole.
        acc_policy, acc_dtype: accepted; sums are in the dtype of the tensors, and for numbers of 16
            bits in float32.

    >>> torch.nn.LinearCrossEntropyOptions(batch_chunk_size=4).batch_chunk_size
    4
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        rows = self.batch_chunk_size
        if rows is not None and (type(rows) is not int or rows <= 0):
            raise value_error(
                f"batch_chunk_size must be positive int or None, got {rows}",
                "It is a number of rows.",
            )
        method = self.chunking_method
        if method not in (None, "auto") and _ratio(method) is None:
            raise value_error(
                f"invalid chunking_method: {method!r}",
                "Use 'auto', None, or 'aspect_ratio:R' with a whole number R.",
            )
        if self.acc_policy not in ("accurate", "balanced", "compact", "auto"):
            raise value_error(
                f"invalid acc_policy: {self.acc_policy!r}",
                "Use 'accurate', 'balanced', 'compact' or 'auto'.",
            )
        names = ("float16", "bfloat16", "float32", "float64")
        if self.acc_dtype is not None and getattr(self.acc_dtype, "name", None) not in names:
            raise value_error(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, "
                f"torch.float64}}, got {self.acc_dtype!r}. Pass acc_dtype=None to let the op pick "
                "automatically.",
                "Pass a dtype, such as torch.float32.",
            )


def rows_at_a_time(options: Any, n: int, in_features: int, n_classes: int) -> int:
    """How many of `n` rows the options let be taken at a time."""
    if options.batch_chunk_size is not None:
        return options.batch_chunk_size
    if options.chunking_method is None:
        return max(n, 1)
    ratio = 2 if options.chunking_method == "auto" else _ratio(options.chunking_method)
    return max(1, ratio * n * in_features // max(n_classes, 1))  # type: ignore[operator]


def _ratio(method: Any) -> int | None:
    """The R of "aspect_ratio:R"; None for anything else."""
    if not isinstance(method, str) or not method.startswith("aspect_ratio:"):
        return None
    text = method.removeprefix("aspect_ratio:")
    return int(text) if text.isdecimal() and int(text) > 0 else None


def _check(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    n = input.dim()
    if n not in (1, 2):
        raise runtime_error(
            f"expected input with dimensionality 1 or 2, got {n}",
            "The input is (N, in_features) or (in_features).",
        )
    if weight.dim() < 2:
        raise runtime_error(
            f"expected linear_weight with dimensionality at least 2, got {weight.dim()}",
            "The weight is (C, in_features).",
        )
    if input.shape[-1] != weight.shape[-1]:
        raise runtime_error(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively",
            "The last dimensions are multiplied.",
        )
    if n == 1 and weight.dim() > 2:
        raise runtime_error(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires "
            f"batched input, (N, {weight.shape[-1]}), got unbatched input with shape "
            f"{_sizes(input.shape)}",
            "Give the input a first dimension: input.unsqueeze(0).",
        )
    want = tuple(weight.shape[:-1])
    if bias is not None and tuple(bias.shape) != want:
        raise runtime_error(
            f"expected linear_bias shape {_sizes(want)}, got {_sizes(bias.shape)}",
            "There is one bias for each row of the weight.",
        )


def _sizes(shape: Any) -> str:
    return str(tuple(shape))


@overridable
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target)`.

    input is (N, D), linear_weight (C, D) or (C, d1, ..., D), target classes (N, d1, ...) or
    probabilities in the scores' shape. With `options` (`nn.LinearCrossEntropyOptions`) the scores
    are made and forgotten a few rows at a time, in the backward pass again, so that (N, C) of them
    never exist at once; derivatives of derivatives and forward mode work there, too.

    Shape: (), or without reduction that of the classes, (N, d1, ...).
    Raises: RuntimeError for `ignore_index` with probabilities.

    >>> x, w = torch.eye(2), torch.eye(2)
    >>> torch.nn.functional.linear_cross_entropy(x, w, torch.tensor([0, 1]))
    tensor(0.3133)
    """
    _check(input, linear_weight, linear_bias)
    outer = tuple(linear_weight.shape[1:-1])
    if ignore_index is not None and target.dtype.is_floating_point:
        raise runtime_error(
            "ignore_index cannot be specified when target contains probabilities",
            "Leave ignore_index away, or give class numbers.",
        )
    if options is not None:
        fits = (
            reduction in ("mean", "sum", "none")
            and label_smoothing == 0
            and target.dtype.name == "int64"
            and not outer
        )
        if fits and input.shape[0]:
            return _chunked(
                input, linear_weight, linear_bias, target, weight, reduction, ignore_index, options
            )
        if not fits:
            bias_shape = None if linear_bias is None else _sizes(linear_bias.shape)
            warn(
                "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in "
                "{'mean','sum','none'}, label_smoothing == 0, target.dtype == int64, out_features "
                f"== (). Got reduction={reduction!r}, label_smoothing={label_smoothing}, "
                f"target.dtype={target.dtype}, out_features={outer}, tracing=False, "
                f"linear_bias.shape={bias_shape}."
            )
    flat = linear_weight.reshape(-1, linear_weight.shape[-1])
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    scores = linear(input, flat, bias).view(*input.shape[:-1], *linear_weight.shape[:-1])
    return cross_entropy(
        scores,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def _chunked(
    input: Tensor,
    linear_weight: Tensor,
    linear_bias: Tensor | None,
    target: Tensor,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int | None,
    options: dict,
) -> Tensor:
    single = input.dim() == 1
    if single:
        input, target = input.unsqueeze(0), target.reshape(1)
    n, n_classes = input.shape[0], linear_weight.shape[0]
    if tuple(target.shape) != (n,):
        raise value_error(
            f"Expected input batch_size ({n}) to match target batch_size ({target.shape[0]}).",
            "There is one class for each row.",
        )
    if weight is not None and tuple(weight.shape) != (n_classes,):
        raise runtime_error(
            f"weight tensor should be defined either for all {n_classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}",
            "Give one weight for each class.",
        )
    left_out = -100 if ignore_index is None else ignore_index
    ignored = target == left_out
    labels = elements(target._array)  # of all members, inside vmap
    wrong = labels[((labels < 0) | (labels >= n_classes)) & (labels != left_out)]
    if wrong.size:
        raise index_error(
            f"Target {wrong[0]} is out of bounds.",
            f"Classes are numbered from 0 to {n_classes - 1}.",
        )
    safe = target.masked_fill(ignored, 0)
    scale = input.new_ones(n) if weight is None else weight.detach()[safe].to(input.dtype)
    scale = scale.masked_fill(ignored, 0.0)
    losses = chunked_cross_entropy(
        *(input, linear_weight, safe, scale, arange(n_classes, device=input.device)),
        *(() if linear_bias is None else (linear_bias,)),
        chunk=rows_at_a_time(options, n, input.shape[1], n_classes),
        wants_input=input.requires_grad,
    )
    if reduction == "none":
        return losses.squeeze(0) if single else losses
    return losses.sum() / scale.sum() if reduction == "mean" else losses.sum()
