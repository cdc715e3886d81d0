"""Kernels for the distances of all pairs of vectors, block by block.

The differences of P and R vectors of length M are P x R x M numbers: they are never held all at
once, but for blocks of at most a quarter of a million.
"""

from collections.abc import Iterator
from math import inf, prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array

_BLOCK = 1 << 18  # elements of the differences that are held at once


def _flat(x: Array, batch: tuple[int, ...]) -> Any:
    """(*batch, n, m) as (B, n, m); what is missing of the batch is broadcast."""
    x = np.broadcast_to(x, (*batch, *x.shape[-2:]))
    return x.reshape(prod(batch), *x.shape[-2:])


def _blocks(n: int, rows: int, row: int) -> Iterator[tuple[slice, slice]]:
    """Parts of a batch, and of its rows, of about _BLOCK elements; `row` elements are in one."""
    if rows * row <= _BLOCK:
        step = _BLOCK // max(rows * row, 1)
        for i in range(0, n, max(step, 1)):
            yield slice(i, i + step), slice(None)
        return
    step = max(_BLOCK // max(row, 1), 1)
    for i in range(n):
        for j in range(0, rows, step):
            yield slice(i, i + 1), slice(j, j + step)


def _differences(a: Array, b: Array, part: slice, rows: slice) -> Any:
    return a[part, rows, None, :] - b[part, None, :, :]


@kernel
def pair_distances(a: Array, b: Array, order: float) -> Any:
    """The distances of all rows of a (..., P, M) from those of b (..., R, M): (..., P, R)."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    p, r = a.shape[-2], b.shape[-2]
    a, b = _flat(a, batch), _flat(b, batch)
    out = np.zeros((prod(batch), p, r), a.dtype)
    for part, rows in _blocks(out.shape[0], p, r * a.shape[-1]):
        out[part, rows] = _lengths(_differences(a, b, part, rows), order)
    return out.reshape(*batch, p, r)


def _lengths(d: Array, order: float) -> Any:
    """The norms along the last axis; writes into `d`."""
    if order == 0:
        return np.where(np.isnan(d), d, d != 0).sum(-1)
    if order == 2:
        return np.sqrt(np.einsum("...i,...i->...", d, d))
    np.abs(d, d)
    if order == inf:
        return d.max(-1, initial=0)
    if order == 1:
        return d.sum(-1)
    np.power(d, order, d)
    return d.sum(-1) ** (1 / order)


def pair_slopes(d: Array, y: Array, order: float) -> Any:
    """The derivatives of the lengths y by the differences d, with 0 where there is none."""
    y = y[..., None]
    if order == 0:
        return np.zeros_like(d)
    if order == 1:
        return np.where(y == 0, 0, np.sign(d))  # a row's infinities less themselves are nan
    if order == inf:
        gap = np.abs(d) - y  # nan where infinities leave open which difference is the largest
        return np.where(np.isnan(gap), gap, np.where(gap == 0, np.sign(d), 0))
    steep = np.where(y == 0, 1, y)
    if order == 2:
        return d / steep
    size = np.abs(d)
    flat = (y == 0) | (size == 0) if order < 1 else y == 0
    np.divide(size, steep, size)
    slope = np.sign(d) * np.where(flat, 1, size) ** (order - 1)
    return np.where(flat, 0, slope)


@kernel
def pull_distances(g: Array, a: Array, b: Array, y: Array, order: float) -> Any:
    """The cotangent of a, from that of the distances y (..., P, R): (..., P, M)."""
    batch = g.shape[:-2]
    shape = (*batch, *a.shape[-2:])
    g, a, b, y = (_flat(x, batch) for x in (g, a, b, y))
    out = np.zeros(a.shape, a.dtype)
    for part, rows in _blocks(out.shape[0], a.shape[1], b.shape[1] * a.shape[2]):
        slopes = pair_slopes(_differences(a, b, part, rows), y[part, rows], order)
        out[part, rows] = np.matmul(g[part, rows, None, :], slopes)[..., 0, :]
    return out.reshape(shape)


@kernel
def push_distances(t: Array, a: Array, b: Array, y: Array, order: float) -> Any:
    """What the tangent t of a adds to that of the distances y: (..., P, R)."""
    batch = y.shape[:-2]
    shape = y.shape
    t, a, b, y = (_flat(x, batch) for x in (t, a, b, y))
    out = np.zeros(y.shape, y.dtype)
    for part, rows in _blocks(out.shape[0], a.shape[1], b.shape[1] * a.shape[2]):
        slopes = pair_slopes(_differences(a, b, part, rows), y[part, rows], order)
        out[part, rows] = np.matmul(slopes, t[part, rows, :, None])[..., 0]
    return out.reshape(shape)
