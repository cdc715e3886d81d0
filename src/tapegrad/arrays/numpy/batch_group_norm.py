"""Kernels of batch and group normalisation on NumPy arrays of shape (N, C, ...).

Statistics are sums over rows or columns of a matrix, of which few numbers remain; all else is
`x * a + b` with a pair of numbers for each row or column. `groups` is None for batch normalisation,
where a channel is taken over all samples, else the number of groups that each sample is cut into.
"""

from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.channel_layout import channel_sums, cotangent_sums, layout
from tapegrad.arrays.numpy.layer_norm import FAR, SMALL, cast, widened
from tapegrad.core.annotations import Any, Array


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
    seen = layout(x, groups)
    wide, count = seen.matrix, seen.count
    with np.errstate(divide="ignore", invalid="ignore"):
        total, square = map(seen.collected, seen.both_sums(wide, wide))
        mean = np.divide(total, count)
        variance = square / count - mean * mean
        if _is_far(mean, variance):
            shift = seen.along(seen.dealt(cast(mean, wide.dtype)))
            total, square = map(seen.collected, seen.both_sums(wide, wide, shift))
            offset = total / count
            mean = cast(mean, wide.dtype) + offset
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
    seen = layout(x, groups)
    scale = 1 / np.sqrt(variance.astype(np.float64) + eps)
    far = _is_far(mean, variance)
    mean = seen.dealt(mean.astype(np.float64))
    a = seen.dealt(scale) * seen.of_channels(weight)
    b = np.zeros(len(a)) if bias is None else seen.of_channels(bias.astype(np.float64))
    y = seen.affine(a, b, seen.along(mean)) if far else seen.affine(a, b - mean * a)
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
    seen = layout(x, groups)
    count = max(seen.count, 1)
    scale = 1 / np.sqrt(variance.astype(np.float64) + eps)
    shift = seen.along(seen.dealt(mean)) if _is_far(mean, variance) else None
    w = seen.of_channels(weight)
    total, product = (seen.collected(s * w) for s in cotangent_sums(seen, g, x, shift))
    if shift is None:
        product -= mean * total
    # dx = g w s - (x - m) s^3 sum(g w (x - m)) / n - s sum(g w) / n
    slope = -product * scale**3 / count
    offset = -total * scale / count
    if shift is None:
        offset -= mean * slope
    given = seen.dealt(slope), seen.dealt(offset), shift, seen.like(g), seen.dealt(scale) * w
    return cast(seen.affine(*given), x.dtype).reshape(x.shape)


@kernel
def standardize_channels_weight_back(
    g: Array, x: Array, mean: Array, variance: Array, like: Array, groups: int | None, eps: float
) -> Any:
    """The cotangent of the weight: for each channel the sum of g (x - mean) / sqrt(...)."""
    if 0 < x.size <= SMALL:
        y = _small_standard(widened(x), mean, variance, groups, eps)[0]
        h = cast(widened(g), y.dtype).reshape(*x.shape[:2], -1)
        return np.add.reduce(h * y.reshape(h.shape), (0, 2)).astype(like.dtype, copy=False)
    seen = layout(x, groups)
    scale = seen.dealt(1 / np.sqrt(variance.astype(np.float64) + eps))
    dealt = seen.dealt(cast(mean, seen.matrix.dtype))
    shift = seen.along(dealt) if _is_far(mean, variance) else None
    total, product = cotangent_sums(seen, g, x, shift)
    if shift is None:
        product = product - dealt * total
    return seen.by_channel(product * scale).astype(like.dtype)


@kernel
def scale_channels(g: Array, variance: Array, weight: Array, eps: float) -> Any:
    """g * weight / sqrt(variance + eps): the cotangent of `x` where the moments are given."""
    seen = layout(g, None)
    scale = 1 / np.sqrt(variance.astype(np.float64) + eps)
    a = seen.of_channels(scale if weight is None else scale * weight)
    return cast(seen.affine(a, np.zeros(len(a))), g.dtype).reshape(g.shape)


@kernel
def sum_channels(g: Array, like: Array) -> Any:
    """The sum of `g` for each channel, with the dtype of `like`."""
    if 0 < g.size <= SMALL:
        wide = widened(g).reshape(*g.shape[:2], -1)
        return np.add.reduce(wide, (0, 2)).astype(like.dtype, copy=False)
    return channel_sums(g).astype(like.dtype)


@kernel
def standardize_given_weight_back(
    g: Array, x: Array, mean: Array, variance: Array, like: Array, eps: float
) -> Any:
    """The cotangent of the weight where the moments of each channel are given."""
    return standardize_channels_weight_back(g, x, mean, variance, like, None, eps)
