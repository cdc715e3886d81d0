"""Convolutions of one and two axes: `xp.convolve`, `xp.convolve_transposed`, `xp.convolve_weights`.

No columns are made: the images of a block of places are copied, with what is around them, and from
there the kernels' offsets are read by a table. Lanes of vectors are channels of the result, or
places in a row where a group has few channels. A number is the same sum in the same order wherever
blocks begin, so threads leave the bits as they are.
"""

from dataclasses import dataclass
from math import prod

from tapegrad.compiler.c_backend.templates import (
    conv_blocks,
    conv_kernels,
    conv_norm,
    conv_tiles,
    conv_winograd,
)
from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.core.annotations import Any

UNTYPED = conv_tiles.UNTYPED + conv_winograd.UNTYPED
SOURCE = conv_tiles.SOURCE + conv_blocks.SOURCE + conv_kernels.SOURCE + conv_winograd.SOURCE
SOURCE += conv_norm.SOURCE

ENDS = 3
"""Which argument of a convolution says how it ends: 1 if with a bias, and RELU more with ReLU."""

RELU = 2

_WIDTH = 128  # bytes of a panel, at most
_BLOCK = 192  # places of a block, about: a panel of so many is in the first cache
_SOME = 64  # channels of a tile, where gradients of kernels are computed, at least
_TURNED = 512  # offsets for which a panel of cotangents is turned, about
_PRODUCT = 2**14  # weights of a convolution that is no more than a product: more are the BLAS's
_TILE = 2**16  # elements of a tile, about: it is in the second cache
_CONVOLUTIONS = {
    f"tg_{name}_{t}"
    for name in ("convolve", "convolve_transposed", "winograd")
    for t in ("f32", "f64")
}


@dataclass
class _Axis:
    """One axis of a convolution: images, places, kernel and steps."""

    image: int
    places: int
    kernel: int
    stride: int
    padding: int
    dilation: int

    def tile(self, places: int, transposed: bool = False) -> int:
        """Elements of a tile below so many places, all phases of the stride or the largest."""
        around = (self.kernel - 1) * self.dilation
        if transposed:
            return places + around // self.stride + 1
        return (places - 1) * self.stride + around + self.stride


