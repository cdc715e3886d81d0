"""Connectionist temporal classification: sequences of labels without their places in time.

A path of T symbols stands for the sequence that is left when repeated symbols are joined and then
blanks taken out. The loss is minus the logarithm of the probability of all paths that stand for
the target. Between, before and after the labels l_k of a target stand blanks; alpha_t(s) is the
log-probability of all paths up to time t that end in the s-th of these 2 L + 1 symbols, beta_t(s)
that of all their continuations from s at time t on, both with the symbol at t.

Source: Graves et al., "Connectionist Temporal Classification", 2006, eq. 5-11, 14-16.
"""

from __future__ import annotations

from typing import Any

from tapegrad.core.annotations import Array, Namespace
from tapegrad.core.tensor_base import TensorBase
from tapegrad.dispatch.op import jvp, primitive, vjp

_NEVER = -1e30  # the logarithm of probability 0: differences of two are no nan


def _emitted(xp: Namespace, logp: Any, symbols: Array) -> Any:
    """The log-probability of each symbol at each time: (T, N, S)."""
    shape = (logp.shape[0], *symbols.shape)
    return xp.maximum(xp.gather_along(logp, xp.broadcast_to(symbols, shape), 2), _NEVER)


def _may_skip(xp: Namespace, symbols: Array) -> Any:
    """Where the symbol two before may come right before: between two different labels."""
    never = symbols[:, :2] != symbols[:, :2]
    return xp.concat([never, symbols[:, 2:] != symbols[:, :-2]], axis=1)


def _number(xp: Namespace, symbols: Array) -> Any:
    """0, 1, 2, ... for the symbols of a target: (1, S)."""
    return xp.expand_dims(xp.arange(symbols.shape[1]), axis=0)


def _never(xp: Namespace, like: Array, n: int) -> Any:
    """Columns of log-probability `_NEVER`."""
    return xp.zeros_like(like[:, :n]) + _NEVER


def _either(xp: Namespace, a: Array, b: Array, c: Array) -> Any:
    """The logarithm of a sum of three probabilities."""
    most = xp.maximum(xp.maximum(a, b), c)
    return most + xp.log(xp.exp(a - most) + xp.exp(b - most) + xp.exp(c - most))


def _alphas(xp: Namespace, seen: Any, skip: Any, times: Any) -> list:
    """alpha_t for all t; after the last time of a target it stays."""
    steps, _, n = seen.shape
    one = _never(xp, seen[0, ...], 1)
    start = [seen[0, :, :2]] if n < 3 else [seen[0, :, :2], _never(xp, seen[0, ...], n - 2)]
    alpha = xp.concat(start, axis=1)
    found = [alpha]
    for t in range(1, steps):
        before = xp.concat([one, alpha[:, :-1]], axis=1)
        earlier = xp.concat([one, before[:, :-1]], axis=1)
        total = _either(xp, alpha, before, xp.where(skip, earlier, _NEVER))
        going = xp.expand_dims(times > t, axis=1)
        alpha = xp.where(going, total + seen[t, ...], alpha)
        found.append(alpha)
    return found


def _last(xp: Namespace, symbols: Array, labels: Any) -> Any:
    """Where a target may end: at its last label, or the blank behind it."""
    s = _number(xp, symbols)
    end = xp.expand_dims(2 * labels, axis=1)
    return xp.logical_and(s <= end, s >= end - 1)


def _loss(xp: Namespace, alpha: Any, symbols: Array, times: Any, labels: Any) -> Any:
    """Minus the log-probability of each target; inf where it has none."""
    ends = xp.where(_last(xp, symbols, labels), alpha, _NEVER)
    most = xp.max(ends, axis=1, keepdims=True)
    loss = -(most[:, 0] + xp.log(xp.sum(xp.exp(ends - most), axis=1)))
    without = xp.where(labels > 0, -_NEVER, xp.zeros_like(loss))
    loss = xp.where(times > 0, loss, without)
    return xp.where(loss > -_NEVER / 10, xp.inf, loss)


def _betas(xp: Namespace, seen: Any, skip: Any, symbols: Array, times: Any, labels: Any) -> list:
    """beta_t for all t; after the last time of a target there is nothing."""
    one = _never(xp, seen[0, ...], 1)
    last = _last(xp, symbols, labels)
    beta = xp.zeros_like(seen[0, ...]) + _NEVER
    found = []
    for t in range(seen.shape[0] - 1, -1, -1):
        after = xp.concat([beta[:, 1:], one], axis=1)
        later = xp.concat([xp.where(skip, beta, _NEVER)[:, 1:], one], axis=1)
        later = xp.concat([later[:, 1:], one], axis=1)
        total = _either(xp, beta, after, later)
        ends = xp.logical_and(last, xp.expand_dims(times == t + 1, axis=1))
        beta = xp.where(ends, seen[t, ...], total + seen[t, ...])
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
