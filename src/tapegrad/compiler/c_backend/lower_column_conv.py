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
from tapegrad.compiler.c_backend.ir import Access, Literal, Product
from tapegrad.compiler.c_backend.lower_flat_conv import finish
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_IMAGES = 2  # at least
_PLACES, _FEWEST = 512, 128  # of all images at most; the same where Winograd's way is there
_MANY = 2**14  # weights, at least
_FEW, _LARGE = 24, 2**21  # channels of images that are added up, and elements of columns, at most


class _Columns:
    """Where columns lie: images (C, H, W, N) with zeros around them, and what offsets see there."""

    def __init__(self, image: tuple, kernel: tuple, size: tuple, steps: tuple, n: int, dtype: Any):
        self.image, self.kernel, self.size, self.n, self.dtype = image, kernel, size, n, dtype
        self.stride, self.padding, self.dilation = steps
        self.covers = [
            max((p - 1) * s + d * (k - 1) + 1, before + length)
            for p, s, d, k, before, length in zip(
                size, self.stride, self.dilation, kernel, self.padding, image, strict=True
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
    lower = _RULES.get(instruction.text)
    result = instruction.result
    if lower is None or instruction.kwargs or not lowering.is_array(result):
        return False
    *arrays, stride, padding, dilation, groups, size = instruction.args
    if groups != 1 or not all(x is None or lowering.is_array(x) for x in arrays):
        return False
    steps, size = (tuple(stride), tuple(padding), tuple(dilation)), tuple(size)
    call = templates.call_for(instruction, lowering.program.constants)
    if call is None or len(size) != 2:
        return False
    places: list[Any] = [None if x is None else lowering.place(x) for x in arrays]
    of_kernels = instruction.text == "xp.convolve_weights"
    seen = size if instruction.text == "xp.convolve" else places[int(of_kernels)].shape[2:]
    weights = (result if of_kernels else places[1]).shape
    n, fast = places[0].shape[0], "winograd" in call.function
    pays = n * prod(seen) <= (_FEWEST if fast else _PLACES) and prod(weights) >= _MANY
    if instruction.text == "xp.convolve_transposed" and not fast and weights[1] <= _FEW:
        scattered = max(steps[0]) > 1 or 2 * prod(size) > 3 * prod(seen)
        pays |= scattered and n * prod(seen) * prod(weights[1:]) <= _LARGE
    if n < _IMAGES or not pays:
        return False
    lower(lowering, places, steps, size, result, instruction.line)
    return True


def _convolve(
    lowering: Lowering, places: list, steps: tuple, size: tuple, result: Any, line: Any
) -> None:
    x, w, bias = places
    n = x.shape[0]
    columns = _Columns(x.shape[2:], w.shape[2:], size, steps, n, x.dtype).read(lowering, x, line)
    kernels = lowering.in_shape(w, (w.shape[0], columns.shape[0]), line)
    y = lowering.temporary((w.shape[0], columns.shape[1]), x.dtype)
    lowering.add(Product(kernels, columns, y, line))
    y = lowering.in_shape(y, (w.shape[0], *size, n), line)
    finish(lowering, y.permuted((3, 0, 1, 2)), bias, lowering.fresh(result), line)


def _transposed(
    lowering: Lowering, places: list, steps: tuple, size: tuple, result: Any, line: Any
) -> None:
    y, w, bias = places
    n, channels = y.shape[0], w.shape[1]
    of = _Columns(size, w.shape[2:], y.shape[2:], steps, n, y.dtype)
    rows = channels * prod(of.kernel)
    kernels = lowering.in_shape(w, (w.shape[0], rows), line)
    numbers = lowering.in_shape(
        lowering.dense(y.permuted((1, 2, 3, 0)), line),
        (w.shape[0], prod(of.size) * n), line,
    )  # fmt: skip
    columns = lowering.temporary((rows, numbers.shape[1]), y.dtype)
    lowering.add(Product(kernels.permuted((1, 0)), numbers, columns, line))
    columns = lowering.in_shape(columns, (channels, *of.kernel, *of.size, n), line)
    frame = of.frame(lowering, channels, line)
    windows = of.windows(frame)
    for offset in product(*map(range, of.kernel)):
        pixels, given = _at(windows, offset), _at(columns, offset)
        dtypes = [y.dtype, y.dtype]
        args = [pixels, given]
        lowering.add_pointwise("{0} + {1}", args, dtypes, y.dtype, pixels, np.add, line)
    finish(lowering, of.inside(frame).permuted((3, 0, 1, 2)), bias, lowering.fresh(result), line)


def _weights(
    lowering: Lowering, places: list, steps: tuple, size: tuple, result: Any, line: Any
) -> None:
    x, y = places
    n = x.shape[0]
    of = _Columns(x.shape[2:], size, y.shape[2:], steps, n, x.dtype)
    columns = of.read(lowering, x, line)
    numbers = lowering.dense(y.permuted((1, 2, 3, 0)), line)
    numbers = lowering.in_shape(numbers, (y.shape[1], columns.shape[1]), line)
    found = lowering.temporary((y.shape[1], columns.shape[0]), x.dtype)
    out = lowering.fresh(result)
    target = found if not out.is_dense else lowering.in_shape(out, found.shape, line)
    lowering.add(Product(numbers, columns.permuted((1, 0)), target, line))
    if target is found:
        lowering.copy(lowering.in_shape(found, out.shape, line), out, line)


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
