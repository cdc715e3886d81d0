"""Tiles of a batch: the columns of a few images, or of some rows of one, at a time.

Columns are many times as large as the images, so they exist only for one tile after another, in a
buffer that fits a core's cache. Shapes are named as in columns.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from tapegrad.arrays.numpy.conv_columns import Grid
from tapegrad.core.annotations import Array

LIMIT = 3 << 18  # bytes of a tile's columns: three quarters of a second-level cache of 1 MiB
PLACES = 256  # a product with fewer columns does not bring the BLAS to full speed
SMALL = 128  # places: images with fewer are put side by side in one product


class Tiles:
    """How a batch is cut: some images or some rows of one, and some channels of each group.

    Where tiles are `shifted`, the columns are not read whole but for one row of the kernel at a
    time: these lie in the strips already, and cost no copy. But it takes a product for each row,
    which is worth it for groups, and for images whose columns do not fit the buffer.
    """

    __slots__ = ("blocks", "channels", "depth", "joint", "largest", "rows", "shifted", "work")

    def __init__(
        self,
        grid: Grid,
        shape: Any,
        channels: int,
        others: int,
        dtype: Any,
        parts: int,
        shifted: bool = False,
    ):
        n, limit = shape[0], LIMIT // dtype.itemsize
        rows, line, places = grid.size[0], prod(grid.size[1:]), prod(grid.size)
        self.joint = places < SMALL and n > 1
        fits = places * channels * grid.offsets <= limit and grid.groups == 1
        self.shifted = shifted and grid.shifts() and not self.joint and not fits
        self.depth = grid.kernel[-1] if self.shifted else grid.offsets
        column = max(grid.groups * channels * self.depth, others)
        images = max(limit // (places * column), PLACES // places if self.joint else 0)
        lines = rows
        if images or self.joint:
            images = min(max(images, 1), n)
        else:
            images = 1
            lines = min(max(limit // (line * column), -(-PLACES // line)), rows)
        self.blocks = cut(n, images, parts)
        self.rows = cut(rows, lines, parts if n == 1 else 1)
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
    the kernel. Where tiles are joint the images stand side by side: (1, G, C * depth, N * P). With
    `ones` the first channels of whole columns begin with a row of ones, for a bias. Views of
    buffers are kept from tile to tile: to make them costs as much as a small copy.
    """

    __slots__ = (
        "buffer",
        "framed",  # pixels under a tile, with zeros where there is no image
        "framed_lines",
        "grid",
        "inside",  # where the image lies in the framed pixels
        "joint",
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
        self.joint = tiles.joint
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
        if grid.kernel[-1] < grid.offsets:
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

    def _whole(self, part: Any, with_ones: bool) -> Iterator[Any]:
        n, groups, channels = part.shape[:3]
        ones = self.ones if with_ones else 0
        rows = channels * self.grid.offsets
        places = prod(self.size)
        shape = (groups, ones + rows, n, places) if self.joint else (n, groups, ones + rows, places)
        columns = self.buffer[: prod(shape)].reshape(shape)
        target = columns
        if self.joint:
            target = columns.transpose(2, 0, 1, 3)
            columns = columns.reshape(1, groups, ones + rows, n * places)
        if ones:
            target[:, :, 0] = 1
        np.copyto(target[:, :, ones:].reshape(part.shape), part)
        yield columns
