"""Losses of classes with a margin: the scores of the right ones lead, or it costs."""

import numpy as np

from tapegrad.arrays.namespaces import elements, namespace_of, prepared
from tapegrad.autograd.writable import check_constant
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.dtype import int64
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.dispatch.per_sample import per_sample
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.nn.loss import mse_l1

# --- one class for each row ---


def _right(xp: Namespace, label: Any, x: Array) -> Any:
    """(N, C): which class is the right one."""
    return xp.expand_dims(label, axis=1) == _classes(label, x.shape[1])


def _classes(label: Any, n: int) -> Any:
    """The numbers of n classes, of the kind of arrays or tensors that the labels are."""
    array = label._array if isinstance(label, TensorBase) else label
    numbers = namespace_of((array,)).arange(n)
    return numbers if array is label else wrap(numbers)


def _positive(xp: Namespace, z: Array) -> Any:
    """`z` where it is more than zero: nan, which is not, costs nothing."""
    return xp.where(z > 0, z, 0.0)


def _beyond(xp: Namespace, x: Array, right: Array, margin: float) -> Any:
    """How far each class is beyond the margin, 0 for the right one."""
    score = xp.sum(xp.where(right, x, 0.0), axis=1, keepdims=True)
    return xp.where(right, 0.0, _positive(xp, margin - score + x))


def _multi_margin_slope(xp, x, label, weight, p, margin):
    """The derivatives of each row's loss by its elements."""
    right = _right(xp, label, x)
    wrong = _beyond(xp, x, right, margin)
    slope = xp.astype(wrong > 0, x.dtype) if p == 1 else 2 * wrong
    slope = xp.where(right, -xp.sum(slope, axis=1, keepdims=True), slope) / x.shape[1]
    return slope if weight is None else slope * xp.expand_dims(weight, axis=1)


def _for_rows(xp: Namespace, g: Array, x: Array, reduction: str) -> Any:
    """The cotangent of the loss of each row, to be multiplied with the row."""
    if reduction == "none":
        return xp.expand_dims(g, axis=1)
    return mse_l1.share(xp, g, x[:, 0], reduction)


@jvp(
    x=lambda xp, t, x, label, weight, p, margin, reduction: mse_l1.mean_or_sum(
        xp, xp.sum(t * _multi_margin_slope(xp, x, label, weight, p, margin), axis=1), reduction
    )
)
@vjp(
    x=lambda xp, g, x, label, weight, p, margin, reduction: (
        _for_rows(xp, g, x, reduction) * _multi_margin_slope(xp, x, label, weight, p, margin)
    )
)
@primitive(node="MultiMarginLossBackward0", hidden=("label", "weight"))
def multi_margin(xp, x, label, weight, *, p, margin, reduction):
    """sum_j max(0, margin - x[y] + x[j])^p / C over classes j other than y, for rows of (N, C).

    `label` (N) says y, `weight` (N) or None counts the rows.
    """
    wrong = _beyond(xp, x, _right(xp, label, x), margin)
    loss = xp.sum(wrong if p == 1 else wrong * wrong, axis=1) / x.shape[1]
    return mse_l1.mean_or_sum(xp, loss if weight is None else loss * weight, reduction)


@autocast
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int, margin: float, weight: Tensor, reduction: str
) -> Any:
    """`multi_margin` of (N, C) and (N), or of (C) and ()."""
    mse_l1.check_reduction(reduction)
    if p not in (1, 2):
        raise errors.value_error("only p == 1 and p == 2 supported", "p is 1 or 2.")
    if weight is not None and weight._array.ndim != 1:
        raise errors.value_error("weight must be one-dimensional", "One for each class.")
    shape = _check_rows(input)
    n, n_classes = shape if len(shape) == 2 else (1, shape[0] if shape else 1)
    places = target._array.shape
    if len(places) > 1 or target._array.size != n:
        raise errors.runtime_error(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of "
            f"input samples (batch size). Expected target size [{n}], but got {list(places)}. "
            f"Input has shape {list(shape)}.",
            "One class for each row.",
        )
    _check_floats("multi_margin_loss_cpu_kernel", input.dtype)
    if weight is not None and weight._array.shape[0] != n_classes:
        text = f"inconsistent weight size, expected {n_classes} but got {list(weight._array.shape)}"
        raise errors.runtime_error(text, "One weight for each class.")
    _check_labels(target)
    if weight is not None:
        check_constant("multi_margin_loss", "weight", weight)
        mse_l1.check_alike(input, weight)
    classes = elements(target._array)
    if classes.size and (classes.min() < 0 or classes.max() >= n_classes):
        text = "target out of range"
        raise errors.runtime_error(text, f"Classes are numbered from 0 to {n_classes - 1}.")
    rows = input if len(shape) == 2 else input.reshape(1, n_classes)
    values = target._array.reshape((n,))
    counted = None
    if weight is not None:
        xp = namespace_of((values, weight._array))
        counted = wrap(xp.take(weight._array, values, axis=0))
    if not places:
        reduction = "sum"
    return multi_margin(rows, wrap(values), counted, p=p, margin=margin, reduction=reduction)


