"""Kernels of sliding blocks: reading them out of images, and adding them up in images."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tapegrad.arrays.columns import Adder, Grid


def read_blocks(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, size: Any) -> Any:
    """The blocks of images (N, C, *image) as columns (N, C * offsets, P)."""
    grid = Grid(kernel, stride, padding, dilation, 1, size)
    x = x.reshape(len(x), 1, *x.shape[1:])
    shape = (*x.shape[:3], *grid.reach(grid.size))
    image, covered = grid.inside(x.shape[3:], 0, grid.size)
    part = x[image]
    if part.shape != shape:
        border = np.zeros(shape, x.dtype)
        border[covered] = part
        part = border
    windows = grid.windows(grid.strips(part, grid.size[-1]), grid.size)
    return windows.reshape(len(x), x.shape[2] * grid.offsets, prod(grid.size))


def sum_blocks(
    columns: Any, image: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, size: Any
) -> Any:
    """The gradient of `read_blocks`: columns added up in images (N, C, *image)."""
    grid = Grid(kernel, stride, padding, dilation, 1, size)
    n = len(columns)
    channels = columns.shape[1] // grid.offsets
    around = zip(grid.reach(grid.size), padding, image, strict=True)
    extent = [max(reach, p + length) for reach, p, length in around]
    total = np.zeros((n, 1, channels, *extent), columns.dtype)
    Adder(grid, columns.dtype).add(
        columns.reshape(n, 1, channels, *grid.kernel, *grid.size), total, 0
    )
    inner: Any = (slice(None), 0, slice(None))
    inner += tuple([slice(p, p + length) for p, length in zip(padding, image, strict=True)])
    return np.ascontiguousarray(total[inner])
