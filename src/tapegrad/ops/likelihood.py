"""Losses of class probabilities: negative log-likelihood, cross-entropy, divergence."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

from tapegrad import errors
from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.dtype import int64, uint8
from tapegrad.op import primitive
from tapegrad.ops.logits import log_softmax
from tapegrad.ops.loss import check_reduction, reduced


@primitive(kernels=("pick", "unpick"))
def pick_class(xp, x, target):
    """x[i, target[i, ...], ...] for x (N, C, ...) and target (N, ...)."""
    return xp.pick(x, target)


pick_class.vjp(x=lambda xp, g, x_like, target: xp.unpick(g, target, x_like.shape))
pick_class.jvp(x=lambda xp, t, target: xp.pick(t, target))


@primitive(kernels=("pick", "unpick"))
def unpick_class(xp, x, target, *, shape):
    """Zeros of `shape` (N, C, ...) with x (N, ...) at the places that `pick_class` reads."""
    return xp.unpick(x, target, shape)


unpick_class.vjp(x=lambda xp, g, target: xp.pick(g, target))
unpick_class.jvp(x=lambda xp, t, target, shape: xp.unpick(t, target, shape))


@primitive(node="NllLossBackward0", kernels=("pick", "unpick"))
def pick_classes(xp, x, target, weight, *, ignore_index, reduction):
    """-weight[target] * x[i, target[i]] for log-probabilities x (N, C, ...), target (N, ...).

    `ignore_index` is None where no target has it.
    """
    loss, total = _losses(xp, x, target, weight, ignore_index)
    if reduction == "none":
        return loss
    return xp.sum(loss) if reduction == "sum" else xp.sum(loss) / total


def _weights(xp, target, weight, ignore_index, dtype):
    """For each target its weight, 0 for those to be ignored; and the targets made safe."""
    used = target != ignore_index
    safe = xp.where(used, target, 0)
    if weight is None:
        return xp.astype(used, dtype), safe
    return xp.where(used, xp.reshape(xp.take(weight, xp.reshape(safe, (-1,))), safe.shape), 0), safe


def _losses(xp, x, target, weight, ignore_index):
    if weight is None and ignore_index is None:
        return -xp.pick(x, target), prod(target.shape)
    w, safe = _weights(xp, target, weight, ignore_index, x.dtype)
    return xp.where(w == 0, 0, -xp.pick(x, safe) * w), xp.sum(w)


def _pick_rule(xp, g, x_like, target, weight, ignore_index, reduction):
    if weight is None and ignore_index is None:
        share = -g / prod(target.shape) if reduction == "mean" else -g
        return xp.unpick(xp.broadcast_to(share, target.shape), target, x_like.shape)
    w, safe = _weights(xp, target, weight, ignore_index, x_like.dtype)
    if reduction == "mean":
        g = g / xp.sum(w)
    # where everything is ignored the mean is nan, but its gradient 0
    return xp.unpick(xp.where(w == 0, 0, -g * w), safe, x_like.shape)


pick_classes.vjp(x=_pick_rule)
pick_classes.jvp(
    x=lambda xp, t, target, weight, ignore_index, reduction: pick_classes.op.forward(
        xp, t, target, weight, ignore_index=ignore_index, reduction=reduction
    )
)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The mean of -input[i, target[i]] for log-probabilities (N, C, ...) and classes (N, ...).

    >>> x = torch.log_softmax(torch.zeros(2, 4), 1)
    >>> torch.nn.functional.nll_loss(x, torch.tensor([0, 3]))
    tensor(1.3863)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    ignored = _check_classes(input, target, ignore_index)
    return _nll(input, target, weight, ignored, check_reduction(reduction))


def _nll(input: Any, target: Any, weight: Any, ignored: int | None, reduction: str) -> Any:
    if weight is not None and weight.requires_grad and is_grad_enabled():
        raise errors.advised(
            RuntimeError(
                "The function 'nll_loss_forward' is not differentiable with respect to argument "
                "'weight'. This input cannot have requires_grad True."
            ),
            "Pass weight.detach().",
        )
    if input._array.ndim > 1:
        return pick_classes(input, target, weight, ignore_index=ignored, reduction=reduction)
    result = pick_classes(
        input.unsqueeze(0), target.reshape(1), weight, ignore_index=ignored, reduction=reduction
    )
    return result.squeeze(0) if reduction == "none" else result


def legacy_reduction(size_average: Any, reduce: Any, reduction: str) -> str:
    """What the two older arguments mean; `reduction` where they are not given."""
    if size_average is None and reduce is None:
        return reduction
    reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        "size_average and reduce args will be deprecated, please use "
        f"reduction='{reduction}' instead.",
        UserWarning,
        stacklevel=3,
    )
    return reduction


def _check_classes(input: Any, target: Any, ignore_index: int) -> int | None:
    """Raise unless the targets are classes of the input; returns what to ignore if any has it."""
    if target.dtype is not int64 and target.dtype is not uint8:
        raise errors.advised(
            RuntimeError(
                f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}"
            ),
            "Class numbers are integers: target.long().",
        )
    shape, rows = input._array.shape, target._array.shape
    if not shape:
        raise ValueError(f"Expected 1 or more dimensions (got {len(shape)})")
    if len(shape) > 1 and shape[0] != rows[0]:
        raise errors.advised(
            ValueError(
                f"Expected input batch_size ({shape[0]}) to match target batch_size ({rows[0]})."
            ),
            f"Shapes are {list(shape)} and {list(rows)}: one class for each row.",
        )
    if len(shape) > 2 and shape[2:] != rows[1:]:
        raise errors.advised(
            RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got {list(rows)}"),
            "The target has the input's shape without the dimension of the classes.",
        )
    n = shape[1 if len(shape) > 1 else 0]
    values = target._array
    if not values.size:
        return None
    least, most = values.min(), values.max()
    if least >= 0 and most < n:
        return ignore_index if least <= ignore_index <= most else None
    wrong = values[((values < 0) | (values >= n)) & (values != ignore_index)]
    if wrong.size:
        raise errors.advised(
            IndexError(f"Target {int(wrong.reshape(-1)[0])} is out of bounds."),
            f"Classes are numbered from 0 to {n - 1}.",
        )
    return ignore_index


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The mean of -log softmax(input)[target] for logits (N, C, ...).

    `target` holds classes (N, ...), or probabilities in the input's shape.

    >>> torch.nn.functional.cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3]))
    tensor(1.3863)
    """
    reduction = check_reduction(legacy_reduction(size_average, reduce, reduction))
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    axis = 1 if input.ndim > 1 else 0
    if target.dtype.is_floating_point and target.shape == input.shape:
        return _soft_targets(input, target, weight, axis, reduction, label_smoothing)
    ignored = _check_classes(input, target, ignore_index)
    logp = log_softmax(input, axis)
    loss = _nll(logp, target, weight, ignored, reduction)
    if label_smoothing == 0.0:
        return loss
    smooth = _smooth_loss(logp, target, weight, ignore_index, reduction, axis)
    n = input.shape[axis]
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / n)


