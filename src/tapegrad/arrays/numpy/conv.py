"""Kernels of convolutions: one form, linear in each of x, w and y, and its three gradients.

    T(x, w, y) = sum over n, o, c, p, k of
                 y[n, o, p] * w[o, c, k] * x[n, c, p * stride + k * dilation - padding]

`convolve` is the gradient with respect to y (a convolution), `convolve_transposed` the one with
respect to x (a transposed convolution), `convolve_weights` the one with respect to w. Each goes
over the batch tile by tile: the tile's columns (conv_columns.py) in one product of matrices. x is
zero outside. Convolutions that are a product alone are one (conv_flat.py), and small images become
one image whose last axis is the batch.

Shapes: x (N, G * C, *image), w (G * O, C, *kernel), y (N, G * O, *places). `size` is the shape of
the result along the axes of an image.
"""

from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.as_strided import copied
from tapegrad.arrays.numpy.blas_threads import share_products, sum_products
from tapegrad.arrays.numpy.conv_columns import Adder, Grid, Reader, Tiles, add_all, cut, read_all
from tapegrad.arrays.numpy.conv_flat import (
    as_channels,
    convolve_flat,
    convolve_transposed_flat,
    convolve_weights_flat,
    is_flat,
    places_of,
    sees_all,
)
from tapegrad.arrays.numpy.memory_pool import empty
from tapegrad.core.annotations import Any, Array, NativeDType, Shape
from tapegrad.core.memory_format import channels_last, channels_last_3d, order_of
from tapegrad.core.result_order import lies_channels_last

COPY, ADD = 24, 64  # what an element of the columns costs, in multiply-adds of the BLAS
ADD_APART = 256  # the same of one that is added to pixels that are not side by side
SUM = 1.5  # what an addition to a result costs, in copies of an element of the columns
FEW = 1 << 14  # elements of columns that are read at once
IMAGES = 4  # at least in a batch that goes on as an axis of one image
SMALL, SHORT = 128, 32  # places: images with more are not small, or not in any case
LARGE = 1 << 17  # weights: more are not transposed, and are read for few images at once
RUNS = 8  # sums of products over so many runs of tiles are added in their order


