"""Columns: for each place of a kernel on an image, the pixels under it.

A convolution is a product of the weights and the columns.

In shapes: N images, G groups, C channels of a group; `kernel` and `size` have a number for each
axis of the image; P places of the kernel (the product of `size`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from operator import mul

import numpy as np

from tapegrad.arrays.numpy.as_strided import seen_as
from tapegrad.core.annotations import Any, Array, Shape


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
    def of(
        kernel: Any, stride: Shape, padding: Shape, dilation: Shape, groups: int, size: Shape
    ) -> Grid:
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
        starts = [first * grid.stride[0], *[0] * len(lines)]
        covered = [slice(a, a + n) for a, n in zip(starts, reach, strict=True)]
        target = target[(slice(None),) * 3 + tuple(covered)]
        if grid.kernel[-1] == 1:  # no rows that would be added up first
            for offset in product(*map(range, grid.kernel)):
                pixels = target[(slice(None),) * 3 + grid.under(offset, (*lines, places))]
                np.add(pixels, columns[(slice(None),) * 3 + offset], out=pixels)
            return
        strips = self._strips(columns, (*columns.shape[:3], grid.kernel[-1], *reach[:-1], places))
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


LIMIT = 3 << 18  # bytes of a tile's columns: three quarters of a second-level cache of 1 MiB
PLACES = 256  # a product with fewer columns does not bring the BLAS to full speed
PARTS, PART = 16, 1 << 22  # tiles for threads to share: so many, if each has so many multiply-adds


class Tiles:
    """How a batch is cut: some images or some rows of one, and some channels of each group.

    Where tiles are `shifted`, the columns are not read whole but for one row of the kernel at a
    time: these lie in the strips already, and cost no copy. But it takes a product for each row,
    which is worth it for groups, and for images whose columns do not fit the buffer.

    The cut does not depend on the number of threads: no result does.
    """

    __slots__ = ("blocks", "channels", "depth", "largest", "parts", "rows", "shifted", "work")

    def __init__(
        self,
        grid: Grid,
        shape: Any,
        channels: int,
        others: int,
        dtype: Any,
        shifted: bool = False,
        spread: bool = False,  # whether threads share the channels of a single image
    ):
        n, limit = shape[0], LIMIT // dtype.itemsize
        rows, line, places = grid.size[0], prod(grid.size[1:]), prod(grid.size)
        amount = n * places * channels * grid.offsets * others
        self.parts = parts = min(PARTS, 1 << max(amount // PART, 1).bit_length() - 1)
        few = max(1, min(parts, n * places // PLACES))  # whose products are worth a call
        fits = places * channels * grid.offsets <= limit and grid.groups == 1
        self.shifted = shifted and grid.shifts() and not fits
        self.depth = grid.kernel[-1] if self.shifted else grid.offsets
        if spread and n == 1:
            channels, others, few = -(-channels // parts), 1, 1
        column = max(grid.groups * channels * self.depth, others)
        images, lines = min(limit // (places * column), n), rows
        if not images:
            images = 1
            lines = min(max(limit // (line * column), -(-PLACES // line)), rows)
        self.blocks = cut(n, images, few)
        self.rows = cut(rows, lines, few if n == 1 else 1)
        most = images * lines * line
        fitting = max(1, limit // (most * grid.groups * self.depth))
        self.channels = cut(channels, fitting)
        self.largest = most * grid.groups * (min(fitting, channels) * self.depth + 1)
        self.work = most * grid.groups * channels * grid.offsets

    def pieces(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Images and rows of each tile."""
        return [(block, rows) for block in self.blocks for rows in self.rows]


