"""The loss of connectionist temporal classification: what it accepts."""

import numpy as np

from tapegrad.arrays.namespaces import prepared
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Scalar
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import ints_of
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.dispatch.per_sample import per_sample

__torch__ = "ctc_loss"


def _never(x: Any) -> float:
    """The logarithm of probability 0 among numbers like `x`: differences of two are no nan."""
    return -1e36 if x.dtype.itemsize == 4 else -1e300


def _emitted(xp: Namespace, logp: Any, symbols: Array) -> Any:
    """The log-probability of each symbol at each time: (T, N, S)."""
    shape = (logp.shape[0], *symbols.shape)
    return xp.maximum(xp.gather_along(logp, xp.broadcast_to(symbols, shape), 2), _never(logp))


def _may_skip(xp: Namespace, symbols: Array) -> Any:
    """Where the symbol two before may come right before: between two different labels."""
    never = symbols[:, :2] != symbols[:, :2]
    return xp.concat([never, symbols[:, 2:] != symbols[:, :-2]], axis=1)


def _impossible(xp: Namespace, like: Array, n: int) -> Any:
    """Columns of probability 0."""
    return xp.zeros_like(like[:, :n]) + _never(like)


def _either(xp: Namespace, a: Array, b: Array, c: Array) -> Any:
    """The logarithm of a sum of three probabilities."""
    most = xp.maximum(xp.maximum(a, b), c)
    return most + xp.log(xp.exp(a - most) + xp.exp(b - most) + xp.exp(c - most))


def _alphas(xp: Namespace, seen: Any, skip: Any, times: Any) -> list:
    """alpha_t for all t; after the last time of a target it stays."""
    steps, _, n = seen.shape
    never = _never(seen)
    one = _impossible(xp, seen[0, ...], 1)
    start = [seen[0, :, :2]] if n < 3 else [seen[0, :, :2], _impossible(xp, seen[0, ...], n - 2)]
    alpha = xp.concat(start, axis=1)
    found = [alpha]
    going = _before_ends(xp, times, steps)
    for t in range(1, steps):
        before = xp.concat([one, alpha[:, :-1]], axis=1)
        earlier = xp.concat([one, before[:, :-1]], axis=1)
        total = _either(xp, alpha, before, xp.where(skip, earlier, never))
        alpha = xp.where(going[t], xp.maximum(total + seen[t, ...], never), alpha)
        found.append(alpha)
    return found


def _before_ends(xp: Namespace, times: Any, steps: int) -> list:
    """For each time which targets have not ended yet: (N, 1)."""
    t = xp.reshape(xp.arange(steps), (-1, 1, 1))
    found = xp.expand_dims(times, axis=1) > t
    return [found[i, ...] for i in range(steps)]


def _last(xp: Namespace, symbols: Array, labels: Array) -> Any:
    """Where a target may end: at its last label, or the blank behind it."""
    s = xp.expand_dims(xp.arange(symbols.shape[1]), axis=0)
    end = xp.expand_dims(2 * labels, axis=1)
    return xp.logical_and(s <= end, s >= end - 1)


def _loss(xp: Namespace, alpha: Scalar, symbols: Array, times: Any, labels: Array) -> Any:
    """Minus the log-probability of each target; inf where it has none."""
    never = _never(alpha)
    ends = xp.where(_last(xp, symbols, labels), alpha, never)
    most = xp.max(ends, axis=1, keepdims=True)
    loss = -(most[:, 0] + xp.log(xp.sum(xp.exp(ends - most), axis=1)))
    without = xp.where(labels > 0, -never, xp.zeros_like(loss))
    loss = xp.where(times > 0, loss, without)
    return xp.where(loss > -never / 10, xp.inf, loss)


def _betas(xp: Namespace, seen: Any, skip: Any, symbols: Array, times: Any, labels: Array) -> list:
    """beta_t for all t; after the last time of a target there is nothing."""
    one = _impossible(xp, seen[0, ...], 1)
    last = _last(xp, symbols, labels)
    never = _never(seen)
    beta = xp.zeros_like(seen[0, ...]) + never
    found = []
    going = _before_ends(xp, times, seen.shape[0])  # what is seen later may be nan
    for t in range(seen.shape[0] - 1, -1, -1):
        after = xp.concat([beta[:, 1:], one], axis=1)
        later = xp.concat([xp.where(skip, beta, never)[:, 1:], one], axis=1)
        later = xp.concat([later[:, 1:], one], axis=1)
        total = _either(xp, beta, after, later)
        ends = xp.logical_and(last, xp.expand_dims(times == t + 1, axis=1))
        on_way = xp.maximum(total + seen[t, ...], never)
        beta = xp.where(going[t], xp.where(ends, seen[t, ...], on_way), never)
        found.append(beta)
    return found[::-1]


def _slope(xp, logp, symbols, times, labels, loss, alpha, zero_infinity, projected):
    """The derivatives of each target's loss by its log-probabilities: (T, N, C)."""
    seen = _emitted(xp, logp, symbols)
    skip = _may_skip(xp, symbols)
    if isinstance(logp, TensorBase):  # to be differentiated: what was kept of them has no history
        alpha = xp.stack(_alphas(xp, seen, skip, times))
    possible = xp.expand_dims(loss < xp.inf, axis=1)
    loss = xp.expand_dims(xp.where(loss < xp.inf, loss, 0.0), axis=1)
    beta = xp.stack(_betas(xp, seen, skip, symbols, times, labels))
    occupied = xp.exp(alpha + beta - seen + loss)  # (T, N, S): how probable it is at a time
    index = xp.broadcast_to(symbols, seen.shape)
    slope = -xp.add_along(occupied, logp.shape, index, 2)
    if projected:
        slope = slope + xp.exp(logp)
    slope = xp.where(xp.expand_dims(possible, axis=0), slope, 0.0 if zero_infinity else xp.nan)
    t = xp.reshape(xp.arange(logp.shape[0]), (-1, 1, 1))
    return xp.where(t < xp.reshape(times, (1, -1, 1)), slope, 0.0)