class _Convolution:
    """Sizes of a convolution of x (N, G C, *image) to y (N, G O, *places)."""

    def __init__(self, x: tuple, w: tuple, y: tuple, steps: Any, groups: int):
        require(len(x) in (3, 4) and prod(x) and prod(w) and prod(y))
        axes = list(zip(x[2:], y[2:], w[2:], *steps, strict=True))
        self.height, self.width = [_Axis(*each) for each in [(1, 1, 1, 1, 0, 1), *axes][-2:]]
        self.n, self.groups, self.channels, self.out = x[0], groups, w[1], w[0] // groups
        self.work = x[0] * prod(y[2:]) * prod(w) // 8  # multiplications are quick
        if self._is_flat():
            require(w[1] * self.out <= _PRODUCT)
            self.width.image *= self.height.image
            self.width.places *= self.height.places
            self.height = _Axis(1, 1, 1, 1, 0, 1)

    def _is_flat(self) -> bool:
        """Whether each place sees the element of an image that is where it is."""
        axes = (self.height, self.width)
        return all(
            (a.kernel, a.stride, a.padding) == (1, 1, 0) and a.image == a.places for a in axes
        )

    def is_3x3(self) -> bool:
        """Whether kernels are 3x3, with steps of one, for all channels."""
        axes = (self.height, self.width)
        return self.groups == 1 and all((a.kernel, a.stride, a.dilation) == (3, 1, 1) for a in axes)

    def block(self, height: int, width: int, channels: int, transposed: bool) -> tuple[int, int]:
        """Rows and columns of a block of results (height, width)."""
        columns = _even(width, _BLOCK)
        rows = _even(height, max(1, _BLOCK // columns))

        def tile(rows: int) -> int:
            size = self.height.tile(rows, transposed) * self.width.tile(columns, transposed)
            return channels * size

        while rows > 1 and tile(rows) > _TILE:
            rows = _even(rows, (rows + 1) // 2)
        while columns > 32 and tile(rows) > _TILE:
            columns = _even(columns, (columns + 1) // 2)
        require(tile(rows) < 2**31)
        return rows, columns

    def sizes(self, transposed: bool = False) -> list[int]:
        """What C takes: numbers of channels and images, of places, and steps."""
        axes = (self.height, self.width)
        first = [a.places if transposed else a.image for a in axes]
        second = [a.image if transposed else a.places for a in axes]
        channels = [self.out, self.channels] if transposed else [self.channels, self.out]
        names = ("kernel", "stride", "padding", "dilation")
        steps = [getattr(a, name) for name in names for a in axes]
        return [self.n, self.groups, *channels, *first, *second, *steps]

    def memory(self, channels: int, places: int, tile: int) -> int:
        """Elements that a part needs: a table of offsets, a tile, and panels of places."""
        offsets = channels * self.height.kernel * self.width.kernel
        return _lines(offsets) + _lines(tile + 32) + _lines(places * 32)


def _even(n: int, most: int) -> int:
    """The size of parts of n, up to `most`, so that they are about as large as each other."""
    return -(-n // -(-n // most))


def _lines(n: int) -> int:
    return -(-n // 16) * 16


def _panels(n: int, itemsize: int) -> int:
    width = _WIDTH // itemsize
    return -(-n // width) * width


def _correlation(at: Instance, name: str, transposed: bool) -> Call:
    """A convolution, or the transposed one, with its bias."""
    x, w, bias, *steps, groups, size = at.args
    t = at.real(*[a for a in (x, w, bias) if a is not None])
    size = tuple(size)
    images, places = at.shape(x), (at.shape(x)[0], at.shape(w)[0], *size)
    if transposed:
        images, places = (images[0], at.shape(w)[1] * groups, *size), images
    of = _Convolution(images, at.shape(w), places, steps, groups)
    channels, out = (of.out, of.channels) if transposed else (of.channels, of.out)
    axes = (of.height, of.width)
    height, width = [-(-a.image // a.stride) if transposed else a.places for a in axes]
    rows, columns = of.block(height, width, channels, transposed)
    tile = of.height.tile(rows, transposed) * of.width.tile(columns, transposed)
    itemsize = at.dtype(x).itemsize
    offsets = of.height.kernel * of.width.kernel
    kernels = _lines(groups * _panels(out, itemsize) * channels * offsets)
    part = of.memory(channels, max(rows * columns, 4), channels * tile)
    given = [x, w, bias if bias is not None else w, int(bias is not None)]
    if t == "f32" and of.is_3x3():
        fast = conv_winograd.convolution(of.n, channels, out, tuple(size))
        if fast is not None:
            padding = [2 - a.padding if transposed else a.padding for a in axes]
            first = [a.places if transposed else a.image for a in axes]
            cut = [fast.columns, fast.strips, fast.some, fast.kernels, fast.part]
            return at.call(
                f"tg_winograd_{t}",
                [*given, int(transposed), of.n, channels, out, *first, *size, *padding, *cut,
                 rows, columns, kernels, part],
                scratch=max(fast.kernels, kernels) * itemsize,
                part_scratch=max(fast.part, part) * itemsize,
                work=of.work,
            )  # fmt: skip
    return at.call(
        f"tg_{name}_{t}",
        [*given, *of.sizes(transposed), rows, columns, kernels, part],
        scratch=kernels * itemsize,
        part_scratch=part * itemsize,
        work=of.work,
    )


def has_ends(function: str) -> bool:
    """Whether a C function is a convolution, which may have ReLU at its end."""
    return function in _CONVOLUTIONS


def has_kernels_by_channel(function: str, arguments: list) -> bool:
    """Whether a call is a convolution whose kernels begin with the channels that it gives."""
    if function.startswith("tg_winograd"):
        return has_ends(function) and not arguments[ENDS + 1]
    return has_ends(function) and "transposed" not in function


@template("xp.convolve")
def convolve(at: Instance) -> Call:
    return _correlation(at, "convolve", False)


@template("xp.convolve_transposed")
def convolve_transposed(at: Instance) -> Call:
    return _correlation(at, "convolve_transposed", True)


@template("xp.convolve_weights")
def convolve_weights(at: Instance) -> Call:
    x, y, *steps, groups, size = at.args
    t, channels = at.real(x, y), at.shape(x)[1] // groups
    w = (at.shape(y)[1], channels, *size)
    of = _Convolution(at.shape(x), w, at.shape(y), steps, groups)
    some = min(channels, max(_SOME, _TURNED // prod(size)))
    rows, columns = of.block(of.height.places, of.width.places, some, False)
    itemsize = at.dtype(x).itemsize
    kernels = _lines(groups * _panels(of.out, itemsize) * prod(w[1:]))
    tile = of.height.tile(rows) * of.width.tile(columns)
    part = of.memory(some, rows * columns, some * tile)
    fast = None
    if t == "f32" and of.is_3x3():
        axes, places = (of.height, of.width), (of.height.places, of.width.places)
        fast = conv_winograd.gradient_of_kernels(of.n, channels, of.out, places)
    if fast is not None:
        padding = [a.padding for a in axes]
        cut = [fast.columns, fast.strips, fast.rows]
        return at.call(
            f"tg_winograd_weights_{t}",
            [x, y, of.n, channels, of.out, *[a.image for a in axes], *places, *padding, *cut,
             rows, columns, some, kernels, part],
            scratch=max(fast.block, kernels) * itemsize,
            part_scratch=max(fast.rows, part) * itemsize,
            work=of.work,
        )  # fmt: skip
    return at.call(
        f"tg_convolve_weights_{t}",
        [x, y, *of.sizes(), rows, columns, some, kernels, part],
        scratch=kernels * itemsize,
        part_scratch=part * itemsize,
        work=of.work,
    )
