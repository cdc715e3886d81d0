"""Regions of images pooled to one size.

What such an operator makes of a region is a product of three matrices for each channel: y = A x B',
where A (bins, height) says of which rows a bin is made, and B (bins, width) of which columns. With
`roi_align` these are weights of linear interpolation, with `ps_roi_pool` averages. The gradient is
then A' g B. Only `roi_pool`, a maximum, is of another kind.
"""

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any

import numpy as np

import tapegrad
from tapegrad.core import errors
from tapegrad.tensors.tensor import Tensor

Array = np.ndarray


def _sampled(start: Any, size: Any, bins: int, ratio: int, length: int) -> Array:
    """Weights (bins, length): the mean of `ratio` points of each bin, interpolated linearly.

    Points up to one pixel outside are moved to the edge, those farther away count as zeros.
    """
    bin_size = size / bins
    n = ratio if ratio > 0 else ceil(bin_size)
    weights = np.zeros((bins, length), dtype=np.asarray(start).dtype)
    if n <= 0:
        return weights
    one = weights.dtype.type
    points = start + np.arange(bins, dtype=weights.dtype)[:, None] * bin_size
    points = points + (np.arange(n, dtype=weights.dtype) + one(0.5)) * bin_size / one(n)
    inside = (points >= -1) & (points <= length)
    points = np.clip(points, 0, length - 1)
    low = points.astype(np.int64)
    high = np.minimum(low + 1, length - 1)
    share = points - low
    rows = np.broadcast_to(np.arange(bins)[:, None], points.shape)
    np.add.at(weights, (rows, low), (1 - share) * inside / n)
    np.add.at(weights, (rows, high), share * inside / n)
    return weights


def _round(x: Any) -> int:
    """The nearest whole number, halves away from zero: as C rounds."""
    return int(np.trunc(x + np.copysign(x.dtype.type(0.5), x)))


def _edges(start: int, size: int, bins: int, length: int) -> list[tuple[int, int]]:
    """Where each bin begins and ends, cut off at 0 and `length`."""
    step = np.float32(size) / np.float32(bins)
    found = []
    for i in range(bins):
        low = int(np.floor(np.float32(i) * step)) + start
        high = int(np.ceil(np.float32(i + 1) * step)) + start
        found.append((min(max(low, 0), length), min(max(high, 0), length)))
    return found


def _averaged(start: int, size: int, bins: int, length: int, end: int, dtype: Any) -> Array:
    """Weights (bins, length) of averages; from `end` on there is no bin."""
    weights = np.zeros((bins, length), dtype=dtype)
    for row, (low, high) in zip(weights, _edges(start, size, bins, end), strict=True):
        if high > low:
            row[low:high] = 1 / (high - low)
    return weights


Matrices = Iterator[tuple[int, Array, Array]]  # of each region: its image, rows, columns


def _aligned(
    rois: Array, scale: float, bins: tuple, ratio: int, size: tuple, shift: float, least: float
) -> Matrices:
    """Matrices of interpolation; regions are shifted, and at least so long."""
    one = rois.dtype.type
    for image, x1, y1, x2, y2 in rois:
        left, top, right, bottom = (v * one(scale) - one(shift) for v in (x1, y1, x2, y2))
        height, width = bottom - top, right - left
        if least:
            height, width = max(height, one(least)), max(width, one(least))
        yield (
            int(image),
            _sampled(top, height, bins[0], ratio, size[0]),
            _sampled(left, width, bins[1], ratio, size[1]),
        )


def _boxes(rois: Array, scale: float, bins: tuple, size: tuple, less: int = 0) -> Matrices:
    """Matrices of averages; `less` rows and columns at the end belong to no bin."""
    one = rois.dtype.type
    height, width = size
    for image, *corners in rois:
        left, top, right, bottom = (_round(v * one(scale)) for v in corners)
        yield (
            int(image),
            _averaged(top, max(bottom - top, 1), bins[0], height, height - less, rois.dtype),
            _averaged(left, max(right - left, 1), bins[1], width, width - less, rois.dtype),
        )