def _pull(xp, g, logp, symbols, times, labels, loss, alphas, zero_infinity, projected):
    slope = _slope(xp, logp, symbols, times, labels, loss, alphas, zero_infinity, projected)
    return xp.reshape(g, (1, -1, 1)) * slope


def _push(xp, t, logp, symbols, times, labels, loss, alphas, zero_infinity, projected):
    slope = _slope(xp, logp, symbols, times, labels, loss, alphas, zero_infinity, projected)
    return xp.sum(t * slope, axis=(0, 2))


@jvp(logp=_push)
@vjp(logp=_pull)
@primitive(
    node="CtcLossBackward0",
    outputs=("loss", "alphas"),
    nondiff=("alphas",),
    hidden=("symbols", "times", "labels"),
    kernels=("gather_along", "add_along"),
)
def alignment_loss(xp, logp, symbols, times, labels, *, zero_infinity, projected):
    """-log p(target) for logp (T, N, C), symbols (N, S) with blanks, T and L of each of N targets.

    And alpha_t for all t, (T, N, S).

    The derivative with `projected` is exp(logp) - occupancy: the one along log-probabilities that
    stay normalised, which is PyTorch's. Without it, it is that of each number by itself.
    """
    seen = _emitted(xp, logp, symbols)
    skip = _may_skip(xp, symbols)
    alphas = _alphas(xp, seen, skip, times)
    return _loss(xp, alphas[-1], symbols, times, labels), xp.stack(alphas)


_LENGTHS = ("input_lengths", "target_lengths")
_CHECK = " (while checking arguments for ctc_loss_allocate_outputs)"


@require_tensors
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

    Shapes: log_probs (T, N, C), targets (N, L), lengths (N,); the losses (N,).

    >>> logp = torch.full((2, 1, 2), 0.5).log()
    >>> torch.ctc_loss(logp, torch.tensor([[1]]), (2,), (1,))
    tensor([0.2877])
    """
    from tapegrad.operators.nn.loss.legacy import reduction_of

    word = reduction_of("ctc_loss", reduction, 6)
    return alignment(log_probs, targets, input_lengths, target_lengths, blank, word, zero_infinity)


@per_sample(name="ctc_loss")
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
    _check(logp, blank)
    given = targets._array, times, labels
    symbols, times, labels = prepared(_symbols, *given, logp._array.shape, blank)
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
    """The lengths of inputs and targets as arrays of integers."""
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
    for position, (name, x) in enumerate(zip(_LENGTHS, given, strict=True), 3):
        if not isinstance(x, TensorBase):
            found.append(np.array(ints_of("ctc_loss", name, (tuple(x),), position), np.int64))
        elif x.dtype.category != 1:
            raise errors.runtime_error(f"{name} must be integral", f"Convert them: {name}.long().")
        else:
            found.append(x._array)
    return found


def _check(logp: Any, blank: int) -> None:
    """Raise for log-probabilities, or a blank, that are none."""
    if not logp._array.size:
        text = "log_probs tensor must not be empty"
        raise errors.runtime_error(text, "It is (T, N, C) or (T, C).")
    if not logp.dtype.is_floating_point or logp.dtype.itemsize == 2:
        text = f"\"ctc_loss_cpu\" not implemented for '{logp.dtype.scalar_name}'"
        raise errors.not_implemented(text, "Convert log_probs to torch.float32.")
    if logp._array.ndim != 3:
        raise _wrong(
            f"Expected 3-dimensional tensor, but got {logp._array.ndim}-dimensional tensor for "
            "argument #1 'log_probs'",
            "log_probs is (T, N, C) or (T, C): time, batch, classes.",
        )
    n_classes = logp._array.shape[2]
    if not 0 <= blank < n_classes:
        text = "blank must be in label range"
        raise errors.runtime_error(text, f"Symbols are numbered from 0 to {n_classes - 1}.")


def _symbols(targets: Array, times: Array, labels: Array, shape: Any, blank: int) -> tuple:
    """The targets (N, 2 L + 1) with blanks around each label and behind the last, and the lengths.

    `shape` is that of the log-probabilities.
    """
    steps, n, n_classes = shape
    times, labels = (np.asarray(x, dtype=np.int64).reshape(-1) for x in (times, labels))
    for name, x in zip(_LENGTHS, (times, labels), strict=True):
        if len(x) != n:
            text = f"{name} must be of size batch_size"
            raise errors.runtime_error(text, f"There are {n} targets and {len(x)} lengths.")
        for value in x[x < 0]:
            text = f"Expected {name} to have value at least 0, but got value {value}"
            raise _wrong(text, "Lengths are not negative.")
    for value in times[times > steps]:
        text = f"Expected input_lengths to have value at most {steps}, but got value {value}"
        raise _wrong(text, f"log_probs has {steps} steps of time.")
    rows = _rows(np.asarray(targets, dtype=np.int64), labels)
    there = np.arange(rows.shape[1]) < labels[:, None]
    rows = np.where(there, rows, blank)
    if rows.size and (rows.min() < 0 or rows.max() >= n_classes):
        raise errors.index_error(
            "ctc_loss: a target is out of range",
            f"Symbols are numbered from 0 to {n_classes - 1}; PyTorch reads beyond the array here.",
        )
    symbols = np.full((n, 2 * rows.shape[1] + 1), blank)
    symbols[:, 1::2] = rows
    return symbols, times, labels


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
