"""Kernels of batch and group normalisation on NumPy arrays of shape (N, C, ...).

A channel of one sample is a row. Statistics are sums over rows, of which few numbers remain; all
else is `x * a + b` with a pair of numbers for each row. `groups` is None for batch normalisation,
where a channel is taken over all samples, else the number of groups that each sample is cut into.
"""

from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blas_threads import share_products
from tapegrad.arrays.numpy.layer_norm import BLOCK, FAR, SMALL, cast, fresh, widened
from tapegrad.core.annotations import Any, Array

_SHORT = 16  # elements: rows below it are summed by NumPy, not one by one by the BLAS


def _rows(x: Array) -> tuple:
    """`x` as (rows, length), and (N, C)."""
    n, c = x.shape[:2]
    return x.reshape(n * c, prod(x.shape[2:])), (n, c)


def _row_sums(x: Array, other: Array, shift: Array = None) -> tuple:
    """Of each row of (rows, length) the sums of `x` and of `x * other`, in double precision.

    `shift`, one number for each row, is taken from `other` first; from both where they are one.
    """
    rows, length = x.shape
    first, second = np.empty(rows), np.empty(rows)
    ones = np.ones(length, x.dtype)
    step = max(1, BLOCK // max(length, 1))

    def work(begin: int, end: int) -> None:
        for i in range(begin, end, step):
            j = min(i + step, end)
            a, b = x[i:j], other[i:j]
            if shift is not None:
                b = b - shift[i:j, None]
                a = b if x is other else a
            if length < _SHORT:
                first[i:j] = np.add.reduce(a, 1)
                second[i:j] = np.add.reduce(a * b, 1)
            else:
                first[i:j] = a @ ones
                second[i:j] = np.vecdot(a, b)

    share_products(rows, length, work, step)
    return first, second


def _affine(
    x: Array, a: Array, b: Array, shift: Array = None, g: Array = None, ga: Any = None
) -> Any:
    """(x - shift) * a + b, plus g * ga where given; all but `x` and `g` one number for each row."""
    rows, length = x.shape
    out = fresh(x.shape, x.dtype)
    columns = [None if c is None else cast(c, x.dtype)[:, None] for c in (a, b, shift, ga)]
    a, b, shift, ga = columns
    step = max(1, BLOCK // max(length, 1))

    def work(begin: int, end: int) -> None:
        scratch = np.empty((min(step, end - begin) if g is not None else 0, length), x.dtype)
        for i in range(begin, end, step):
            j = min(i + step, end)
            part, y = x[i:j], out[i:j]
            if shift is not None:
                part = np.subtract(part, shift[i:j], y)
            np.multiply(part, a[i:j], y)
            if g is not None:
                y += np.multiply(g[i:j], ga[i:j], scratch[: j - i])
            y += b[i:j]

    share_products(rows, length, work, step)
    return out


# --- groups of rows ----------------------------------------------------------------------------


def _collect(sums: Any, shape: tuple[int, int], groups: int | None) -> Any:
    """Sums of rows added up: to (C,), or to (N, groups)."""
    n, c = shape
    if groups is None:
        return sums.reshape(n, c).sum(0)
    return sums.reshape(n, groups, c // groups).sum(2)


def _deal(values: Array, shape: tuple[int, int], groups: int | None) -> Any:
    """The other way: what belongs to a channel or group, for each row."""
    n, c = shape
    if groups is None:
        return np.broadcast_to(values.reshape(1, c), (n, c)).reshape(-1)
    return np.repeat(values.reshape(n * groups), c // groups)


def _per_channel(weight: Array, shape: tuple[int, int]) -> Any:
    """A number for each channel, for each row; 1 if None."""
    if weight is None:
        return 1.0
    return np.broadcast_to(weight.astype(np.float64), shape).reshape(-1)


def _is_far(mean: Array, variance: Array) -> bool:
    return not (mean * mean <= FAR * variance).all()


def _grouped(x: Array, groups: int | None) -> tuple:
    """`x` as (N, C, length) or (N, groups, length), and the axes of one mean."""
    n, c = x.shape[:2]
    if groups is None:
        return x.reshape(n, c, prod(x.shape[2:])), (0, 2)
    return x.reshape(n, groups, prod(x.shape[1:]) // groups), (2,)


def _spread(values: Array, groups: int | None) -> Any:
    """A number for each channel or group in a shape that broadcasts with what is grouped."""
    return values[:, None] if groups is None else values[:, :, None]


@kernel
def channel_moments(x: Array, groups: int | None) -> tuple:
    """Mean and variance, which divides by the count, of each channel or group."""
    dtype = np.dtype(np.float32) if x.dtype.itemsize == 2 else x.dtype
    if 0 < x.size <= SMALL:
        grouped, axes = _grouped(widened(x), groups)
        count = grouped.size // prod(n for i, n in enumerate(grouped.shape) if i not in axes)
        mean = np.add.reduce(grouped, axes) / count
        d = grouped - _spread(mean, groups)
        return mean.astype(dtype, copy=False), np.add.reduce(d * d, axes) / dtype.type(count)
    rows, shape = _rows(widened(x))
    count = rows.size // max(shape[1] if groups is None else shape[0] * groups, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        total, square = (_collect(s, shape, groups) for s in _row_sums(rows, rows))
        mean = np.divide(total, count)
        variance = square / count - mean * mean
        if _is_far(mean, variance):
            shift = _deal(cast(mean, rows.dtype), shape, groups)
            total, square = (_collect(s, shape, groups) for s in _row_sums(rows, rows, shift))
            offset = total / count
            mean = cast(mean, rows.dtype) + offset
            variance = square / count - offset * offset
    return mean.astype(dtype), variance.astype(dtype)


def _small_standard(
    x: Array, mean: Array, variance: Array, groups: int | None, eps: float
) -> tuple:
    """(x - mean) / sqrt(variance + eps), grouped, and the factors."""
    grouped, _ = _grouped(x, groups)
    variance = variance + x.dtype.type(eps)
    if groups is not None:
        variance = np.fmod(variance, np.inf)  # nan where the squares were too large
    scale = _spread(np.reciprocal(np.sqrt(variance)), groups)
    return (grouped - _spread(mean, groups)) * scale, scale


@kernel
def standardize_channels(
    x: Array,
    mean: Array,
    variance: Array,
    weight: Array,
    bias: Array,
    groups: int | None,
    eps: float,
) -> Any:
    """(x - mean) / sqrt(variance + eps) * weight + bias; weight and bias one for each channel."""
    if 0 < x.size <= SMALL:
        y = _small_standard(widened(x), mean, variance, groups, eps)[0].reshape(*x.shape[:2], -1)
        y = y if weight is None else y * weight[:, None]
        y = y if bias is None else y + bias[:, None]
        return cast(y, x.dtype).reshape(x.shape)
    rows, shape = _rows(widened(x))
    scale = 1 / np.sqrt(variance.astype(np.float64) + eps)
    far = _is_far(mean, variance)
    mean = _deal(mean.astype(np.float64), shape, groups)
    a = _deal(scale, shape, groups) * _per_channel(weight, shape)
    b = np.zeros(len(a)) if bias is None else _per_channel(bias, shape)
    y = _affine(rows, a, b, mean) if far else _affine(rows, a, b - mean * a)
    return cast(y, x.dtype).reshape(x.shape)


@kernel
def standardize_channels_back(
    g: Array, x: Array, weight: Array, mean: Array, variance: Array, groups: int | None, eps: float
) -> Any:
    """The cotangent of `x` in `standardize_channels` of its own moments."""
    if 0 < x.size <= SMALL:
        y, factor = _small_standard(widened(x), mean, variance, groups, eps)
        h = cast(widened(g), y.dtype).reshape(*x.shape[:2], -1)
        h = (h if weight is None else h * weight[:, None]).reshape(y.shape)
        axes = _grouped(x, groups)[1]
        n = y.size // mean.size
        y *= np.add.reduce(h * y, axis=axes, keepdims=True) / n
        y += np.add.reduce(h, axis=axes, keepdims=True) / n
        return cast((h - y) * factor, x.dtype).reshape(x.shape)
    rows, shape = _rows(widened(x))
    cotangent = cast(widened(g), rows.dtype).reshape(rows.shape)
    count = rows.size // max(shape[1] if groups is None else shape[0] * groups, 1)
    scale = 1 / np.sqrt(variance.astype(np.float64) + eps)
    shift = _deal(cast(mean, rows.dtype), shape, groups) if _is_far(mean, variance) else None
    w = _per_channel(weight, shape)
    total, product = _row_sums(cotangent, rows, shift)
    total, product = (_collect(s * w, shape, groups) for s in (total, product))
    if shift is None:
        product -= mean * total
    # dx = g w s - (x - m) s^3 sum(g w (x - m)) / n - s sum(g w) / n
    slope = -product * scale**3 / max(count, 1)
    offset = -total * scale / max(count, 1)
    if shift is None:
        offset -= mean * slope
    slope, offset = _deal(slope, shape, groups), _deal(offset, shape, groups)
    scale = _deal(scale, shape, groups) * w
    return cast(_affine(rows, slope, offset, shift, cotangent, scale), x.dtype).reshape(x.shape)


@kernel
def standardize_channels_weight_back(
    g: Array, x: Array, mean: Array, variance: Array, like: Array, groups: int | None, eps: float
) -> Any:
    """The cotangent of the weight: for each channel the sum of g (x - mean) / sqrt(...)."""
    if 0 < x.size <= SMALL:
        y = _small_standard(widened(x), mean, variance, groups, eps)[0]
        h = cast(widened(g), y.dtype).reshape(*x.shape[:2], -1)
        return np.add.reduce(h * y.reshape(h.shape), (0, 2)).astype(like.dtype, copy=False)
    rows, shape = _rows(widened(x))
    cotangent = cast(widened(g), rows.dtype).reshape(rows.shape)
    scale = _deal(1 / np.sqrt(variance.astype(np.float64) + eps), shape, groups)
    dealt = _deal(cast(mean, rows.dtype), shape, groups)
    shift = dealt if _is_far(mean, variance) else None
    total, product = _row_sums(cotangent, rows, shift)
    if shift is None:
        product = product - dealt * total
    return (product * scale).reshape(shape).sum(0).astype(like.dtype)


@kernel
def scale_channels(g: Array, variance: Array, weight: Array, eps: float) -> Any:
    """g * weight / sqrt(variance + eps): the cotangent of `x` where the moments are given."""
    rows, shape = _rows(widened(g))
    a = _deal(1 / np.sqrt(variance.astype(np.float64) + eps), shape, None)
    a = a * _per_channel(weight, shape)
    return cast(_affine(rows, a, np.zeros(len(a))), g.dtype).reshape(g.shape)


@kernel
def sum_channels(g: Array, like: Array) -> Any:
    """The sum of `g` for each channel, with the dtype of `like`."""
    if 0 < g.size <= SMALL:
        wide = widened(g).reshape(*g.shape[:2], -1)
        return np.add.reduce(wide, (0, 2)).astype(like.dtype, copy=False)
    rows, shape = _rows(widened(g))
    if rows.shape[1] < _SHORT:
        sums = np.add.reduce(rows, 1, np.float64)
    else:
        n, length = rows.shape
        ones = np.ones(length, rows.dtype)
        sums = np.empty(n)
        step = max(1, BLOCK // length)

        def work(begin: int, end: int) -> None:
            for i in range(begin, end, step):
                j = min(i + step, end)
                sums[i:j] = rows[i:j] @ ones

        share_products(n, length, work, step)
    return sums.reshape(shape).sum(0, dtype=np.float64).astype(like.dtype)


@kernel
def standardize_given_weight_back(
    g: Array, x: Array, mean: Array, variance: Array, like: Array, eps: float
) -> Any:
    """The cotangent of the weight where the moments of each channel are given."""
    return standardize_channels_weight_back(g, x, mean, variance, like, None, eps)
