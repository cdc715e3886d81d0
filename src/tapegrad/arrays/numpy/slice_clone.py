"""Kernels of parts: zeros around a slice, copies, views of broadcast memory."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array
from tapegrad.core.memory_format import permuted


@kernel
def copied(x: Array, order: Any) -> Any:
    """A copy in row-major order ("C"), laid out as `x` is ("K"), or with its axes in `order`."""
    if type(order) is tuple:
        out = permuted(x.shape, x.dtype, order)
        np.copyto(out, x)
        return out
    return x.copy("C" if 0 in x.strides else order)


@kernel
def view_to(x: Array, /, shape: tuple[int, ...]) -> Any:
    """A view of `x` broadcast to `shape`, however small, that can be written part by part."""
    extra = len(shape) - x.ndim
    whole = x[(None,) * extra + (...,)]
    if whole.shape == shape:
        return whole
    strides = [
        s if n == m else 0 for n, m, s in zip(whole.shape, shape, whole.strides, strict=True)
    ]
    return seen_as(whole, shape, strides)


def seen_as(x: Array, shape: Any, strides: Any) -> Any:
    """A view of the memory of `x`, from its first element on, that can be written."""
    if x.flags.c_contiguous and x.dtype.kind != "V" and x.size:
        return np.ndarray(shape, x.dtype, x, 0, strides)  # a fraction of the cost of as_strided
    return as_strided(x, shape, strides)


@kernel
def pad_select(x: Array, shape: Any, axis: int, index: int) -> Any:
    """Zeros of `shape` with `x` at `index` of `axis`."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * axis + (index,)] = x
    return out


@kernel
def pad_slice(x: Array, shape: Any, axis: int, start: int, stop: int, step: int) -> Any:
    """Zeros of `shape` with `x` in the places start, start + step, ... below stop of `axis`."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * axis + (slice(start, stop, step),)] = x
    return out
