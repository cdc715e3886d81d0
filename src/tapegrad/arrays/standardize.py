"""Kernels of normalisation on NumPy arrays: standardise rows or channels, and the way back.

Every pass of a block of rows stays in the cache of its core. Sums over a row are products with
vectors, which the BLAS does at the speed of the cache; numbers that belong to rows are spread over
a block by a matrix product of rank two, which is faster than NumPy's broadcasting.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tapegrad.arrays.blas import share_products
from tapegrad.arrays.reuse import empty

BLOCK = 1 << 17  # elements: with smaller ones the calls cost more than the cache brings
_FAR = 2.0  # a mean that is further from zero, in variances, would cost digits: centre first


def _wide(x: Any) -> Any:
    """Contiguous, and numbers of 16 bits as float32."""
    if x.dtype.itemsize == 2:
        return x.astype(np.float32)
    return np.ascontiguousarray(x)


def _result(shape: tuple[int, ...], dtype: Any) -> Any:
    return empty(prod(shape), dtype).reshape(shape)


def _like(y: Any, dtype: Any) -> Any:
    return y if y.dtype == dtype else y.astype(dtype)


class _Spread:
    """Blocks of `n` columns in which each row has its number: `spread(numbers, row)`."""

    def __init__(self, block: int, n: int, dtype: Any):
        self.left = np.ones((block, 2), dtype)
        self.right = np.zeros((2, n), dtype)
        self.right[0] = 1
        self.tiles = [np.empty((block, n), dtype) for _ in range(3)]

    def __call__(self, which: int, numbers: Any, row: Any, offset: Any = None) -> Any:
        """numbers[:, None] * row + offset in tile `which`; `row` 1 and `offset` 0 if None."""
        k = len(numbers)
        left = self.left[:k]
        left[:, 0] = numbers
        right = self.right
        right[0] = 1 if row is None else row
        right[1] = 0 if offset is None else offset
        return np.matmul(left, right, self.tiles[which][:k])


# --- rows: layer normalisation ---------------------------------------------------------------


def _block(n: int) -> int:
    return max(1, BLOCK // max(n, 1))


def _moments(x: Any, ones: Any) -> tuple:
    """Mean and variance of each row, and whether some mean is far from zero."""
    n = x.shape[1]
    mean = x @ ones
    mean /= n
    square = mean * mean
    variance = np.vecdot(x, x)
    variance /= n
    variance -= square
    far = not (square <= _FAR * variance).all()
    if far:
        centred = x - mean[:, None]
        variance = np.vecdot(centred, centred) / n
    return mean, variance, far


def standardize_rows(x: Any, weight: Any, bias: Any, n_axes: int, eps: float) -> tuple:
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last axes; mean, 1 / sqrt(...)."""
    lead, shape = x.shape[: x.ndim - n_axes], x.shape[x.ndim - n_axes :]
    rows, n = prod(lead), prod(shape)
    dtype, wide = x.dtype, _wide(x).reshape(rows, n)
    kind = wide.dtype
    y = _result((rows, n), kind)
    mean, scale = np.empty(rows, kind), np.empty(rows, kind)
    weight = None if weight is None else weight.reshape(n)
    bias = None if bias is None else bias.reshape(n)

    def work(first: int, last: int) -> None:
        step = _block(n)
        spread, ones = _Spread(min(step, last - first), n, kind), np.ones(n, kind)
        for i in range(first, last, step):
            j = min(i + step, last)
            part, out = wide[i:j], y[i:j]
            m, variance, far = _moments(part, ones)
            variance += eps
            r = np.reciprocal(np.sqrt(variance, variance), variance)
            mean[i:j], scale[i:j] = m, r
            if far:
                np.subtract(part, m[:, None], out)
                out *= spread(0, r, weight)
                if bias is not None:
                    out += bias
            else:
                np.multiply(part, spread(0, r, weight), out)
                out += spread(1, np.multiply(-m, r), weight, bias)

    if wide.size:
        share_products(rows, n, work)
    else:
        mean.fill(0)
        scale.fill(np.nan)
    ends = (*lead, *(1,) * n_axes)
    return _like(y, dtype).reshape(x.shape), mean.reshape(ends), scale.reshape(ends)


