"""Losses of class probabilities: negative log-likelihood, cross-entropy."""

from math import prod

import numpy as np

from tapegrad.arrays.namespaces import elements
from tapegrad.autograd.writable import check_constant
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import int64, uint8
from tapegrad.dispatch.autocast_state import IN_USE, widened
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import require_floating
from tapegrad.operators.nn.loss import mse_l1
from tapegrad.operators.nn.softmax import log_softmax
from tapegrad.operators.with_number import over_number, plus_number, times_number


def check_classes(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int
) -> int | None:
    """Raise unless the targets are classes of the input; returns what to ignore if any has it."""
    shape, rows = input._array.shape, target._array.shape
    if not shape:
        raise ValueError(f"Expected 1 or more dimensions (got {len(shape)})")
    if rows != shape[:1] or len(shape) != 2:
        _check_shapes(shape, rows)
    n = shape[1 if len(shape) > 1 else 0]
    name = f"nll_loss{'2d' if len(shape) > 2 else ''}_forward"
    check_constant(name, "weight", weight)
    if len(shape) > 2:
        _check_labels(target)
        _check_weight(weight, n, "all", "")
    else:
        _check_weight(weight, n, f"all {n} classes", " but got weight tensor of shape: ")
        _check_labels(target)
    require_floating(f"nll_loss{'2d_forward' if len(shape) > 2 else ''}_out_frame", input)
    if len(shape) > 2 and target.dtype is uint8:
        raise errors.wrong_dtype(int64, uint8, "Class numbers are integers: target.long().")
    values = elements(target._array)
    if not values.size:
        return None
    least, most = np.minimum.reduce(values, None), np.maximum.reduce(values, None)
    if least >= 0 and most < n:
        return ignore_index if least <= ignore_index <= most else None
    wrong = values[((values < 0) | (values >= n)) & (values != ignore_index)]
    if wrong.size:
        text = f"Target {int(wrong.reshape(-1)[0])} is out of bounds."
        raise errors.index_error(text, f"Classes are numbered from 0 to {n - 1}.")
    return ignore_index


def _check_shapes(shape: tuple[int, ...], rows: tuple[int, ...]) -> None:
    """One target for each row of scores, or for each of its places."""
    advice = f"Shapes are {list(shape)} and {list(rows)}: (N, C, ...) has targets (N, ...)."
    batch = rows[0] if rows else 0
    if len(shape) > 1 and shape[0] != batch:
        text = f"Expected input batch_size ({shape[0]}) to match target batch_size ({batch})."
        raise errors.value_error(text, advice)
    message = ""
    if len(shape) < 3:
        if len(rows) > 1:
            message = "0D or 1D target tensor expected, multi-target not supported"
        elif len(shape) == 1 and rows and batch != 1:
            text = f"For 1D input, 1D target must have size 1, but got target size: {batch}"
            raise errors.value_error(text, advice)
    elif len(shape) == 4 and len(rows) != 3:
        message = (
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{len(rows)}"
        )
    elif shape[2:] != rows[1:] and len(shape) == 4:
        message = f"size mismatch (got input: {list(shape)} , target: {list(rows)}"
    elif shape[2:] != rows[1:]:
        message = f"Expected target size {[shape[0], *shape[2:]]}, got {list(rows)}"
    if message:
        raise errors.runtime_error(message, advice)


def _check_labels(target: Tensor) -> None:
    dtype = target.dtype
    if dtype is not int64 and dtype is not uint8:
        text = f"expected target dtype to be Long or Byte, but got {dtype.scalar_name}"
        raise errors.runtime_error(text, "Class numbers are integers: target.long().")


def _check_weight(weight: Tensor | None, n: int, every: str, given: str) -> None:
    if weight is not None and weight._array.shape != (n,):
        shape = list(weight._array.shape)
        raise errors.runtime_error(
            f"weight tensor should be defined either for {every} or no classes"
            f"{given}{shape if given else ''}",
            f"There are {n} classes, and one weight for each; the weights are {shape}.",
        )


