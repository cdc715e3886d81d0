"""Kernels of attention on NumPy arrays: one head after the other, so that its scores stay near."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tapegrad.arrays.blas import share_products

_BLOCK = 1 << 16  # scores: heads that are worked on together


def _heads(x: Any, lead: tuple[int, ...]) -> Any:
    """`x` (..., L, E) as (number of heads, L, E), broadcast to the leading sizes `lead`."""
    if x.shape[:-2] != lead and x.size != prod(lead) * prod(x.shape[-2:]):
        x = np.broadcast_to(x, (*lead, *x.shape[-2:]))
    return x.reshape(prod(lead), *x.shape[-2:])


def _softmax(s: Any) -> None:
    """Softmax along the last axis, in place; 0 where a row is minus infinity throughout."""
    top = np.maximum.reduce(s, axis=-1, keepdims=True)
    top[top == -np.inf] = 0
    s -= top
    np.exp(s, s)
    total = np.add.reduce(s, axis=-1, keepdims=True)
    total[total == 0] = 1
    s /= total


def attend(q: Any, k: Any, v: Any, mask: Any, scale: float) -> tuple:
    """softmax(q k^T scale + mask) v, and the softmax; leading axes are those of q, k, v alike."""
    dtype = q.dtype
    if dtype.itemsize == 2:
        q, k, v = (x.astype(np.float32) for x in (q, k, v))
        mask = mask if mask is None or mask.dtype == bool else mask.astype(np.float32)
        return tuple(x.astype(dtype) for x in attend(q, k, v, mask, scale))
    lead, length, n_keys = q.shape[:-2], q.shape[-2], k.shape[-2]
    each = False  # whether heads have masks of their own
    if mask is not None:
        if mask.dtype == bool:
            mask = np.where(mask, np.zeros((), dtype), np.asarray(-np.inf, dtype))
        each = prod(mask.shape[:-2]) > 1
        sizes = (length, n_keys)
        mask = _heads(np.broadcast_to(mask, (*mask.shape[:-2], *sizes)), lead if each else (1,))
    queries, keys, values = (_heads(x, lead) for x in (q, k, v))
    weights = np.empty((len(queries), length, n_keys), dtype)
    result = np.empty((len(queries), length, v.shape[-1]), dtype)

    step = max(1, _BLOCK // max(length * n_keys, 1))

    def work(first: int, last: int) -> None:
        for i in range(first, last, step):
            j = min(i + step, last)
            s = weights[i:j]
            np.matmul(queries[i:j], keys[i:j].mT, s)
            s *= scale
            if mask is not None:
                s += mask[i:j] if each else mask
            if n_keys:
                _softmax(s)
            np.matmul(s, values[i:j], result[i:j])

    if weights.size > _BLOCK:
        share_products(len(queries), length * n_keys, work)
    else:
        work(0, len(queries))
    return (
        result.reshape(*lead, length, v.shape[-1]),
        weights.reshape(*lead, length, n_keys),
    )


def _wide(*arrays: Any) -> tuple:
    """Numbers of 16 bits as float32."""
    return tuple(x.astype(np.float32) if x.dtype.itemsize == 2 else x for x in arrays)


def _slopes(g: Any, v: Any, weights: Any, scale: float) -> Any:
    """The cotangent of the products q k^T."""
    s = g @ v.mT
    s -= np.vecdot(s, weights)[..., None]
    s *= weights
    s *= scale
    return s


def attend_query_back(g: Any, q: Any, k: Any, v: Any, mask: Any, weights: Any, scale: Any) -> Any:
    """The cotangent of `q` in `attend`."""
    g, k, v, weights = _wide(g, k, v, weights)
    return (_slopes(g, v, weights, scale) @ k).astype(q.dtype, copy=False)


def attend_key_back(g: Any, q: Any, k: Any, v: Any, mask: Any, weights: Any, scale: Any) -> Any:
    """The cotangent of `k` in `attend`."""
    g, q, v, weights = _wide(g, q, v, weights)
    return (_slopes(g, v, weights, scale).mT @ q).astype(k.dtype, copy=False)


def attend_value_back(g: Any, q: Any, k: Any, mask: Any, weights: Any, scale: Any) -> Any:
    """The cotangent of `v` in `attend`."""
    wide, weights = _wide(g, weights)
    return (weights.mT @ wide).astype(g.dtype, copy=False)
