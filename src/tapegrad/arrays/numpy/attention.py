"""Kernels of attention on NumPy arrays: some heads, or some queries of one, at a time.

The scores of L queries and S keys are L x S numbers for each head: they are held for a block at a
time only, near the processor, and made again for the gradient from the sum of their exponentials.

Source: Dao, Fu, Ermon, Rudra and Ré, "FlashAttention", 2022; here a block has all keys.
"""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blas_threads import share_products
from tapegrad.arrays.numpy.memory_pool import empty, memory_for, zeros
from tapegrad.core.annotations import Any, Array

_TOGETHER = 1 << 16  # scores of small heads that are held at once
_BLOCK = 1 << 18  # scores of one head that are held at once
# sums of exponentials that show that no shift by the largest score was needed
_SAFE = (1e-6, 1e30)


def _heads(x: Array, lead: tuple[int, ...]) -> Any:
    """`x` (..., L, E) as (number of heads, L, E), broadcast to the leading sizes `lead`."""
    if x.shape[:-2] != lead and x.size != prod(lead) * prod(x.shape[-2:]):
        x = np.broadcast_to(x, (*lead, *x.shape[-2:]))
    if not x.flags.c_contiguous:
        x, source = memory_for(x), x
        np.copyto(x, source)
    return x.reshape(prod(lead), *x.shape[-2:])


def _with(x: Array, column: Any, lead: tuple[int, ...], scale: Any = 1) -> Any:
    """`x` times a number, as `_heads` has it, with a column more: products add what it is for."""
    length, width = x.shape[-2:]
    shape = (*lead, length, width + 1)
    wide = empty(prod(shape), x.dtype).reshape(shape)
    np.multiply(x, x.dtype.type(scale), wide[..., :-1])
    wide[..., -1:] = column
    return wide.reshape(prod(lead), length, width + 1)


