"""Kernels of softmax on NumPy arrays: block after block, each pass of a block in the cache."""

from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.memory_pool import empty
from tapegrad.arrays.numpy.row_blocks import in_row_blocks
from tapegrad.core.annotations import Any, Array

_MANY = 1 << 15  # elements: below it one pass after the other over the whole
_BLOCK = 1 << 17  # elements
# sums of exponentials that show that no shift by the largest number was needed: neither overflow
# nor underflow, and for the logarithm no digits lost, as both it and the numbers are small
_SAFE = (1e-6, 1e30)
_SAFE_LOG = (3e-4, 3e3)


def _slabs(x: Array, axis: int) -> Any:
    """`x` as (outer, n, inner), n the axis; (outer, n) if that is the last."""
    shape = x.shape
    outer, n, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    return x.reshape((outer, n) if inner == 1 else (outer, n, inner))


def _total(x: Array, ones: Any) -> Any:
    """The sum of a block over its second axis, kept: a product with ones."""
    return (x @ ones)[:, None] if x.ndim == 2 else (ones @ x)[:, None]


def _exponentials(x: Array, ones: Any, safe: tuple[float, float], out: Array) -> tuple:
    """exp(x - shift) in `out`, and its sums; the shift, None where none is needed."""
    np.exp(x, out)
    total = _total(out, ones)
    if total.min() >= safe[0] and total.max() <= safe[1]:
        return None, total
    shift = x.max(axis=1, keepdims=True)
    np.subtract(x, shift, out)
    np.exp(out, out)
    return shift, _total(out, ones)


def _in_blocks(work: Any, axis: int, *arrays: Array) -> Any:
    """`work(*blocks, out)` for blocks of slabs, written to a new array."""
    slabs = [_slabs(np.ascontiguousarray(x), axis) for x in arrays]
    outer, size = slabs[0].shape[0], prod(slabs[0].shape[1:])
    result = empty(slabs[0].size, arrays[0].dtype).reshape(slabs[0].shape)

    def run(i: int, j: int) -> None:
        work(*(x[i:j] for x in slabs), result[i:j])

    in_row_blocks(outer, size, _BLOCK, run)
    return result.reshape(arrays[0].shape)


def _is_plain(x: Array) -> bool:
    return x.size < _MANY or x.dtype.kind != "f" or x.dtype.itemsize == 2


@kernel
def softmax_along(x: Array, axis: int) -> Any:
    """exp(x) / sum(exp(x)) along `axis`."""
    if _is_plain(x):
        e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
        return e / np.add.reduce(e, axis=axis, keepdims=True)
    ones = np.ones(x.shape[axis], x.dtype)

    def work(part: Array, out: Array) -> None:
        total = _exponentials(part, ones, _SAFE, out)[1]
        out *= np.reciprocal(total, total)

    return _in_blocks(work, axis, x)


@kernel
def softmax_back(g: Array, y: Array, axis: int) -> Any:
    """(g - sum(g y)) y, the sum along `axis`."""
    if _is_plain(y) or g.dtype != y.dtype:
        product = g * y
        return product - y * np.add.reduce(product, axis=axis, keepdims=True)
    ones = np.ones(y.shape[axis], y.dtype)

    def work(cotangent: Array, part: Array, out: Array) -> None:
        if part.ndim == 2:
            total = np.vecdot(cotangent, part)[:, None]
        else:
            total = _total(np.multiply(cotangent, part, out), ones)
        np.copyto(out, total)  # a ufunc that repeats a column takes longer than both
        np.subtract(cotangent, out, out)
        out *= part

    return _in_blocks(work, axis, g, y)


@kernel
def log_softmax_along(x: Array, axis: int) -> Any:
    """x - log(sum(exp(x))) along `axis`."""
    if _is_plain(x):
        shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
        return shifted - np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))
    ones = np.ones(x.shape[axis], x.dtype)

    def work(part: Array, out: Array) -> None:
        shift, total = _exponentials(part, ones, _SAFE_LOG, out)
        np.log(total, total)
        if shift is None:
            np.subtract(part, total, out)
        else:
            np.subtract(part, shift, out)
            out -= total

    return _in_blocks(work, axis, x)


@kernel
def log_softmax_back(g: Array, y: Array, axis: int) -> Any:
    """g - exp(y) sum(g), the sum along `axis`."""
    if _is_plain(y) or g.dtype != y.dtype:
        return g - np.exp(y) * np.add.reduce(g, axis=axis, keepdims=True)
    ones = np.ones(y.shape[axis], y.dtype)

    def work(cotangent: Array, part: Array, out: Array) -> None:
        np.exp(part, out)
        total = _total(cotangent, ones)
        first = total.flat[0]
        out *= first if (total == first).all() else total  # a mean loss has one for all
        np.subtract(cotangent, out, out)

    return _in_blocks(work, axis, g, y)
