"""Convolutions that are products of matrices: of kernels that see one place, or all of an image.

Shapes as in conv.py; images with few places are put side by side in one product.
"""

import numpy as np

from tapegrad.arrays.numpy.blas_threads import product, products
from tapegrad.arrays.numpy.conv_columns import Grid
from tapegrad.core.annotations import Any, Array

_FEW = 64  # places: images with fewer are put side by side


def is_flat(grid: Grid) -> bool:
    """Whether the kernels are of one element, for all channels, and all that they see is there."""
    return grid.offsets == 1 and grid.groups == 1 and not any(grid.padding)


def sees_all(grid: Grid, image: Any) -> bool:
    """Whether there is one place, and the kernels, for all channels, cover an image from there."""
    whole = grid.kernel == tuple(image) and grid.places == 1 < grid.offsets
    return whole and grid.groups == 1 and not any(grid.padding) and max(grid.dilation) == 1


def as_channels(x: Array) -> Any:
    """Pixels as channels of images of one pixel."""
    return x.reshape(len(x), -1, *[1] * (x.ndim - 2))


def convolve_flat(grid: Grid, x: Array, w: Array, bias: Any) -> Any:
    """w @ x of each image, with a bias: (N, O, *size)."""
    y = _multiplied(w.reshape(len(w), -1), _seen(grid, x))
    if bias is not None:
        y += bias[:, None]
    return y.reshape(len(x), len(w), *grid.size)


def convolve_transposed_flat(grid: Grid, y: Array, w: Array, bias: Any, size: Any) -> Any:
    """w.T @ y of each image, at the pixels that are places: (N, C, *size)."""
    n, channels = len(y), w.shape[1]
    x = _multiplied(w.reshape(len(w), -1).T, y.reshape(*y.shape[:2], -1))
    x = x.reshape(n, channels, *grid.size)
    if grid.size != tuple(size):
        apart = np.zeros((n, channels, *size), x.dtype)
        apart[places_of(grid)] = x
        x = apart
    if bias is not None:
        x += bias.reshape(-1, *[1] * len(size))
    return x


def convolve_weights_flat(grid: Grid, x: Array, y: Array) -> Any:
    """The sum of y @ x.T over the images: (O, C)."""
    x, y = _seen(grid, x), y.reshape(*y.shape[:2], -1)
    if len(x) * x.shape[1] * y.shape[1] < x.size + y.size:  # products take less than copies
        return np.add.reduce(products(y, x.swapaxes(1, 2)), 0)
    return product(_side_by_side(y), _side_by_side(x).T)


def places_of(grid: Grid) -> Any:
    """The index of the pixels that are places, where there is no padding."""
    steps = zip(grid.size, grid.stride, strict=True)
    return (..., *[slice(0, (size - 1) * step + 1, step) for size, step in steps])


def _seen(grid: Grid, x: Array) -> Any:
    """The pixels of images that are places: (N, C, P)."""
    if x.shape[2:] != grid.size:
        x = x[places_of(grid)]
    return x.reshape(*x.shape[:2], -1)


def _side_by_side(x: Array) -> Any:
    """Images (N, C, P) as a matrix (C, N * P)."""
    return x.swapaxes(0, 1).reshape(x.shape[1], -1)


def _multiplied(w: Array, x: Array) -> Any:
    """w @ x of each image (N, C, P)."""
    n, _, places = x.shape
    if n > 1 and places < _FEW:
        y = product(w, _side_by_side(x)).reshape(len(w), n, places)
        return np.ascontiguousarray(y.swapaxes(0, 1))
    return products(np.broadcast_to(w, (n, *w.shape)), x)