def _smooth_loss(
    logp: Any, target: Any, weight: Any, ignore_index: int, reduction: str, axis: int
) -> Any:
    """The loss against all classes alike."""
    if weight is not None:
        shape = [1] * logp.ndim
        shape[axis] = -1
        logp = logp * weight.reshape(shape)
    smooth = -logp.sum(axis)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0.0)
    if reduction != "mean":
        return reduced(smooth, reduction)
    if weight is None:
        return smooth.sum() / (~ignored).sum()
    used = weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0)
    return smooth.sum() / used.sum()


def _soft_targets(
    input: Any, target: Any, weight: Any, axis: int, reduction: str, label_smoothing: float
) -> Any:
    logp = log_softmax(input, axis)
    n = input.shape[axis]
    if label_smoothing > 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / n
    if weight is not None:
        shape = [1] * logp.ndim
        shape[axis] = -1
        logp = logp * weight.reshape(shape)
    loss = -(logp * target)
    if reduction == "none":
        return loss.sum(axis)
    if reduction == "sum":
        return loss.sum()
    return loss.sum() / (input.numel() // n)


def divergence(input: Any, target: Any, reduction: str, log_target: bool) -> Any:
    """target * (log(target) - input), the target a probability or its logarithm."""
    for x in (input, target):
        if not (x.dtype.is_floating_point or x.dtype.is_complex):
            raise errors.advised(
                RuntimeError("kl_div: Integral inputs not supported."), "Convert them: .float()."
            )
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = target.xlogy(target) - target * input
    return reduced(loss, reduction)


def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """The mean of target * (log(target) - input) for log-probabilities `input`.

    With reduction="batchmean", their sum divided by the size of the first dimension, which is
    what the divergence means.

    Source: Kullback and Leibler, "On Information and Sufficiency", 1951, eq. 2.4.

    >>> p = torch.tensor([0.5, 0.5])
    >>> torch.nn.functional.kl_div(p.log(), p, reduction="sum")
    tensor(0.)
    """
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce, reduction)
    elif reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            UserWarning,
            stacklevel=2,
        )
    if reduction == "batchmean":
        loss = divergence(input, target, "sum", log_target)
        return loss / input.shape[0] if input.ndim else loss
    return divergence(input, target, check_reduction(reduction), log_target)
