"""Convolutions of small images by many kernels: one product of matrices with their columns.

The kernels are read once, not again for each image. Columns, for each offset of a kernel the pixels
below all places of all images, are copied out of the images with zeros around them, whose last axis
is the batch. Gradients of images are columns that are added up there.
"""

from itertools import product
from math import prod

import numpy as np

from tapegrad.arrays.traced.program import Instruction
from tapegrad.compiler.c_backend import templates
from tapegrad.compiler.c_backend.convolution import Convolution, convolution_of
from tapegrad.compiler.c_backend.ir import Access, Literal, Product
from tapegrad.compiler.c_backend.lower_flat_conv import finish
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_IMAGES = 2  # at least
_PLACES, _FEWEST = 512, 128  # of all images at most; the same where Winograd's way is there
_MANY, _EACH = 2**14, 2**10  # weights at least, and those that pay for one place more
_FEW, _LARGE = 24, 2**21  # channels of images that are added up, and elements of columns, at most


class _Columns:
    """Where columns lie: images (C, H, W, N) with zeros around them, and what offsets see there."""

    def __init__(self, of: Convolution):
        self.image = of.size if of.is_transposed else of.arguments[0].shape[2:]
        self.kernel, self.size = of.kernels[2:], of.places
        self.n, self.dtype = of.n, of.result.dtype
        self.stride, self.padding, self.dilation = of.stride, of.padding, of.dilation
        self.covers = [
            max((p - 1) * s + d * (k - 1) + 1, before + length)
            for p, s, d, k, before, length in zip(
                self.size,
                self.stride,
                self.dilation,
                self.kernel,
                self.padding,
                self.image,
                strict=True,
            )
        ]

    def frame(self, lowering: Lowering, channels: int, line: Any) -> Access:
        """Memory for images with what is around them, filled with zeros."""
        found = lowering.temporary((channels, *self.covers, self.n), self.dtype)
        lowering.copy(Literal(self.dtype.type(0)), found, line)
        return found

    def inside(self, frame: Access) -> Access:
        """The images in a frame."""
        steps = zip(self.padding, frame.strides[1:], strict=False)
        offset = frame.offset + sum(p * s for p, s in steps)
        shape = (frame.shape[0], *self.image, self.n)
        return Access(frame.buffer, offset, shape, frame.strides, frame.dtype)

    def windows(self, frame: Access) -> Access:
        """What offsets of the kernel see: (C, *kernel, *size, N)."""
        first, *lines, last = frame.strides
        offsets = [s * d for s, d in zip(lines, self.dilation, strict=True)]
        places = [s * step for s, step in zip(lines, self.stride, strict=True)]
        shape = (frame.shape[0], *self.kernel, *self.size, self.n)
        strides = (first, *offsets, *places, last)
        return Access(frame.buffer, frame.offset, shape, strides, frame.dtype)

    def read(self, lowering: Lowering, x: Access, line: Any) -> Access:
        """The columns of images (N, C, H, W) as a matrix (C * offsets, places * N)."""
        frame = self.frame(lowering, x.shape[1], line)
        lowering.copy(x.permuted((1, 2, 3, 0)), self.inside(frame), line)
        windows = self.windows(frame)
        columns = lowering.temporary(windows.shape, self.dtype)
        lowering.copy(windows, columns, line)
        rows = x.shape[1] * prod(self.kernel)
        return lowering.in_shape(columns, (rows, prod(self.size) * self.n), line)


def lower_column_conv(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.convolve` and its gradients, of images with few places, and many weights."""
    of = convolution_of(lowering, instruction)
    if of is None or of.groups != 1 or len(of.size) != 2 or of.n < _IMAGES:
        return False
    call = templates.call_for(instruction, lowering.program.constants)
    if call is None:
        return False
    weights, places = prod(of.kernels), of.n * prod(of.places)
    fast = "winograd" in call.function
    most = _FEWEST if fast else max(_PLACES, weights // _EACH)
    pays = weights >= _MANY and places <= most
    if of.is_transposed and not fast and of.kernels[1] <= _FEW:
        scattered = max(of.stride) > 1 or 2 * prod(of.size) > 3 * prod(of.places)
        pays |= scattered and places * prod(of.kernels[1:]) <= _LARGE
    if pays:
        _RULES[of.text](lowering, of)
    return pays


def _convolve(lowering: Lowering, of: Convolution) -> None:
    x, w, bias = of.arguments
    columns = _Columns(of).read(lowering, x, of.line)
    kernels = lowering.in_shape(w, (w.shape[0], columns.shape[0]), of.line)
    y = lowering.temporary((w.shape[0], columns.shape[1]), x.dtype)
    lowering.add(Product(kernels, columns, y, of.line))
    y = lowering.in_shape(y, (w.shape[0], *of.size, of.n), of.line)
    finish(lowering, y.permuted((3, 0, 1, 2)), bias, lowering.fresh(of.result), of.line)


def _transposed(lowering: Lowering, of: Convolution) -> None:
    y, w, bias = of.arguments
    where, channels, dtypes = _Columns(of), w.shape[1], [y.dtype, y.dtype]
    kernels = lowering.in_shape(w, (w.shape[0], prod(w.shape[1:])), of.line)
    numbers = _places_by_channel(lowering, y, of)
    columns = lowering.temporary((kernels.shape[1], numbers.shape[1]), y.dtype)
    lowering.add(Product(kernels.permuted((1, 0)), numbers, columns, of.line))
    shape = (channels, *where.kernel, *where.size, of.n)
    columns = lowering.in_shape(columns, shape, of.line)
    frame = where.frame(lowering, channels, of.line)
    windows = where.windows(frame)
    for offset in product(*map(range, where.kernel)):
        pixels = _at(windows, offset)
        args = [pixels, _at(columns, offset)]
        lowering.add_pointwise("{0} + {1}", args, dtypes, y.dtype, pixels, np.add, of.line)
    images = where.inside(frame).permuted((3, 0, 1, 2))
    finish(lowering, images, bias, lowering.fresh(of.result), of.line)


def _weights(lowering: Lowering, of: Convolution) -> None:
    x, y = of.arguments
    columns = _Columns(of).read(lowering, x, of.line)
    numbers = _places_by_channel(lowering, y, of)
    out = lowering.fresh(of.result)
    flat = (y.shape[1], columns.shape[0])
    is_there = out.is_dense
    found = lowering.in_shape(out, flat, of.line) if is_there else lowering.temporary(flat, x.dtype)
    lowering.add(Product(numbers, columns.permuted((1, 0)), found, of.line))
    if not is_there:
        lowering.copy(lowering.in_shape(found, out.shape, of.line), out, of.line)


def _places_by_channel(lowering: Lowering, y: Access, of: Convolution) -> Access:
    """Places (N, O, *places) as a matrix (O, places * N)."""
    turned = lowering.dense(y.permuted((1, 2, 3, 0)), of.line)
    return lowering.in_shape(turned, (y.shape[1], prod(of.places) * of.n), of.line)


_RULES = {
    "xp.convolve": _convolve,
    "xp.convolve_transposed": _transposed,
    "xp.convolve_weights": _weights,
}


def _at(x: Access, offset: tuple) -> Access:
    """(C, *size, N) of (C, *kernel, *size, N), at one offset of the kernel."""
    at = sum(i * s for i, s in zip(offset, x.strides[1:], strict=False))
    shape, strides = ((sizes[0], *sizes[1 + len(offset) :]) for sizes in (x.shape, x.strides))
    return Access(x.buffer, x.offset + at, shape, strides, x.dtype)
