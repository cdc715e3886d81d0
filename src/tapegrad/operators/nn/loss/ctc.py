"""The loss of connectionist temporal classification: what it accepts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.per_sample import in_turn
from tapegrad.operators.nn.loss.ctc_rules import alignment_loss

__torch__ = "ctc_loss"

_INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
_CHECK = " (while checking arguments for ctc_loss_allocate_outputs)"


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:
    """The loss of each target, their mean (reduction 1) or sum (2); see torch.nn.functional.

    >>> logp = torch.full((2, 1, 2), 0.5).log()
    >>> torch.ctc_loss(logp, torch.tensor([[1]]), (2,), (1,))
    tensor([0.2877])
    """
    from tapegrad.operators.nn.loss.legacy import reduction_of

    word = reduction_of("ctc_loss", reduction, 6)
    return alignment(log_probs, targets, input_lengths, target_lengths, blank, word, zero_infinity)


@in_turn(name="ctc_loss")
@autocast(name="ctc_loss")
def alignment(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
    reduction: str,
    zero_infinity: bool,
) -> Any:
    """-log p(target | log_probs) for log_probs (T, N, C) or (T, C)."""
    times, labels = _lengths(log_probs, targets, input_lengths, target_lengths)
    batched = log_probs._array.ndim == 3
    logp = log_probs if batched else log_probs.unsqueeze(1)
    if not batched and targets._array.ndim == 1:
        targets = targets.unsqueeze(0)
    rows = _padded(logp, targets, times, labels, blank)
    symbols = np.full((len(rows), 2 * rows.shape[1] + 1), blank)
    symbols[:, 1::2] = rows
    loss, _ = alignment_loss(
        *(logp, wrap(symbols), wrap(times), wrap(labels)),
        zero_infinity=bool(zero_infinity),
        projected=True,
    )
    if zero_infinity:
        from tapegrad.operators import where

        loss = where(loss == float("inf"), loss.new_zeros(()), loss)
    if reduction == "mean":
        return (loss / wrap(np.maximum(labels, 1).astype(loss._array.dtype))).mean()
    if reduction == "sum":
        return loss.sum()
    return loss if batched else loss.squeeze(0)


def _lengths(log_probs: Any, targets: Any, *given: Any) -> list:
    """The lengths of inputs and targets as arrays of int64."""
    kinds = {isinstance(x, TensorBase) for x in given}
    if len(kinds) > 1 or not all(isinstance(x, (TensorBase, tuple, list)) for x in given):
        raise errors.invalid_combination(
            "ctc_loss",
            (log_probs, targets, *given),
            {},
            tuple(
                f"Tensor log_probs, Tensor targets, {kind} input_lengths, {kind} target_lengths, "
                "int blank = 0, int reduction = at::Reduction::Mean, bool zero_infinity = False"
                for kind in ("tuple of ints", "Tensor")
            ),
        )
    found = []
    for name, x in zip(("input_lengths", "target_lengths"), given, strict=True):
        if isinstance(x, TensorBase):
            if x.dtype.name not in _INTEGERS:
                raise errors.runtime_error(
                    f"{name} must be integral", f"Convert them: {name}.long()."
                )
            found.append(np.asarray(x._array, dtype=np.int64).reshape(-1))
        else:
            from tapegrad.core.shape import ints_of

            position = 3 if name == "input_lengths" else 4
            found.append(np.array(ints_of("ctc_loss", name, (tuple(x),), position), np.int64))
    return found


def _padded(logp: Any, targets: Any, times: Any, labels: Any, blank: int) -> Any:
    """The targets as an array (N, L), filled up with blanks."""
    if not logp._array.size:
        raise errors.runtime_error(
            "log_probs tensor must not be empty", "It is (T, N, C) or (T, C)."
        )
    if not logp.dtype.is_floating_point or logp.dtype.itemsize == 2:
        raise errors.not_implemented(
            f"\"ctc_loss_cpu\" not implemented for '{logp.dtype.scalar_name}'",
            "Convert log_probs to torch.float32.",
        )
    if logp._array.ndim != 3:
        raise _wrong(
            f"Expected 3-dimensional tensor, but got {logp._array.ndim}-dimensional tensor for "
            "argument #1 'log_probs'",
            "log_probs is (T, N, C) or (T, C): time, batch, classes.",
        )
    steps, n, n_classes = logp._array.shape
    if not 0 <= blank < n_classes:
        raise errors.runtime_error(
            "blank must be in label range", f"Symbols are numbered from 0 to {n_classes - 1}."
        )
    for name, x in (("input_lengths", times), ("target_lengths", labels)):
        if len(x) != n:
            raise errors.runtime_error(
                f"{name} must be of size batch_size", f"There are {n} targets and {len(x)} lengths."
            )
        for value in x[x < 0]:
            raise _wrong(
                f"Expected {name} to have value at least 0, but got value {value}",
                "Lengths are not negative.",
            )
    for value in times[times > steps]:
        raise _wrong(
            f"Expected input_lengths to have value at most {steps}, but got value {value}",
            f"log_probs has {steps} steps of time.",
        )
    rows = _rows(np.asarray(targets._array, dtype=np.int64), labels)
    there = np.arange(rows.shape[1]) < labels[:, None]
    rows = np.where(there, rows, blank)
    if rows.size and (rows.min() < 0 or rows.max() >= n_classes):
        raise errors.index_error(
            "ctc_loss: a target is out of range",
            f"Symbols are numbered from 0 to {n_classes - 1}; PyTorch reads beyond the array here.",
        )
    return rows


def _rows(targets: Any, labels: Any) -> Any:
    """Targets one after the other, or in rows, as rows of the length of the longest."""
    most = int(labels.max())
    if targets.ndim == 2:
        for axis, wanted, least in ((0, len(labels), ""), (1, most, "at least ")):
            have = targets.shape[axis]
            if have < wanted or (not least and have != wanted):
                raise _wrong(
                    f"Expected tensor to have size {least}{wanted} at dimension {axis}, but got "
                    f"size {have} for argument #2 'targets'",
                    "A row for each target, as long as the longest.",
                )
        return targets[:, :most]
    if targets.ndim != 1:
        raise _wrong(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument "
            "#2 'targets'",
            "Targets are rows of labels, or one after the other in one dimension.",
        )
    total = int(labels.sum())
    if len(targets) != total:
        raise _wrong(
            f"Expected tensor to have size {total} at dimension 0, but got size {len(targets)} for "
            "argument #2 'targets'",
            "Targets in one dimension are as long as target_lengths add up to.",
        )
    rows = np.zeros((len(labels), most), np.int64)
    rows[np.arange(most) < labels[:, None]] = targets
    return rows


def _wrong(message: str, advice: str) -> RuntimeError:
    return errors.runtime_error(message + _CHECK, advice)
