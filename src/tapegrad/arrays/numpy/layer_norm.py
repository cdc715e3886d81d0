"""Kernels of layer normalisation on NumPy arrays: rows with mean 0 and variance 1, and back.

Sums over a row are products with vectors, which the BLAS does at the speed of memory. Large arrays
are worked on in blocks of rows, over threads, so that what a pass leaves is near for the next.

A ufunc that repeats a column or a row takes twice its time for whole arrays of short rows. So what
is repeated is written out first, by a copy or an outer product of the BLAS.
"""

from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.memory_pool import empty
from tapegrad.arrays.numpy.row_blocks import in_row_blocks
from tapegrad.core.annotations import Any, Array, Callable, NativeDType

BLOCK = 1 << 18  # elements: with fewer the calls cost more than the cache brings
FAR = 2.0  # a mean further from zero, its square in variances, costs digits: it is taken off first
SMALL = 1 << 14  # elements: up to here one block, in the calling thread


def widened(x: Array) -> Any:
    """Contiguous, and numbers of 16 bits as float32."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else np.ascontiguousarray(x)


def cast(y: Any, dtype: Any) -> Any:
    return y if y.dtype == dtype else y.astype(dtype)


def fresh(shape: tuple[int, ...], dtype: NativeDType) -> Any:
    return empty(prod(shape), dtype).reshape(shape)


def _in_blocks(rows: int, n: int, work: Callable[[int, int], Any]) -> list:
    """What `work(i, j)` returns for blocks of `rows` rows of `n` elements."""
    return [work(0, rows)] if rows * n <= SMALL else in_row_blocks(rows, n, BLOCK // 2, work)


def _lines(n: int, dtype: NativeDType, weight: Array | None, bias: Array | None = None) -> Any:
    """Weight and bias as two rows; ones and zeros where there is none."""
    lines = np.ones((2, n), dtype)
    if weight is not None:
        lines[0] = weight.reshape(n)
    lines[1] = 0 if bias is None else bias.reshape(n)
    return lines


@kernel
def standardize_rows(x: Array, weight: Array, bias: Array, n_axes: int, eps: float) -> tuple:
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last axes; mean, 1 / sqrt(...)."""
    lead, shape = x.shape[: x.ndim - n_axes], x.shape[x.ndim - n_axes :]
    rows, n = prod(lead), prod(shape)
    wide = widened(x).reshape(rows, n)
    y = fresh((rows, n), wide.dtype)
    mean, scale = np.empty(rows, wide.dtype), np.empty(rows, wide.dtype)
    average = np.full(n, 1 / max(n, 1), wide.dtype)
    lines = _lines(n, wide.dtype, weight, bias)

    def invert(variance: Array) -> None:
        variance += eps
        np.fmod(variance, np.inf, variance)  # nan for squares too large: 1 / inf would hide it
        np.reciprocal(np.sqrt(variance, variance), variance)

    def centre(i: int, j: int) -> None:
        out, m, r = y[i:j], mean[i:j], scale[i:j]
        np.matmul(wide[i:j], average, m)
        np.subtract(wide[i:j], m[:, None], out)
        np.divide(np.vecdot(out, out), n, r)
        invert(r)
        out *= r[:, None]
        if weight is not None:
            out *= lines[0]
        if bias is not None:
            out += lines[1]

    def work(i: int, j: int) -> None:
        part, out, m, r = wide[i:j], y[i:j], mean[i:j], scale[i:j]
        np.matmul(part, average, m)
        np.divide(np.vecdot(part, part), n, r)
        r -= m * m
        invert(r)
        shift = m * r
        if not (shift * shift <= FAR).all():
            centre(i, j)
            return
        np.dot(r[:, None], lines[:1], out)
        out *= part
        out += np.stack([-shift, np.ones_like(r)], 1) @ lines

    _in_blocks(rows, n, centre if rows * n <= SMALL else work)
    ends = (*lead, *(1,) * n_axes)
    return cast(y, x.dtype).reshape(x.shape), mean.reshape(ends), scale.reshape(ends)


def _as_rows(g: Array, x: Array, mean: Array, scale: Array, n: int) -> tuple:
    rows = mean.size
    wide = widened(x).reshape(rows, n)
    g = cast(widened(g), wide.dtype).reshape(rows, n)
    return g, wide, mean.reshape(rows, 1), scale.reshape(rows, 1)


@kernel
def standardize_rows_back(
    g: Array, x: Array, weight: Array, mean: Array, scale: Array, n_axes: int, eps: float
) -> Any:
    """The cotangent of `x` in `standardize_rows`, from that of its result."""
    n = prod(x.shape[x.ndim - n_axes :])
    g, wide, mean, scale = _as_rows(g, x, mean, scale, n)
    out = fresh(wide.shape, wide.dtype)
    ones = np.ones((n, 1), wide.dtype)
    line = _lines(n, wide.dtype, weight)[:1]

    def work(i: int, j: int) -> None:
        part, m, r, h = wide[i:j], mean[i:j], scale[i:j], out[i:j]
        np.dot(r, line, h)
        h *= g[i:j]
        # dx = h - (x - m) r^2 sum(h (x - m)) / n - sum(h) / n, with h = g weight r
        total = h @ ones
        slope = (np.vecdot(h, part)[:, None] - m * total) * (r * r / n)
        along = np.empty_like(h)
        np.copyto(along, slope)
        along *= part
        h -= along
        np.copyto(along, total / n - slope * m)
        h -= along

    _in_blocks(mean.size, n, work)
    return cast(out, x.dtype).reshape(x.shape)


@kernel
def standardize_rows_weight_back(
    g: Array, x: Array, mean: Array, scale: Array, like: Array, eps: float
) -> Any:
    """The cotangent of the weight in `standardize_rows`: the sum of g (x - mean) scale."""
    n = prod(like.shape)
    g, wide, mean, scale = _as_rows(g, x, mean, scale, n)

    def work(i: int, j: int) -> Any:
        part, r, shift = wide[i:j], scale[i:j, 0], mean[i:j, 0] * scale[i:j, 0]
        if not (shift * shift <= FAR).all():
            return r @ (g[i:j] * (part - mean[i:j]))
        return r @ (g[i:j] * part) - shift @ g[i:j]

    parts = _in_blocks(mean.size, n, work)
    return cast(sum(parts[1:], parts[0]), like.dtype).reshape(like.shape)


@kernel
def sum_rows(g: Array, like: Array) -> Any:
    """The sum of `g` over its leading axes, with shape and dtype of `like`."""
    n = prod(like.shape)
    wide = widened(g).reshape(prod(g.shape[: g.ndim - len(like.shape)]), n)
    ones = np.ones(len(wide), wide.dtype)

    def add(i: int, j: int) -> Any:
        return ones[i:j] @ wide[i:j]

    parts = _in_blocks(len(wide), n, add)
    return cast(sum(parts[1:], parts[0]), like.dtype).reshape(like.shape)