def _span(weights: Array) -> slice:
    """Where the columns are that are not all zeros."""
    used = np.flatnonzero(weights.any(0))
    return slice(used[0], used[-1] + 1) if len(used) else slice(0, 0)


def _pooled(x: Tensor, n: int, bins: tuple, matrices: Matrices) -> Tensor:
    """y = A x B' of each region, for all channels: (n, C, *bins)."""
    images = x.detach().numpy()
    found = np.zeros((n, images.shape[1], *bins), dtype=images.dtype)
    for out, (image, rows, columns) in zip(found, matrices, strict=True):
        down, across = _span(rows), _span(columns)
        part = images[image, :, down, across]
        out[...] = rows[:, down] @ part @ columns[:, across].T
    return tapegrad.from_numpy(found)


def _spread(grad: Tensor, shape: tuple, matrices: Matrices) -> Tensor:
    """A' g B of each region, summed over the regions of an image."""
    found = np.zeros(shape, dtype=grad.numpy().dtype)
    for g, (image, rows, columns) in zip(grad.numpy(), matrices, strict=True):
        down, across = _span(rows), _span(columns)
        found[image, :, down, across] += rows[:, down].T @ g @ columns[:, across]
    return tapegrad.from_numpy(found)


def _pooled_by_place(x: Tensor, n: int, bins: tuple, matrices: Matrices) -> Tensor:
    """The same with a channel for each bin: channel c of bin (i, j) is made of c * bins + bin."""
    images = x.detach().numpy()
    images = images.reshape(len(images), -1, *bins, *images.shape[2:])
    found = np.zeros((n, images.shape[1], *bins), dtype=images.dtype)
    for out, (image, rows, columns) in zip(found, matrices, strict=True):
        part = np.einsum("cijhw,jw->cijh", images[image], columns)
        out[...] = np.einsum("cijh,ih->cij", part, rows)
    return tapegrad.from_numpy(found)