@kernel
def convolve(
    x: Array, w: Array, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Any:
    """The kernels' products with what they cover of the images: (N, G * O, *size)."""
    if not (x.size and w.size):
        return _only_bias((len(x), len(w), *size), x.dtype, bias)
    grid = Grid.of(w.shape[2:], stride, padding, dilation, groups, size)
    n, out, channels = len(x), len(w), w.shape[1]
    if _is_small(grid, n, channels, out):
        columns = read_all(grid, x.reshape(n, groups, channels, *x.shape[2:]))
        y = np.matmul(w.reshape(groups, out // groups, -1), columns)
        if bias is not None:
            y += bias.reshape(groups, -1, 1)
        return _arranged(y.reshape(n, out, *size), x, w)
    if sees_all(grid, x.shape[2:]):
        pixels, kernels = map(as_channels, (x, w))
        return _arranged(convolve(pixels, kernels, bias, *_ones(size), 1, size), x, w)
    if is_flat(grid):
        return _arranged(convolve_flat(grid, x, w, bias), x, w)
    if _lies_better_last(grid, n, w.size > LARGE):
        given = _with_batch_axis(stride, padding, dilation)
        y = convolve(_batch_last(x), w[..., None], bias, *given, groups, (*size, n))
        return _arranged(_batch_first(y), x, w)
    y = empty(n * out * prod(size), x.dtype).reshape(n, groups, -1, prod(size))
    images, x = x, x.reshape(n, groups, channels, *x.shape[2:])
    # a product for each row of the kernel takes additions, whole columns take a copy
    shifted = SUM * (grid.kernel[0] - 1) * (out // groups) < channels * grid.offsets
    tiles = Tiles(grid, x.shape, channels, out, x.dtype, shifted)
    pieces, factors = tiles.pieces(), _by_row(w, groups, tiles)
    ones = 0
    if bias is not None:
        bias = bias.reshape(groups, -1, 1)
        if not tiles.shifted:
            factors, ones = [np.concatenate((bias, factors[0]), 2)], 1

    def work(first: int, last: int) -> None:
        reader = Reader(grid, tiles, x, ones)
        spare = np.empty(0, x.dtype)
        for block, rows in pieces[first:last]:
            reader.open(block, rows)
            total = _part(y, grid, block, rows)
            for a, b in tiles.channels:
                start = ones + a * tiles.depth if a else 0
                for i, columns in enumerate(reader.read(a, b)):
                    factor = factors[i][:, :, start : ones + b * tiles.depth]
                    if not a and not i:
                        np.matmul(factor, columns, out=total)
                        continue
                    if spare.shape != total.shape:
                        spare = np.empty(total.shape, x.dtype)
                    total += np.matmul(factor, columns, out=spare)
            if bias is not None and not ones:
                total += bias

    share_products(len(pieces), tiles.work, work)
    return _arranged(y.reshape(n, out, *size), images, w)


@kernel
def convolve_transposed(
    y: Array, w: Array, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Any:
    """The kernels times the numbers at their places, added up: images (N, G * C, *size)."""
    if not (y.size and w.size):
        return _only_bias((len(y), w.shape[1] * groups, *size), y.dtype, bias)
    grid = Grid.of(w.shape[2:], stride, padding, dilation, groups, y.shape[2:])
    n, out, channels = len(y), len(w), w.shape[1]
    if _is_small(grid, n, channels, out):
        numbers = y.reshape(n, groups, out // groups, -1)
        columns = np.matmul(w.reshape(groups, out // groups, -1).swapaxes(1, 2), numbers)
        x = add_all(grid, columns, size).reshape(n, -1, *size)
        if bias is not None:
            x += bias.reshape(-1, *[1] * len(size))
        return _arranged(x, y, w)
    if sees_all(grid, size):
        x = convolve_transposed(y, as_channels(w), None, *_ones(size), 1, grid.size)
        x = x.reshape(n, channels, *size)
        if bias is not None:
            x += bias.reshape(-1, *[1] * len(size))
        return _arranged(x, y, w)
    if is_flat(grid):
        return _arranged(convolve_transposed_flat(grid, y, w, bias, size), y, w)
    if _gathers(grid, n, out // groups, channels, size):
        return _gathered(y, w, bias, grid, size)
    if _lies_better_last(grid, n, w.size > LARGE):
        given = _with_batch_axis(stride, padding, dilation)
        x = convolve_transposed(_batch_last(y), w[..., None], bias, *given, groups, (*size, n))
        return _arranged(_batch_first(x), y, w)
    images, y = y, np.ascontiguousarray(y).reshape(n, groups, -1, prod(grid.size))
    x = empty(n * groups * channels * prod(size), y.dtype).reshape(n, groups, channels, *size)
    weights = w.reshape(groups, out // groups, -1).swapaxes(1, 2)
    if bias is not None:
        bias = bias.reshape(groups, -1, *[1] * len(size))
    around = zip(grid.reach(grid.size), padding, size, strict=True)
    extent = tuple([max(reach, p + length) for reach, p, length in around])
    inner: Any = (
        Ellipsis,
        *[slice(p, p + length) for p, length in zip(padding, size, strict=True)],
    )
    tiles = Tiles(grid, y.shape, channels, out, y.dtype, spread=True)
    most = max([b - a for a, b in tiles.channels])
    parts = tiles.parts if len(tiles.blocks) == 1 else 1
    pieces = [(block, each) for block in tiles.blocks for each in cut(channels, most, parts)]

    def work(first: int, last: int) -> None:
        adder = Adder(grid, y.dtype)
        buffer = np.empty(tiles.largest, y.dtype)
        for block, (a, b) in pieces[first:last]:
            part = x[slice(*block), :, a:b]
            target = part if extent == size else np.empty((*part.shape[:3], *extent), y.dtype)
            target.fill(0)
            factor = weights[:, a * grid.offsets : b * grid.offsets]
            for rows in tiles.rows:
                numbers = _part(y, grid, block, rows)
                shape = (len(numbers), *factor.shape[:2], numbers.shape[-1])
                columns = np.matmul(factor, numbers, out=buffer[: prod(shape)].reshape(shape))
                places = (rows[1] - rows[0], *grid.size[1:])
                shape = (len(part), groups, b - a, *grid.kernel, *places)
                adder.add(columns.reshape(shape), target, rows[0])
            if target is not part:
                part[...] = target[inner]
            if bias is not None:
                part += bias[:, a:b]

    share_products(len(pieces), tiles.work * len(tiles.rows), work)
    return _arranged(x.reshape(n, -1, *size), images, w)


@kernel
def convolve_weights(
    x: Array, y: Array, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Any:
    """Products of y and what the offsets of a kernel cover of x: weights (G * O, C, *size)."""
    n, out, channels = len(x), y.shape[1], x.shape[1] // groups
    if not (x.size and y.size):
        return np.zeros((out, channels, *size), x.dtype)
    grid = Grid.of(size, stride, padding, dilation, groups, y.shape[2:])
    few = n < IMAGES or n * out * channels * grid.offsets <= FEW  # numbers that are added up
    if few and _is_small(grid, n, channels, out):
        columns = read_all(grid, x.reshape(n, groups, channels, *x.shape[2:]))
        numbers = y.reshape(n, groups, out // groups, -1)
        products = np.matmul(numbers, columns.swapaxes(2, 3))
        return np.add.reduce(products, 0).reshape(out, channels, *size)
    if sees_all(grid, x.shape[2:]):
        found = convolve_weights(as_channels(x), y, *_ones(size), 1, grid.size)
        return found.reshape(out, channels, *size)
    if is_flat(grid):
        return convolve_weights_flat(grid, x, y).reshape(out, channels, *size)
    if _lies_better_last(grid, n, True):
        given = _with_batch_axis(stride, padding, dilation)
        return convolve_weights(_batch_last(x), _batch_last(y), *given, groups, (*size, 1))[..., 0]
    y = np.ascontiguousarray(y).reshape(n, groups, -1, prod(grid.size))
    x = x.reshape(n, groups, channels, *x.shape[2:])
    tiles = Tiles(grid, x.shape, channels, out, x.dtype, shifted=True)
    pieces, rows = tiles.pieces(), channels * tiles.depth
    turned = out * rows < LARGE  # the faster product, but its result is to be transposed

    def work(first: int, last: int) -> Any:
        reader = Reader(grid, tiles, x)
        shape = (rows, out // groups) if turned else (out // groups, rows)
        total = np.zeros((grid.offsets // tiles.depth, groups, *shape), x.dtype)
        if not turned:
            total = total.swapaxes(2, 3)
        for block, places in pieces[first:last]:
            reader.open(block, places)
            numbers = _part(y, grid, block, places)
            for a, b in tiles.channels:
                for i, columns in enumerate(reader.read(a, b)):
                    if turned:
                        products = np.matmul(columns, numbers.swapaxes(2, 3))
                    else:
                        products = np.matmul(numbers, columns.swapaxes(2, 3)).swapaxes(2, 3)
                    one = products[0] if len(products) == 1 else np.add.reduce(products, 0)
                    total[i, :, a * tiles.depth : b * tiles.depth] += one
        return total

    total = sum_products(len(pieces), tiles.work, work, RUNS)
    # (rows of the kernel, G, C * depth, O) -> (G, O, C, rows of the kernel, depth)
    total = total.reshape(-1, groups, channels, tiles.depth, out // groups)
    return np.ascontiguousarray(total.transpose(1, 4, 2, 0, 3)).reshape(out, channels, *size)


def _is_small(grid: Grid, n: int, channels: int, out: int) -> bool:
    """Whether all columns at once are so few that to cut the work would cost more than it."""
    column = max(grid.groups * channels * grid.offsets, out)
    return n * grid.places * column <= FEW


def _by_row(w: Array, groups: int, tiles: Tiles) -> list[Any]:
    """The weights as matrices (G, O, C * depth): one, or one for each row of the kernel."""
    if not tiles.shifted:
        return [w.reshape(groups, len(w) // groups, -1)]
    rows = np.moveaxis(w, 2, 0)
    return list(np.ascontiguousarray(rows).reshape(len(rows), groups, len(w) // groups, -1))


def _arranged(result: Array, *given: Any) -> Any:
    """The result with its channels last in memory if those of the images or the kernels are."""
    for x in given:
        if not x.flags.c_contiguous and lies_channels_last(x):
            return copied(result, order_of(channels_last if x.ndim == 4 else channels_last_3d))
    return result


def _only_bias(shape: tuple[int, ...], dtype: NativeDType, bias: Array) -> Any:
    """The result where there is nothing to convolve."""
    y = np.zeros(shape, dtype)
    if bias is not None:
        y += bias.reshape(-1, *[1] * (len(shape) - 2))
    return y


def _part(y: Array, grid: Grid, block: tuple[int, int], rows: tuple[int, int]) -> Any:
    """Some images, and the places in some rows, of (N, G, O, P)."""
    part = y[slice(*block)]
    if rows == (0, grid.size[0]):
        return part
    line = prod(grid.size[1:])
    return part[..., rows[0] * line : rows[1] * line]


def _lies_better_last(grid: Grid, n: int, for_all: bool) -> bool:
    """Whether the batch goes on as the last axis of one image: the rows of images are short.

    `for_all`: it pays for all small images, not only where columns are copied in short runs.
    """
    if n < IMAGES or grid.offsets == 1 or grid.places >= SMALL:
        return False
    return for_all or grid.places < SHORT or max(grid.stride) > 1


def _ones(size: Any) -> tuple[Any, Any, Any]:
    """Steps of one, and no padding."""
    return (1,) * len(size), (0,) * len(size), (1,) * len(size)


def _with_batch_axis(stride: Any, padding: Any, dilation: Any) -> tuple[Any, Any, Any]:
    return (*stride, 1), (*padding, 0), (*dilation, 1)


def _batch_last(x: Array) -> Any:
    """(N, C, *image) as one image (1, C, *image, N)."""
    return np.ascontiguousarray(np.moveaxis(x, 0, -1))[None]


def _batch_first(y: Array) -> Any:
    return np.ascontiguousarray(np.moveaxis(y[0], -1, 0))


def _gathers(grid: Grid, n: int, out: int, channels: int, size: Any) -> bool:
    """Whether it costs less to gather for each pixel of x than to scatter from each place of y."""
    for p, d, k in zip(grid.padding, grid.dilation, grid.kernel, strict=True):
        if p > d * (k - 1):
            return False
    add = ADD if max(grid.stride) == 1 else ADD_APART
    turned = COPY * out * channels  # the kernels
    gathered = n * prod(size) * (out * channels + COPY * out) + turned
    return gathered < n * grid.places * (out * channels + add * channels)


def _gathered(y: Array, w: Array, bias: Array, grid: Grid, size: Any) -> Any:
    """`convolve_transposed` as a convolution of y with the kernels turned around.

    Between the places of y there are zeros where the stride is larger than one.
    """
    axes = tuple(range(2, w.ndim))
    turned = np.flip(w, axes).reshape(grid.groups, -1, *w.shape[1:]).swapaxes(1, 2)
    turned = turned.reshape(-1, turned.shape[2], *grid.kernel)
    steps = zip(grid.padding, grid.dilation, grid.kernel, strict=True)
    padding = tuple([d * (k - 1) - p for p, d, k in steps])
    ones = (1,) * len(size)
    if grid.stride != ones:
        reach = zip(size, padding, grid.dilation, grid.kernel, strict=True)
        apart = np.zeros(
            (*y.shape[:2], *[n + d * (k - 1) - 2 * p for n, p, d, k in reach]), y.dtype
        )
        apart[places_of(grid)] = y
        y = apart
    return convolve(y, turned, bias, ones, padding, grid.dilation, grid.groups, size)


@kernel
def read_blocks(
    x: Array, kernel: Any, stride: Shape, padding: Shape, dilation: Shape, size: Shape
) -> Any:
    """The blocks of images (N, C, *image) as columns (N, C * offsets, P)."""
    grid = Grid(kernel, stride, padding, dilation, 1, size)
    return read_all(grid, x[:, None])[:, 0]


@kernel
def sum_blocks(
    columns: Array, image: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, size: Any
) -> Any:
    """The gradient of `read_blocks`: columns added up in images (N, C, *image)."""
    grid = Grid(kernel, stride, padding, dilation, 1, size)
    return add_all(grid, columns[:, None], image)[:, 0]
