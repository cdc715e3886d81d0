"""Convolutions that are products of matrices: of kernels that see one place, or all of an image."""

from math import prod

import numpy as np

from tapegrad.arrays.traced.program import Instruction
from tapegrad.compiler.c_backend.convolution import Convolution, convolution_of
from tapegrad.compiler.c_backend.ir import Access, Product
from tapegrad.compiler.c_backend.lower_product import matrix, order_of
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_FEW = 32  # places: images with fewer are put side by side in one product


def lower_flat_conv(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.convolve` and its gradients, of kernels of one element, or of the size of the images."""
    of = convolution_of(lowering, instruction)
    if of is None or of.groups != 1 or any(of.padding):
        return False
    return _RULES[of.text](lowering, of)


def _convolve(lowering: Lowering, of: Convolution) -> bool:
    x, w, bias = of.arguments
    if _sees_all(x.shape[2:], of):
        x = lowering.in_shape(x, (of.n, prod(x.shape[1:]), *of.size), of.line)
        w = lowering.in_shape(w, (w.shape[0], prod(w.shape[1:])), of.line)
    elif prod(w.shape[2:]) != 1:
        return False
    else:
        x, w = _seen(x, of), _as_matrix(w)
    _multiply(lowering, w, x, bias, of.result, of.line)
    return True


def _transposed(lowering: Lowering, of: Convolution) -> bool:
    y, w, bias = of.arguments
    if prod(of.places) == 1 and _sees_all(of.size, of):
        w = lowering.in_shape(w, (w.shape[0], prod(w.shape[1:])), of.line)
    elif prod(w.shape[2:]) != 1 or of.places != of.size:  # pixels between the places are zero
        return False
    else:
        w = _as_matrix(w)
    _multiply(lowering, w.permuted((1, 0)), y, bias, of.result, of.line)
    return True


def _weights(lowering: Lowering, of: Convolution) -> bool:
    x, y = of.arguments
    if prod(of.places) == 1 and _sees_all(x.shape[2:], of):
        x = lowering.in_shape(x, (of.n, prod(x.shape[1:]), *of.places), of.line)
    elif prod(of.size) != 1:
        return False
    else:
        x = _seen(x, of)
    x, y = (_side_by_side(lowering, each, of.line) for each in (x, y))
    out = lowering.fresh(of.result)
    flat = (y.shape[0], x.shape[0])
    target = out.reshaped(flat)
    is_there = target is not None and order_of(target) is not None
    product = target if target is not None and is_there else lowering.temporary(flat, out.dtype)
    lowering.add(Product(y, x.permuted((1, 0)), product, of.line))
    if not is_there:
        lowering.copy(lowering.in_shape(product, out.shape, of.line), out, of.line)
    return True


_RULES = {
    "xp.convolve": _convolve,
    "xp.convolve_transposed": _transposed,
    "xp.convolve_weights": _weights,
}


def _multiply(
    lowering: Lowering, w: Access, x: Access, bias: Access | None, result: Any, line: Any
) -> None:
    """The product of a matrix (O, C) and each image (C, *image), with a bias."""
    n, image = x.shape[0], x.shape[2:]
    w = matrix(lowering, w, line)
    out: Access = lowering.fresh(result)
    flat = (n, w.shape[0], prod(image))
    if prod(image) < _FEW and n > 1:
        columns = _side_by_side(lowering, x, line)
        product = lowering.temporary((w.shape[0], columns.shape[1]), out.dtype)
        lowering.add(Product(w, columns, product, line))
        between = lowering.in_shape(product, (w.shape[0], n, *image), line).permuted((1, 0))
        between = lowering.in_shape(between, out.shape, line)
    else:
        images = lowering.in_shape(x, (*x.shape[:2], prod(image)), line)
        target = None if bias is not None else out.reshaped(flat)
        is_there = target is not None and order_of(target) is not None
        product = target if target is not None and is_there else lowering.temporary(flat, out.dtype)
        images = matrix(lowering, images, line)
        lowering.add(Product(w.broadcast((n, *w.shape)), images, product, line))
        if is_there:
            return
        between = lowering.in_shape(product, out.shape, line)
    finish(lowering, between, bias, out, line)


def finish(lowering: Lowering, y: Access, bias: Access | None, out: Access, line: Any) -> None:
    """`out = y`, with a bias for each channel."""
    if bias is None:
        lowering.copy(y, out, line)
        return
    along = lowering.in_shape(bias, (out.shape[1], *(1,) * (len(out.shape) - 2)), line)
    dtypes = [out.dtype, out.dtype]
    args = [y, along.broadcast(out.shape)]
    lowering.add_pointwise("{0} + {1}", args, dtypes, out.dtype, out, np.add, line)


def _sees_all(image: tuple, of: Convolution) -> bool:
    """Whether a kernel covers an image, pixel by pixel."""
    return image == of.kernels[2:] and set(of.dilation) == {1}


def _as_matrix(w: Access) -> Access:
    """Kernels (O, C, 1, ...) as (O, C)."""
    return Access(w.buffer, w.offset, w.shape[:2], w.strides[:2], w.dtype)


def _seen(x: Access, of: Convolution) -> Access:
    """The pixels of images that kernels of one element see."""
    strides = [s * step for s, step in zip(x.strides[2:], of.stride, strict=True)]
    shape = (*x.shape[:2], *of.places)
    return Access(x.buffer, x.offset, shape, (*x.strides[:2], *strides), x.dtype)


def _side_by_side(lowering: Lowering, x: Access, line: Any) -> Access:
    """Images (N, C, *image) as one matrix (C, N * places), as it lies or copied."""
    x = x.permuted((1, 0))
    return matrix(lowering, lowering.in_shape(x, (x.shape[0], prod(x.shape[1:])), line), line)