def _spread_by_place(grad: Tensor, shape: tuple, bins: tuple, matrices: Matrices) -> Tensor:
    found = np.zeros(
        (shape[0], shape[1] // (bins[0] * bins[1]), *bins, *shape[2:]), grad.numpy().dtype
    )
    for g, (image, rows, columns) in zip(grad.numpy(), matrices, strict=True):
        found[image] += np.einsum("cij,ih,jw->cijhw", g, rows, columns)
    return tapegrad.from_numpy(found.reshape(shape))


def _places(n: int, channels: int, bins: tuple) -> Tensor:
    """Which channel each value of a position-sensitive operator was made of."""
    one = tapegrad.arange(channels, dtype=tapegrad.int32).reshape(1, -1, *bins)
    return one.repeat(n, 1, 1, 1)


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Regions (K, 5), each the number of its image and two corners, as (K, C, height, width)."""
    _check("roi_align", input, rois)
    bins = (pooled_height, pooled_width)
    edges = (0.5, 0.0) if aligned else (0.0, 1.0)
    size = tuple(input.shape[2:])
    matrices = _aligned(rois.numpy(), spatial_scale, bins, sampling_ratio, size, *edges)
    return _pooled(input, len(rois), bins, matrices)


def roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """The gradient of the images of `roi_align`."""
    bins = (pooled_height, pooled_width)
    edges = (0.5, 0.0) if aligned else (0.0, 1.0)
    matrices = _aligned(rois.numpy(), spatial_scale, bins, sampling_ratio, (height, width), *edges)
    return _spread(grad, (batch_size, channels, height, width), matrices)


def ps_roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> tuple[Tensor, Tensor]:
    """`roi_align` where each bin looks at channels of its own; and which these are."""
    bins = (pooled_height, pooled_width)
    _check("ps_roi_align", input, rois, bins)
    size = tuple(input.shape[2:])
    matrices = _aligned(rois.numpy(), spatial_scale, bins, sampling_ratio, size, 0.5, 0.0)
    pooled = _pooled_by_place(input, len(rois), bins, matrices)
    return pooled, _places(len(rois), input.size(1), bins)


def ps_roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """The gradient of the images of `ps_roi_align`."""
    bins = (pooled_height, pooled_width)
    matrices = _aligned(
        rois.numpy(), spatial_scale, bins, sampling_ratio, (height, width), 0.5, 0.0
    )
    return _spread_by_place(grad, (batch_size, channels, height, width), bins, matrices)


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """Averages of bins, each of channels of its own; and which these are."""
    bins = (pooled_height, pooled_width)
    _check("ps_roi_pool", input, rois, bins)
    # torchvision leaves out the last row and column here, and not in its gradient
    matrices = _boxes(rois.numpy(), spatial_scale, bins, tuple(input.shape[2:]), less=1)
    pooled = _pooled_by_place(input, len(rois), bins, matrices)
    return pooled, _places(len(rois), input.size(1), bins)


def ps_roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """The gradient of the images of `ps_roi_pool`."""
    bins = (pooled_height, pooled_width)
    matrices = _boxes(rois.numpy(), spatial_scale, bins, (height, width))
    return _spread_by_place(grad, (batch_size, channels, height, width), bins, matrices)


def roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """The largest value of each bin, and its place in the image; 0 and -1 of an empty bin."""
    _check("roi_pool", input, rois)
    images = input.detach().numpy()
    height, width = images.shape[2:]
    shape = (len(rois), images.shape[1], pooled_height, pooled_width)
    values = np.zeros(shape, dtype=images.dtype)
    places = np.full(shape, -1, dtype=np.int32)
    for k, (image, *corners) in enumerate(rois.numpy()):
        scale = corners[0].dtype.type(spatial_scale)
        left, top, right, bottom = (_round(v * scale) for v in corners)
        down = _edges(top, max(bottom - top + 1, 1), pooled_height, height)
        across = _edges(left, max(right - left + 1, 1), pooled_width, width)
        for i, (y1, y2) in enumerate(down):
            for j, (x1, x2) in enumerate(across):
                if y2 <= y1 or x2 <= x1:
                    continue
                part = images[int(image), :, y1:y2, x1:x2].reshape(len(images[0]), -1)
                best = part.argmax(1)
                values[k, :, i, j] = np.take_along_axis(part, best[:, None], 1)[:, 0]
                places[k, :, i, j] = (y1 + best // (x2 - x1)) * width + x1 + best % (x2 - x1)
    return tapegrad.from_numpy(values), tapegrad.from_numpy(places)


def roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    argmax: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """The gradient of the images of `roi_pool`: it goes to where the largest values were."""
    found = np.zeros((batch_size, channels, height * width), dtype=grad.numpy().dtype)
    places = argmax.numpy()
    k, c, i, j = (places >= 0).nonzero()
    images = rois.numpy()[:, 0].astype(np.int64)
    np.add.at(found, (images[k], c, places[k, c, i, j]), grad.numpy()[k, c, i, j])
    return tapegrad.from_numpy(found.reshape(batch_size, channels, height, width))


def _check(name: str, input: Tensor, rois: Tensor, bins: tuple | None = None) -> None:
    if rois.dim() != 2 or rois.size(1) != 5:
        raise errors.runtime_error(
            "rois must have shape as Tensor[K, 5]", "A region is image, x1, y1, x2, y2."
        )
    if input.dtype != rois.dtype:
        raise errors.runtime_error(
            "Expected tensor for argument #1 'input' to have the same type as tensor for argument "
            f"#2 'rois'; but type {errors.tensor_type(input.dtype)} does not equal "
            f"{errors.tensor_type(rois.dtype)} (while checking arguments for "
            f"{name}_forward_kernel)",
            "Convert one of them.",
        )
    if bins is not None and input.size(1) % (bins[0] * bins[1]):
        raise errors.runtime_error(
            "input channels must be a multiple of pooling height * pooling width",
            "Each bin has channels of its own.",
        )


KERNELS: dict[str, Callable] = {
    "roi_align": roi_align,
    "_roi_align_backward": roi_align_backward,
    "ps_roi_align": ps_roi_align,
    "_ps_roi_align_backward": ps_roi_align_backward,
    "ps_roi_pool": ps_roi_pool,
    "_ps_roi_pool_backward": ps_roi_pool_backward,
    "roi_pool": roi_pool,
    "_roi_pool_backward": roi_pool_backward,
}