def _prepared(size: int, calls: list) -> list:
    """What each of the calls returns, over threads where `size` numbers are worth it."""
    n = len(calls)
    shares = share_products(n, size // n, lambda i, j: [call() for call in calls[i:j]])
    return [each for share in shares for each in share]


class _Scores:
    """The scores q k^T scale + mask of all heads, to be had block by block."""

    def __init__(self, inputs: Sequence, causal: bool, heads: Sequence):
        self.lead, self.causal = inputs[0].shape[:-2], causal
        self.queries, self.keys, self.values = heads  # the first with the scale in them
        self.n_heads, self.length, _ = self.queries.shape
        self.n_keys = self.keys.shape[1]
        self.mask = self._added(inputs[3]) if len(inputs) > 3 else None
        size = max(self.length * self.n_keys, 1)
        self.together = max(1, _TOGETHER // size)
        self.rows = self.length if self.together > 1 else max(1, _BLOCK // max(self.n_keys, 1))
        if causal:  # added to keys that queries of one block may see, from its first query on
            n = min(self.rows, self.length)
            later = np.arange(min(n, self.n_keys)) > np.arange(n)[:, None]
            self.later = np.where(later, -np.inf, 0).astype(self.queries.dtype)

    def _added(self, mask: Array) -> Any:
        """A mask as what is added to the scores of all heads, (L, S), or of each, (..., L, S)."""
        dtype = self.queries.dtype
        if mask.dtype == bool:
            mask = np.where(mask, np.zeros((), dtype), np.asarray(-np.inf, dtype))
        if mask.size == prod(mask.shape[-2:]):
            mask, lead = mask.reshape(mask.shape[-2:]), ()
        else:
            lead = self.lead
        return np.broadcast_to(mask, (*lead, self.length, self.n_keys))

    def blocks(self, first: int, last: int) -> Iterator[tuple[slice, slice, slice]]:
        """Heads, their queries, and the keys those may see, of the heads from first to last."""
        step, rows = self.together, self.rows
        for i in range(first, last, step):
            for start in range(0, self.length, rows):
                stop = min(start + rows, self.length)
                seen = min(stop, self.n_keys) if self.causal else self.n_keys
                yield slice(i, min(i + step, last)), slice(start, stop), slice(0, seen)

    def in_one_block(self) -> bool:
        """Whether one block has all queries and all keys of a head, and there are some."""
        if not self.n_keys or not self.length or (self.causal and self.length < self.n_keys):
            return False
        return self.rows >= self.length

    def of(self, heads: slice, rows: slice, keys: slice, room: Any) -> Any:
        """The scores of one block, in `room`."""
        s = _product(self.queries[heads, rows], self.keys[heads, keys].mT, room)
        if self.mask is not None and self.mask.ndim == 2:
            s += self.mask[rows, keys]
        elif self.mask is not None:
            places = np.unravel_index(np.arange(heads.start, heads.stop), self.lead)
            s += self.mask[(*places, rows, keys)]
        if self.causal:
            near = s[..., rows.start :]  # keys at and after the first query; perhaps none
            near += self.later[: near.shape[-2], : near.shape[-1]]
        return s

    def room(self) -> Any:
        """Memory for the scores of a block."""
        size = self.length * self.n_keys
        most = max(min(size, _BLOCK), self.n_keys, min(size * self.n_heads, _TOGETHER))
        return np.empty(most, self.queries.dtype)

    def share(self, work: Any) -> None:
        """Do `work(first, last)` for all heads, over threads where that is worth it."""
        size = self.length * self.n_keys
        if size * self.n_heads > 2 * _TOGETHER:
            share_products(self.n_heads, size, work)
        else:
            work(0, self.n_heads)


def _product(a: Array, b: Array, room: Any) -> Any:
    """Products of matrices (n, i, j) and (n, j, k), in the memory of `room`."""
    shape = (len(a), a.shape[1], b.shape[2])
    return np.matmul(a, b, room[: prod(shape)].reshape(shape))


@kernel
def attend(inputs: Sequence, scale: float, causal: bool) -> tuple:
    """softmax(q k^T scale + mask) v, and the logarithm of the sum of exponentials of each row.

    `inputs` are q, k, v and perhaps a mask; leading axes are those of q, k, v alike. With `causal`
    query i sees keys 0 to i. A row that sees nothing gives 0, and infinity as its logarithm.
    """
    q, k, v, *_ = inputs
    dtype, lead = q.dtype, q.shape[:-2]
    calls = [
        lambda: _heads(np.multiply(q, dtype.type(scale), memory_for(q)), lead),
        lambda: _heads(k, lead),
        lambda: _heads(v, lead),
    ]
    scores = _Scores(inputs, causal, _prepared(q.size + k.size + v.size, calls))
    result = zeros((scores.n_heads, scores.length, v.shape[-1]), dtype)
    total = np.full((scores.n_heads, scores.length, 1), np.inf, dtype)

    ones = np.ones((scores.n_keys, 1), dtype)

    def work(first: int, last: int) -> None:
        room = scores.room()
        for heads, rows, keys in scores.blocks(first, last):
            s = scores.of(heads, rows, keys, room)
            np.exp(s, s)
            sums = np.matmul(s, ones[keys])
            y, logs = result[heads, rows], total[heads, rows]
            if sums.min() >= _SAFE[0] and sums.max() <= _SAFE[1]:
                np.log(sums, logs)
            else:
                s = scores.of(heads, rows, keys, room)
                top = np.maximum.reduce(s, axis=-1, keepdims=True)
                top[top == -np.inf] = 0
                s -= top
                np.exp(s, s)
                sums = np.add.reduce(s, axis=-1, keepdims=True)
                nothing = sums == 0
                sums[nothing] = 1
                np.add(top, np.log(sums), logs)
                logs[nothing] = np.inf
            np.matmul(s, scores.values[heads, keys], y)
            y /= sums

    if scores.n_keys:
        scores.share(work)
    result = result.reshape(*scores.lead, *result.shape[1:])
    return result, total.reshape(*result.shape[:-1], 1)


@kernel
def attend_back(
    g: Array, inputs: Sequence, y: Array, total: Array, scale: float, causal: bool
) -> list:
    """The cotangents of q, k and v in `attend`, and None for a mask."""
    q, k, v, *_ = inputs
    lead, factor = q.shape[:-2], q.dtype.type(scale)
    calls = [  # products with columns more: q k^T - total, and g v^T - sum(g y)
        lambda: _with(q, -total, lead, scale),
        lambda: _with(k, 1, lead),
        lambda: _with(v, 1, lead),
        lambda: _with(g, -np.vecdot(g, y)[..., None], lead),
    ]
    *heads, g_wide = _prepared(q.size + k.size + v.size, calls)
    scores = _Scores(inputs, causal, heads)
    everything = (q, k, v) = [x[..., :-1] for x in heads]
    g = g_wide[..., :-1]
    once = scores.in_one_block()
    g_q, g_k, g_v = (memory_for(x) if once else zeros(x.shape, x.dtype) for x in everything)

    def add(a: Array, b: Array, out: Array) -> None:
        if once:
            np.matmul(a, b, out)
        else:
            out += a @ b

    def work(first: int, last: int) -> None:
        room, other = scores.room(), scores.room()
        for heads, rows, keys in scores.blocks(first, last):
            s = scores.of(heads, rows, keys, room)
            np.exp(s, s)  # the weights
            add(s.mT, g[heads, rows], g_v[heads, keys])
            change = _product(g_wide[heads, rows], scores.values[heads, keys].mT, other)
            change *= s
            part = np.matmul(change, k[heads, keys], g_q[heads, rows])
            part *= factor
            add(change.mT, q[heads, rows], g_k[heads, keys])

    if scores.n_keys:
        scores.share(work)
    found = [x.reshape(like.shape) for x, like in zip((g_q, g_k, g_v), inputs, strict=False)]
    return [*found, *[None] * (len(inputs) - 3)]