# --- several classes for each row ---


def _hit(xp: Namespace, label: Any, x: Array) -> Any:
    """(N, K, C): which class each label is."""
    ended = xp.cumulative_sum(xp.astype(label < 0, label.dtype), axis=1) > 0
    hit = xp.expand_dims(label, axis=2) == _classes(label, x.shape[1])
    return xp.logical_and(hit, xp.expand_dims(xp.logical_not(ended), axis=2))


def _beyond_each(xp: Namespace, x: Array, hit: Any) -> Any:
    """How far each class is beyond the margin of each label: (N, K, C)."""
    x = xp.expand_dims(x, axis=1)
    score = xp.sum(xp.where(hit, x, 0.0), axis=2, keepdims=True)
    other = xp.logical_not(xp.any(hit, axis=1, keepdims=True))
    pair = xp.logical_and(xp.any(hit, axis=2, keepdims=True), other)
    return xp.where(pair, _positive(xp, 1 - score + x), 0.0)


def _multilabel_slope(xp, x, label):
    """The derivatives of each row's loss by its elements."""
    hit = _hit(xp, label, x)
    active = xp.astype(_beyond_each(xp, x, hit) > 0, x.dtype)
    pushed = xp.where(hit, xp.sum(active, axis=2, keepdims=True), 0.0)
    return xp.sum(active - pushed, axis=1) / x.shape[1]


@one_node("MultilabelMarginLossBackwardBackward0")
@jvp(
    x=lambda xp, t, x, label, reduction: mse_l1.mean_or_sum(
        xp, xp.sum(t * _multilabel_slope(xp, x, label), axis=1), reduction
    )
)
@vjp(
    x=lambda xp, g, x, label, reduction: (
        _for_rows(xp, g, x, reduction) * _multilabel_slope(xp, x, label)
    )
)
@primitive(node="MultilabelMarginLossBackward0", hidden=("label",))
def multilabel_margin(xp, x, label, *, reduction):
    """sum_kj max(0, 1 - x[y_k] + x[j]) / C over labels y_k and classes j that are none of them.

    `label` (N, K) has in each row the labels y_k, the first negative number ends them.
    """
    wrong = _beyond_each(xp, x, _hit(xp, label, x))
    return mse_l1.mean_or_sum(xp, xp.sum(wrong, axis=(1, 2)) / x.shape[1], reduction)


@autocast
@per_sample
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str) -> Any:
    """`multilabel_margin` of (N, C) and (N, C), or of (C) and (C); labels end at the first -1."""
    mse_l1.check_reduction(reduction)
    shape = _check_rows(input)
    if target._array.shape != shape and (shape or target._array.size != 1):
        raise errors.runtime_error(
            f"inconsistent target size: {list(target._array.shape)} for input of size: "
            f"{list(shape)}",
            "A row of the target lists its labels, filled up with -1.",
        )
    _check_labels(target)
    n_classes = shape[-1] if shape else 1
    _check_floats("multilabel_margin_loss_forward_out_frame", input.dtype)
    label = wrap(prepared(_labels, target._array, n_classes))
    rows = input if len(shape) == 2 else input.reshape(1, n_classes)
    if len(shape) < 2:
        reduction = "sum"
    return multilabel_margin(rows, label, reduction=reduction)


def _labels(target: Array, n_classes: int) -> np.ndarray:
    """The columns of the target, in rows, that have a label before the first -1 of their row."""
    rows = np.asarray(target).reshape(-1, n_classes)
    if rows.size and (rows.min() < -1 or rows.max() >= n_classes):
        advice = f"Classes are numbered from 0 to {n_classes - 1}; -1 ends a list of labels."
        raise errors.runtime_error("argument #2 'target' is out of range", advice)
    counts = np.logical_and.accumulate(rows >= 0, axis=1)
    return rows[:, : int(counts.sum(1).max(initial=0))]


def _check_rows(input: Tensor) -> tuple[int, ...]:
    shape = input._array.shape
    if len(shape) > 2 or (shape and shape[-1] == 0):
        raise errors.runtime_error(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(shape)}",
            "The input is (N, C) or (C).",
        )
    return shape


def _check_floats(kernel: str, dtype: Any) -> None:
    if not dtype.is_floating_point or dtype.itemsize == 2:
        raise no_kernel(kernel, dtype)


def _check_labels(target: Tensor) -> None:
    if target.dtype is not int64:
        raise errors.wrong_dtype(int64, target.dtype, "Class numbers are integers: target.long().")