def cut(n: int, most: int, parts: int = 1) -> list[tuple[int, int]]:
    """range(n) in equal blocks of at most `most`, as many as a multiple of `parts` if it can."""
    count = -(-n // most)
    count = min(-(-count // parts) * parts, n)
    ends = [n * i // count for i in range(count + 1)]
    return list(pairwise(ends))


class Reader:
    """The columns of one tile of x (N, G, C, *image) after another.

    They come as matrices (N, G, C * depth, P): one, or where tiles are shifted one for each row of
    the kernel. With `ones` the first channels of whole columns begin with a row of ones, for a
    bias. Views of buffers are kept from tile to tile: to make them costs as much as a small copy.
    """

    __slots__ = (
        "buffer",
        "framed",  # pixels under a tile, with zeros where there is no image
        "framed_lines",
        "grid",
        "inside",  # where the image lies in the framed pixels
        "lines",  # windows of the tile along the last axis
        "ones",
        "shifted",
        "size",
        "strips",  # a copy of some channels' lines
        "strips_windows",
        "whole",  # windows of all images along the last axis, if no pixel lacks
        "x",
    )

    def __init__(self, grid: Grid, tiles: Tiles, x: Array, ones: int = 0):
        self.grid = grid
        self.ones = ones
        self.x = x
        self.shifted = tiles.shifted
        self.buffer = np.empty(0 if tiles.shifted else tiles.largest, x.dtype)
        self.framed = self.strips = np.empty(0, x.dtype)
        self.size: tuple[int, ...] = ()
        self.inside: Any = None
        fits = [a <= b for a, b in zip(grid.reach(grid.size), x.shape[3:], strict=True)]
        no_border = all(fits) and not any(grid.padding)
        self.whole = grid.strips(x, grid.size[-1]) if no_border else None

    def open(self, block: tuple[int, int], rows: tuple[int, int]) -> None:
        """Turn to some images, and to the places in some rows."""
        grid = self.grid
        images, (first, last) = slice(*block), rows
        self.size = (last - first, *grid.size[1:])
        if self.whole is None:
            self._frame(self.x[images], first)
            return
        self.lines = self.whole[images]
        if self.size == grid.size:
            return
        if len(grid.size) == 1:
            self.lines = self.lines[..., first:last]
        else:
            start = first * grid.stride[0]
            self.lines = self.lines[:, :, :, :, start : start + grid.reach(self.size)[0]]

    def _frame(self, x: Array, first: int) -> None:
        """Copy the pixels under a tile and put zeros around them."""
        grid = self.grid
        shape = (*x.shape[:3], *grid.reach(self.size))
        image, inside = grid.inside(x.shape[3:], first, self.size)
        if self.framed.shape != shape:
            self.framed = np.zeros(shape, x.dtype)
            self.framed_lines = grid.strips(self.framed, self.size[-1])
        elif inside != self.inside:
            self.framed.fill(0)
        self.inside = inside
        self.framed[inside] = x[image]
        self.lines = self.framed_lines

    def read(self, first: int, last: int) -> Iterator[Any]:
        """The columns of channels `first` to `last` of each group, whole or row by row."""
        grid = self.grid
        part = self.lines[:, :, first:last]
        if 1 < grid.kernel[-1] < grid.offsets or self.shifted:
            # twice: the short rows of the strips once, then runs of several rows
            if self.strips.shape != part.shape:
                self.strips = np.empty(part.shape, part.dtype)
                self.strips_windows = grid.windows(self.strips, self.size)
            np.copyto(self.strips, part)
            part = self.strips_windows
        elif len(grid.kernel) > 1:
            part = grid.windows(part, self.size)
        return self._shifted() if self.shifted else self._whole(part, first == 0)

    def _shifted(self) -> Iterator[Any]:
        n, groups, channels, k, *lines = self.strips.shape
        runs = self.strips.reshape(n, groups, channels * k, prod(lines))
        step, places = self.grid.dilation[0] * lines[-1], prod(self.size)
        for row in range(self.grid.kernel[0]):
            yield runs[..., row * step : row * step + places]

    def _whole(self, part: Array, with_ones: bool) -> Iterator[Any]:
        n, groups, channels = part.shape[:3]
        ones = self.ones if with_ones else 0
        rows = channels * self.grid.offsets
        places = prod(self.size)
        columns = self.buffer[: n * groups * (ones + rows) * places]
        columns = columns.reshape(n, groups, ones + rows, places)
        if ones:
            columns[:, :, 0] = 1
        np.copyto(columns[:, :, ones:].reshape(part.shape), part)
        yield columns
