"""Kernels that rank elements."""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.sort_topk import has_nan, place_of_rank
from tapegrad.core.annotations import Any, Array

LARGE = 4096  # elements: above it a partition is quicker than an order


@kernel
def median_index(x: Array, axis: int, ignore_nan: bool) -> Any:
    """The index of the lower median along `axis`, kept as an axis of size 1.

    nan sorts last: unless it is ignored, one nan makes the median nan.
    """
    if x.size > LARGE and x.shape[axis] and not has_nan(x):
        lanes = np.moveaxis(x, axis, -1)
        return np.moveaxis(place_of_rank(lanes, (x.shape[axis] - 1) // 2), -1, axis)
    order = np.argsort(x, axis=axis, kind="stable")
    shape = list(x.shape)
    shape[axis] = 1
    if x.dtype.kind != "f":
        middle = np.full(shape, (x.shape[axis] - 1) // 2)
        return np.take_along_axis(order, middle, axis)
    n_nan = np.isnan(x).sum(axis, keepdims=True)
    known = x.shape[axis] - n_nan
    middle = np.maximum(known - 1, 0) // 2
    if not ignore_nan:
        middle = np.where(n_nan > 0, known, middle)  # the first nan
    return np.take_along_axis(order, middle, axis)


@kernel
def put_along(x: Array, indices: Array, shape: tuple[int, ...], axis: int) -> Any:
    """Zeros of `shape` with `x` at `indices` along `axis`."""
    out = np.zeros(shape, x.dtype)
    np.put_along_axis(out, indices, x, axis)
    return out


@kernel
def mode_index(x: Array, axis: int) -> Any:
    """The index of the last occurrence of the most frequent element (the smallest of several)."""
    rows = np.moveaxis(x, axis, -1)
    order = np.argsort(rows, axis=-1, kind="stable")
    ranked = np.take_along_axis(rows, order, -1)
    n = ranked.shape[-1]
    position = np.arange(n)
    fresh = np.concatenate(
        [np.ones((*ranked.shape[:-1], 1), bool), ranked[..., 1:] != ranked[..., :-1]], -1
    )
    start = np.maximum.accumulate(np.where(fresh, position, 0), -1)
    run = position - start + 1  # how often the element has occurred so far
    best = np.argmax(run, -1, keepdims=True)  # the first longest run: of the smallest element
    return np.moveaxis(np.take_along_axis(order, best, -1), -1, axis)