def check_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, axis: int, ignore_index: int
) -> None:
    """Raise unless the target holds probabilities in the shape of the input."""
    if not target.dtype.is_floating_point:
        raise errors.runtime_error(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype.scalar_name}",
            "A target in the shape of the input holds probabilities; classes have no dimension C.",
        )
    if ignore_index >= 0:
        text = "ignore_index is not supported for floating point target"
        raise errors.runtime_error(text, "Give those rows the weight 0, or leave them out.")
    if weight is not None and weight._array.shape != (input._array.shape[axis],):
        raise errors.runtime_error(
            "cross_entropy: weight tensor should be defined either for all "
            f"{input._array.shape[axis]} classes or no classes but got weight tensor of shape: "
            f"{list(weight._array.shape)}",
            "There is one weight for each class.",
        )


@jvp(x=lambda xp, t, target: xp.pick(t, target))
@vjp(x=lambda xp, g, x_like, target: xp.unpick(g, target, x_like.shape))
@primitive(kernels=("pick", "unpick"))
def pick_class(xp, x, target):
    """x[i, target[i, ...], ...] for x (N, C, ...) and target (N, ...)."""
    return xp.pick(x, target)


@jvp(x=lambda xp, t, target, shape: xp.unpick(t, target, shape))
@vjp(x=lambda xp, g, target: xp.pick(g, target))
@primitive(kernels=("pick", "unpick"))
def unpick_class(xp, x, target, *, shape):
    """Zeros of `shape` (N, C, ...) with x (N, ...) at the places that `pick_class` reads."""
    return xp.unpick(x, target, shape)


def _weights(xp, target, weight, ignore_index, dtype):
    """For each target its weight, 0 for those to be ignored; which are not, and safe targets."""
    used = target != ignore_index
    safe = xp.where(used, target, 0)
    if weight is None:
        return xp.astype(used, dtype), used, safe
    chosen = xp.reshape(xp.take(weight, xp.reshape(safe, (-1,))), safe.shape)
    return xp.where(used, chosen, 0), used, safe


def _losses(xp, x, target, weight, ignore_index):
    if weight is None and ignore_index is None:
        return -xp.pick(x, target), prod(target.shape)
    w, used, safe = _weights(xp, target, weight, ignore_index, x.dtype)
    return xp.where(used, -xp.pick(x, safe) * w, 0), xp.sum(w)


def _pick_rule(xp, g, x_like, target, weight, ignore_index, reduction):
    if weight is None and ignore_index is None:
        share = -g / prod(target.shape) if reduction == "mean" else -g
        return xp.unpick(xp.broadcast_to(share, target.shape), target, x_like.shape)
    w, used, safe = _weights(xp, target, weight, ignore_index, x_like.dtype)
    if reduction == "mean":
        g = g / xp.sum(w)
    # where everything is ignored the mean is nan, but its gradient 0
    return xp.unpick(xp.where(used, -g * w, 0), safe, x_like.shape)


@one_node("NllLossBackwardBackward0")
@jvp(
    x=lambda xp, t, target, weight, ignore_index, reduction: pick_classes.on_arrays(
        xp, t, target, weight, ignore_index=ignore_index, reduction=reduction
    )
)
@vjp(x=_pick_rule)
@primitive(node="NllLossBackward0", hidden=("target", "weight"), kernels=("pick", "unpick"))
def pick_classes(xp, x, target, weight, *, ignore_index, reduction):
    """-weight[target] * x[i, target[i]] for log-probabilities x (N, C, ...), target (N, ...).

    `ignore_index` is None where no target has it.
    """
    loss, total = _losses(xp, x, target, weight, ignore_index)
    if reduction == "none":
        return loss
    return xp.sum(loss) if reduction == "sum" else xp.sum(loss) / total


@one_node("NllLoss2DBackwardBackward0")
@jvp(x=pick_classes.op.jvps["x"].function)
@vjp(x=pick_classes.op.vjps["x"].function)
@primitive(node="NllLoss2DBackward0", hidden=("target", "weight"), kernels=("pick", "unpick"))
def pick_places(xp, x, target, weight, *, ignore_index, reduction):
    """`pick_classes` of inputs with places behind the classes, by the name PyTorch gives that."""
    return pick_classes.on_arrays(
        xp, x, target, weight, ignore_index=ignore_index, reduction=reduction
    )


