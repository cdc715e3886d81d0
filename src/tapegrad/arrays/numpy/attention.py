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


def _with(x: Array, column: Any) -> Any:
    """`x` with another column: products of matrices add what it stands for."""
    wide = empty(x.size + x.size // x.shape[-1], x.dtype).reshape(*x.shape[:-1], x.shape[-1] + 1)
    wide[..., :-1] = x
    wide[..., -1:] = column
    return wide


class _Scores:
    """The scores q k^T scale + mask of all heads, to be had block by block."""

    def __init__(self, inputs: Sequence, scale: float, causal: bool):
        q, k, v, *masks = inputs
        self.lead, self.causal = q.shape[:-2], causal
        self.queries = _heads(np.multiply(q, q.dtype.type(scale), memory_for(q)), self.lead)
        self.keys, self.values = _heads(k, self.lead), _heads(v, self.lead)
        self.n_heads, self.length, _ = self.queries.shape
        self.n_keys = self.keys.shape[1]
        self.mask = self._added(masks[0]) if masks else None
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
    scores = _Scores(inputs, scale, causal)
    dtype = scores.queries.dtype
    result = zeros((scores.n_heads, scores.length, scores.values.shape[2]), dtype)
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
    scores = _Scores(inputs, scale, causal)
    g, y, total = (_heads(x, scores.lead) for x in (g, y, total))
    everything = (q, k, v) = scores.queries, scores.keys, scores.values
    g_q, g_k, g_v = (zeros(x.shape, x.dtype) for x in everything)
    # products with columns more: q k^T - total, and g v^T - sum(g y)
    scores.queries, scores.keys = _with(q, -total), _with(k, 1)
    g_wide, values = _with(g, -np.vecdot(g, y)[..., None]), _with(v, 1)

    def work(first: int, last: int) -> None:
        room, other = scores.room(), scores.room()
        for heads, rows, keys in scores.blocks(first, last):
            s = scores.of(heads, rows, keys, room)
            np.exp(s, s)  # the weights
            g_v[heads, keys] += s.mT @ g[heads, rows]
            change = _product(g_wide[heads, rows], values[heads, keys].mT, other)
            change *= s
            np.matmul(change, k[heads, keys], g_q[heads, rows])
            g_k[heads, keys] += change.mT @ q[heads, rows]

    if scores.n_keys:
        scores.share(work)
    g_q *= g_q.dtype.type(scale)
    found = [x.reshape(like.shape) for x, like in zip((g_q, g_k, g_v), inputs, strict=False)]
    return [*found, *[None] * (len(inputs) - 3)]
