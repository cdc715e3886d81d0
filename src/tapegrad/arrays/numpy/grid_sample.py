"""Kernels that read images between pixels: sums of a few pixels each, with weights.

x (N, C, *space) are images, y (N, C, P) what is read at P points of each, from pixels `index`
(N, K, P), -1 for none, times `weight` (N, K, P). The three kernels are the gradients of one form,

    sum over n, c, k, p of y[n, c, p] * x[n, c, index[n, k, p]] * weight[n, k, p],

with respect to y, x and weight. The weights are kept as a sparse matrix from the pixels of all
images, and one zero for -1, to the points; it multiplies pixels that have their channels side by
side in memory.
"""

from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array


@kernel
def blend_points(x: Array, index: Array, weight: Array) -> Any:
    """What is read: for each point the sum of its pixels times their weights."""
    n, c = x.shape[:2]
    read = _matrix(index, weight, prod(x.shape[2:])) @ _pixels(x)
    points = read.reshape(n, index.shape[2], c).swapaxes(1, 2)
    return np.ascontiguousarray(points)


@kernel
def spread_points(y: Array, index: Array, weight: Array, space: tuple[int, ...]) -> Any:
    """What comes back: each point times its weights, added up at its pixels."""
    n, c, p = y.shape
    points = y.swapaxes(1, 2).reshape(n * p, c)
    size = prod(space)
    found = (_matrix(index, weight, size).T @ points)[: n * size].reshape(n, size, c)
    return np.ascontiguousarray(found.swapaxes(1, 2)).reshape(n, c, *space)


@kernel
def match_points(y: Array, x: Array, index: Array) -> Any:
    """For each point and each of its pixels the product of the two, summed over the channels."""
    pixels = _pixels(x)
    points = np.ascontiguousarray(y.swapaxes(1, 2))
    rows = _rows(index, prod(x.shape[2:]))
    found = [np.einsum("npc,npc->np", pixels[rows[:, i]], points) for i in range(index.shape[1])]
    return np.stack(found, axis=1)


def _pixels(x: Array) -> Any:
    """The pixels of all images as rows of channels, and a row of zeros."""
    n, c = x.shape[:2]
    size = prod(x.shape[2:])
    rows = np.empty((n * size + 1, c), x.dtype)
    rows[:-1].reshape(n, size, c)[...] = x.reshape(n, c, size).swapaxes(1, 2)
    rows[-1] = 0
    return rows


def _rows(index: Array, size: int) -> Any:
    """The rows of pixels (N, K, P)."""
    n = len(index)
    return np.where(index < 0, n * size, index + (np.arange(n) * size).reshape(-1, 1, 1))


def _matrix(index: Array, weight: Array, size: int) -> Any:
    """Points times pixels, with the weights."""
    from scipy.sparse import csr_array

    n, k, p = index.shape
    columns = _rows(index, size).swapaxes(1, 2).reshape(-1)
    values = weight.swapaxes(1, 2).reshape(-1)
    starts = np.arange(0, n * p * k + 1, k)
    return csr_array((values, columns, starts), shape=(n * p, n * size + 1))