@require_tensors(name="nll_loss_nd")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The mean of -input[i, target[i]] for log-probabilities (N, C, ...) and classes (N, ...).

    Targets equal to `ignore_index` do not count. With `weight` (C) the loss of a target counts
    weight[target] times, and the mean divides by the sum of these weights.

    Shape: (), or without reduction (N, ...).
    Raises: IndexError for a class out of range.

    >>> x = torch.log_softmax(torch.zeros(2, 4), 1)
    >>> torch.nn.functional.nll_loss(x, torch.tensor([0, 3]))
    tensor(1.3863)
    """
    reduction = mse_l1.legacy_reduction(size_average, reduce, reduction)
    mse_l1.check_reduction(reduction)
    if IN_USE:
        input, target, weight = widened(input, target, weight)
    ignored = check_classes(input, target, weight, ignore_index)
    return _nll(input, target, weight, ignored, reduction)


def _nll(
    input: Tensor, target: Tensor, weight: Tensor | None, ignored: int | None, reduction: str
) -> Any:
    n = input._array.ndim
    if weight is not None:
        mse_l1.check_alike(input, weight)
    if n == 4:
        return pick_places(input, target, weight, ignore_index=ignored, reduction=reduction)
    if n > 2:
        rows, classes = input._array.shape[:2]
        places = (1, -1) if input._array.size else (0, 0)
        found = pick_places(
            input.reshape(rows, classes, *places),
            target.reshape(rows, *places),
            weight,
            ignore_index=ignored,
            reduction=reduction,
        )
        return found.view(target._array.shape) if reduction == "none" else found
    if n == 2:
        return pick_classes(input, target, weight, ignore_index=ignored, reduction=reduction)
    if reduction == "none":
        reduction = "sum"
    row, place = input.unsqueeze(0), target.reshape(1)
    return pick_classes(row, place, weight, ignore_index=ignored, reduction=reduction)


@require_tensors(name="cross_entropy_loss")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The mean of -log softmax(input)[target] for logits (N, C, ...).

    `target` holds classes (N, ...), or probabilities in the input's shape.

    `ignore_index` and `weight` (C) are those of `nll_loss`. With `label_smoothing` e it is 1 - e of
    that and e of the mean of -log softmax(input) over the classes.

    Shape: (), or without reduction (N, ...).
    Raises: IndexError for a class out of range; RuntimeError for a `label_smoothing` out of [0, 1].

    Source of the smoothing: Szegedy et al., "Rethinking the Inception Architecture for Computer
    Vision", 2016, section 7.

    >>> torch.nn.functional.cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3]))
    tensor(1.3863)
    """
    reduction = mse_l1.check_reduction(mse_l1.legacy_reduction(size_average, reduce, reduction))
    if label_smoothing > 1.0:
        text = f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}"
        advice = "It is the part of a target that is spread over all classes."
        raise errors.runtime_error(text, advice)
    if IN_USE:
        input, target, weight = widened(input, target, weight)
    axis = 1 if input.ndim > 1 else 0
    if target._array.shape == input._array.shape:
        check_probabilities(input, target, weight, axis, ignore_index)
        return _soft_targets(input, target, weight, axis, reduction, label_smoothing)
    logp = log_softmax(input, axis) if input._array.ndim else input
    ignored = check_classes(input, target, weight, ignore_index)
    loss = _nll(logp, target, weight, ignored, reduction)
    if label_smoothing <= 0.0:
        return loss
    smooth = _smooth_loss(logp, target, weight, ignore_index, reduction, axis)
    share = label_smoothing / input.shape[axis]
    return times_number(loss, number=1 - label_smoothing) + times_number(smooth, number=share)


def _by_class(x: Any, weight: Tensor | None, axis: int) -> Any:
    """`x` times the weight of each class along `axis`."""
    if weight is None:
        return x
    return x * weight.reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def _smooth_loss(
    logp: Any, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, axis: int
) -> Any:
    """The loss against all classes alike."""
    smooth = -_by_class(logp, weight, axis).sum(axis)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0.0)
    if reduction != "mean":
        return mse_l1.reduced(smooth, reduction)
    if weight is None:
        return smooth.sum() / (~ignored).sum()
    used = weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0)
    return smooth.sum() / used.sum()


def _soft_targets(
    input: Tensor, target: Any, weight: Tensor | None, axis: int, reduction: str, smoothing: float
) -> Any:
    logp = log_softmax(input, axis)
    n = input.shape[axis]
    if smoothing > 0.0:
        target = times_number(target, number=1 - smoothing)
        target = plus_number(target, number=smoothing / n)
    product = _by_class(logp, weight, axis) * target
    if reduction == "none":
        return -product.sum(axis)
    loss = -product.sum()
    return loss if reduction == "sum" else over_number(loss, number=input.numel() // n)
