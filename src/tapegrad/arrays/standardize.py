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

BLOCK = 1 << 18  # elements: with smaller ones the calls cost more than the cache brings
SMALL = 1 << 14  # elements: up to here a few passes over the whole
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
    """Writes a number for each row, or one times a row of numbers, over a block of rows."""

    def __init__(self, block: int, n: int, dtype: Any):
        self.left = np.ones((block, 2), dtype)
        self.right = np.zeros((2, n), dtype)

    def __call__(self, numbers: Any, row: Any, offset: Any, out: Any) -> Any:
        """numbers[:, None] * row + offset in `out`."""
        left = self.left[: len(numbers)]
        left[:, 0] = numbers
        self.right[0] = row
        self.right[1] = offset
        return np.matmul(left, self.right, out)


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


def _standardized(x: Any, eps: float) -> tuple:
    """Rows with mean 0 and variance 1, what they were multiplied with, and their means."""
    n = x.shape[1]
    mean = np.add.reduce(x, axis=1, keepdims=True)
    mean /= n
    d = x - mean
    scale = np.vecdot(d, d)[:, None]
    scale /= n
    scale += eps
    np.reciprocal(np.sqrt(scale, scale), scale)
    d *= scale
    return d, scale, mean


def standardize_rows(x: Any, weight: Any, bias: Any, n_axes: int, eps: float) -> tuple:
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last axes; mean, 1 / sqrt(...)."""
    lead, shape = x.shape[: x.ndim - n_axes], x.shape[x.ndim - n_axes :]
    rows, n = prod(lead), prod(shape)
    dtype, wide = x.dtype, _wide(x).reshape(rows, n)
    kind = wide.dtype
    ends = (*lead, *(1,) * n_axes)
    if 0 < wide.size <= SMALL:
        d, scale, mean = _standardized(wide, eps)
        y = d if weight is None else d * weight.reshape(n)
        y = y if bias is None else y + bias.reshape(n)
        return _like(y, dtype).reshape(x.shape), mean.reshape(ends), scale.reshape(ends)
    y = _result((rows, n), kind)
    mean, scale = np.empty(rows, kind), np.empty(rows, kind)
    weight = 1 if weight is None else weight.reshape(n)
    bias = 0 if bias is None else bias.reshape(n)

    def work(first: int, last: int) -> None:
        step = min(_block(n), last - first)
        spread, ones = _Spread(step, n, kind), np.ones(n, kind)
        scratch = np.empty((step, n), kind)
        for i in range(first, last, step):
            j = min(i + step, last)
            part, out = wide[i:j], y[i:j]
            m, variance, far = _moments(part, ones)
            variance += eps
            r = np.reciprocal(np.sqrt(variance, variance), variance)
            mean[i:j], scale[i:j] = m, r
            if far:  # (x - m) r w + b
                np.subtract(part, m[:, None], out)
                out *= spread(r, weight, 0, scratch[: j - i])
                out += bias
            else:  # x r w - (m r w - b)
                spread(r, weight, 0, out)
                out *= part
                out += spread(-m * r, weight, bias, scratch[: j - i])

    if wide.size:
        share_products(rows, n, work)
    else:
        mean.fill(0)
        scale.fill(np.nan)
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
    if 0 < wide.size <= SMALL:
        d, small_scale, _ = _standardized(wide, eps)
        h = g if weight is None else g * weight
        d *= np.vecdot(h, d)[:, None] / n
        d += np.add.reduce(h, axis=1, keepdims=True) / n
        return _like((h - d) * small_scale, dtype).reshape(x.shape)
    out = _result((rows, n), kind)
    w = np.ones(n, kind) if weight is None else weight

    def work(first: int, last: int) -> None:
        step = min(_block(n), last - first)
        spread, whole = _Spread(step, n, kind), np.empty((step, n), kind)
        for i in range(first, last, step):
            j = min(i + step, last)
            part, cotangent, m, r = wide[i:j], g[i:j], mean[i:j], scale[i:j]
            if _is_far(m, r):
                part, m = part - m[:, None], np.zeros_like(m)
            scratch, result = whole[: j - i], out[i:j]
            np.multiply(cotangent, part, scratch)
            total = cotangent @ w
            # dx = g w r - (x - m) r^3 sum(g w (x - m)) / n - r sum(g w) / n
            slope = (m * total - scratch @ w) * (r * r * r / n)
            spread(r, w, 0, result)
            result *= cotangent
            spread(slope, 1, 0, scratch)
            scratch *= part
            result += scratch
            result += spread(-slope * m - total * (r / n), 1, 0, scratch)

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

    if 0 < wide.size <= SMALL:
        product = (wide - mean[:, None]) * (g * scale[:, None])
        return _like(np.add.reduce(product, 0), like.dtype).reshape(like.shape)

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
    if wide.size <= SMALL:
        return _like(np.add.reduce(wide, 0), like.dtype).reshape(like.shape)
    ones = np.ones(rows, wide.dtype)
    parts = share_products(rows, n, lambda first, last: ones[first:last] @ wide[first:last])
    return _like(sum(parts[1:], parts[0]), like.dtype).reshape(like.shape)
