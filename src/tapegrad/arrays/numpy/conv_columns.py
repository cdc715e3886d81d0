"""Columns: for each place of a kernel on an image, the pixels under it.

A convolution is a product of the weights and the columns.

In shapes: N images, G groups, C channels of a group; `kernel` and `size` have a number for each
axis of the image; P places of the kernel (the product of `size`).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from operator import mul
from typing import Any

import numpy as np

from tapegrad.arrays.numpy.slice_clone import seen_as
from tapegrad.core.annotations import Array


class Grid:
    """Where a kernel is put on an image: the sizes of both and of the output, and the steps.

    `Grid.of` gives one that was made before for the same.
    """

    __slots__ = (
        "covers",  # how many pixels along each axis all places of the kernel cover
        "dilation",
        "groups",
        "kernel",
        "offsets",
        "padding",
        "places",
        "size",
        "stride",
    )

    def __init__(
        self, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
    ):
        self.kernel = tuple(kernel)
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups
        self.size = tuple(size)  # of the output: places of the kernel along each axis
        self.offsets = prod(self.kernel)
        self.places = prod(self.size)
        self.covers = self.reach(self.size)

    @staticmethod
    @lru_cache(maxsize=256)
    def of(kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any) -> Grid:
        return Grid(kernel, stride, padding, dilation, groups, size)

    def reach(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """How many pixels so many places of the kernel cover, those in between included."""
        steps = zip(size, self.stride, self.dilation, self.kernel, strict=True)
        return tuple([(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in steps])

    def under(self, offset: tuple[int, ...], size: tuple[int, ...]) -> tuple[slice, ...]:
        """The pixels under an offset of the kernel, along the first axes of the image."""
        found = []
        for k, n, s, d in zip(offset, size, self.stride, self.dilation, strict=False):
            found.append(slice(k * d, k * d + (n - 1) * s + 1, s))
        return tuple(found)

    def shifts(self) -> bool:
        """Whether the columns of a row of the kernel are runs of the strips, one for each row."""
        return len(self.kernel) == 2 and self.kernel[0] > 1 and self.stride[0] == 1

    def inside(self, shape: Any, first: int, size: Any) -> tuple[tuple, tuple]:
        """Slices of an image, and where they lie in what `size` places from row `first` cover."""
        return _overlap(shape, first * self.stride[0], self.padding, self.reach(size))

    def strips(self, x: Array, places: int) -> Any:
        """Windows along the last axis of (N, G, C, *lines, n): (N, G, C, k, *lines, places)."""
        *lines, step = x.strides[3:]
        return seen_as(
            x,
            (*x.shape[:3], self.kernel[-1], *x.shape[3:-1], places),
            (*x.strides[:3], step * self.dilation[-1], *lines, step * self.stride[-1]),
        )

    def windows(self, strips: Any, size: tuple[int, ...]) -> Any:
        """Windows along the other axes of strips: (N, G, C, *kernel, *size)."""
        *lines, step = strips.strides[4:]
        return seen_as(
            strips,
            (*strips.shape[:3], *self.kernel, *size),
            (
                *strips.strides[:3],
                *[s * d for s, d in zip(lines, self.dilation, strict=False)],
                strips.strides[3],
                *[s * d for s, d in zip(lines, self.stride, strict=False)],
                step,
            ),
        )


@lru_cache(maxsize=256)
def _overlap(shape: Any, first: int, padding: Any, widths: Any) -> tuple[tuple, tuple]:
    image, covered = [], []
    starts = [first, *[0] * (len(shape) - 1)]
    for n, start, p, width in zip(shape, starts, padding, widths, strict=True):
        start -= p
        low = min(max(start, 0), n)
        high = max(min(start + width, n), low)
        image.append(slice(low, high))
        covered.append(slice(low - start, high - start))
    return (Ellipsis, *image), (Ellipsis, *covered)


class Adder:
    """Columns of one tile after another, added to the pixels they are of."""

    __slots__ = ("grid", "strips")

    def __init__(self, grid: Grid, dtype: Any):
        self.grid = grid
        self.strips = np.empty(0, dtype)

    def add(self, columns: Array, target: Array, first: int) -> None:
        """Add columns (N, G, C, *kernel, *size) to images; `first` is the first row of places."""
        grid = self.grid
        *lines, places = columns.shape[3 + len(grid.kernel) :]
        reach = grid.reach((*lines, places))
        strips = self._strips(columns, (*columns.shape[:3], grid.kernel[-1], *reach[:-1], places))
        starts = [first * grid.stride[0], *[0] * len(lines)]
        covered = [slice(a, a + n) for a, n in zip(starts, reach, strict=True)]
        target = target[(slice(None),) * 3 + tuple(covered)]
        step, apart = grid.stride[-1], grid.dilation[-1]
        for k in range(grid.kernel[-1]):
            pixels = target[..., k * apart : k * apart + (places - 1) * step + 1 : step]
            np.add(pixels, strips[:, :, :, k], out=pixels)

    def _strips(self, columns: Array, shape: tuple[int, ...]) -> Any:
        """The columns added up along all axes but the last: in longer runs than the rows."""
        grid = self.grid
        if grid.kernel[-1] == grid.offsets and all([s == 1 for s in grid.stride[:-1]]):
            return columns.reshape(shape)
        if self.strips.shape != shape:
            self.strips = np.empty(shape, columns.dtype)
        self.strips.fill(0)
        *lines, _ = columns.shape[3 + len(grid.kernel) :]
        for number, offset in enumerate(product(*map(range, grid.kernel[:-1]))):
            part = self.strips[(slice(None),) * 4 + grid.under(offset, lines)]
            if number:
                np.add(part, columns[(slice(None),) * 3 + offset], out=part)
            else:
                part[...] = columns[(slice(None),) * 3 + offset]
        return self.strips


def read_all(grid: Grid, x: Array) -> Any:
    """The columns of all of x (N, G, C, *image), as matrices (N, G, C * offsets, P)."""
    shape = (*x.shape[:3], *grid.covers)
    if x.shape != shape or any(grid.padding):
        image, inside = _overlap(x.shape[3:], 0, grid.padding, grid.covers)
        part = x[image]
        x = part if part.shape == shape else np.zeros(shape, x.dtype)
        if x is not part:
            x[inside] = part
    steps = x.strides[3:]
    windows = seen_as(
        x,
        (*shape[:3], *grid.kernel, *grid.size),
        (*x.strides[:3], *map(mul, steps, grid.dilation), *map(mul, steps, grid.stride)),
    )
    return windows.reshape(*shape[:2], shape[2] * grid.offsets, grid.places)


def add_all(grid: Grid, columns: Array, size: Any) -> Any:
    """Columns (N, G, C * offsets, P) added to the pixels they are of: images (N, G, C, *size)."""
    n, groups, rows, _ = columns.shape
    around = zip(grid.reach(grid.size), grid.padding, size, strict=True)
    extent = [max(reach, p + length) for reach, p, length in around]
    lead = (n, groups, rows // grid.offsets)
    total = np.zeros((*lead, *extent), columns.dtype)
    Adder(grid, columns.dtype).add(columns.reshape(*lead, *grid.kernel, *grid.size), total, 0)
    inner: Any = [slice(p, p + length) for p, length in zip(grid.padding, size, strict=True)]
    return np.ascontiguousarray(total[(..., *inner)])