def standardize_rows_back(
    g: Any, x: Any, weight: Any, mean: Any, scale: Any, n_axes: int, eps: float
) -> Any:
    """The cotangent of `x` in `standardize_rows`, from that of its result."""
    rows, n = mean.size, prod(x.shape[x.ndim - n_axes :])
    dtype, wide = x.dtype, _wide(x).reshape(rows, n)
    kind = wide.dtype
    g, mean, scale = _like(_wide(g), kind).reshape(rows, n), mean.reshape(rows), scale.reshape(rows)
    weight = None if weight is None else _like(weight, kind).reshape(n)
    out = _result((rows, n), kind)

    def work(first: int, last: int) -> None:
        step = _block(n)
        spread = _Spread(min(step, last - first), n, kind)
        w = np.ones(n, kind) if weight is None else weight
        product = np.empty((min(step, last - first), n), kind)
        for i in range(first, last, step):
            j = min(i + step, last)
            part, cotangent, m, r = wide[i:j], g[i:j], mean[i:j], scale[i:j]
            if _is_far(m, r):
                part, m = part - m[:, None], np.zeros_like(m)
            p = np.multiply(cotangent, part, product[: j - i])
            total = cotangent @ w
            # dx = g w r - (x - m) r^3 sum(g w (x - m)) / n - r sum(g w) / n
            slope = (m * total - p @ w) * (r * r * r / n)
            result = np.multiply(cotangent, spread(0, r, weight), out[i:j])
            result += np.multiply(part, spread(1, slope, None), p)
            result += spread(2, -slope * m - total * (r / n), None)

    if wide.size:
        share_products(rows, n, work)
    return _like(out, dtype).reshape(x.shape)


def _is_far(mean: Any, scale: Any) -> bool:
    shift = mean * scale
    return not (shift * shift <= _FAR).all()


def standardize_rows_weight_back(
    g: Any, x: Any, mean: Any, scale: Any, like: Any, eps: float
) -> Any:
    """The cotangent of the weight in `standardize_rows`: the sum of g (x - mean) scale."""
    rows, n = mean.size, prod(like.shape)
    wide = _wide(x).reshape(rows, n)
    kind = wide.dtype
    g, mean, scale = _like(_wide(g), kind).reshape(rows, n), mean.reshape(rows), scale.reshape(rows)

    def work(first: int, last: int) -> Any:
        total = np.zeros(n, kind)
        step = _block(n)
        product = np.empty((min(step, last - first), n), kind)
        for i in range(first, last, step):
            j = min(i + step, last)
            part, cotangent, m, r = wide[i:j], g[i:j], mean[i:j], scale[i:j]
            if _is_far(m, r):
                part, m = part - m[:, None], np.zeros_like(m)
            total += r @ np.multiply(cotangent, part, product[: j - i])
            total -= (m * r) @ cotangent
        return total

    parts = share_products(rows, n, work) if wide.size else [np.zeros(n, kind)]
    return _like(sum(parts[1:], parts[0]), like.dtype).reshape(like.shape)


def sum_rows(g: Any, like: Any) -> Any:
    """The sum of `g` over its leading axes, with shape and dtype of `like`."""
    n = prod(like.shape)
    rows = g.size // (n or 1)
    wide = _wide(g).reshape(rows, n)
    ones = np.ones(rows, wide.dtype)
    if not wide.size:
        return np.zeros(like.shape, like.dtype)
    parts = share_products(rows, n, lambda first, last: ones[first:last] @ wide[first:last])
    return _like(sum(parts[1:], parts[0]), like.dtype).reshape(like.shape)
