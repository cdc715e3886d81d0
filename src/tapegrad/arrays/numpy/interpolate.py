"""Kernel of separable linear maps: averages over windows, interpolation, and their transposes."""

from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blocks import BLOCK, run_blocks
from tapegrad.arrays.numpy.interpolate_taps import Separable, Taps
from tapegrad.core.annotations import Any, Array


@kernel
def resample(x: Array, through: Separable) -> Any:
    """The last axes of `x` through a separable map, block by block of the axes before them."""
    n = len(through.axes)
    lead, sizes = x.shape[:-n], x.shape[-n:]
    whole = x.dtype == np.uint8 and any(taps.weighted for taps in through.axes)
    narrow = x.dtype.itemsize == 2 and x.dtype.kind in "fV"
    out = np.empty((*lead, *through.sizes), x.dtype)
    if not out.size:
        return out
    number = prod(lead)
    images = x.reshape((number, *sizes))
    results = out.reshape((number, *through.sizes))

    def work(first: int, last: int) -> None:
        part = images[first:last]
        part = part.astype(np.float32) if narrow else part
        results[first:last] = (_mapped_bytes if whole else _mapped)(part, through)

    over_images(number, max(images[0].size, results[0].size), work)
    return out


def over_images(n: int, size: int, work: Any) -> None:
    """Call `work(first, last)` for groups of images of `size` elements that cover all `n`."""
    if n * size <= BLOCK:
        work(0, n)
        return

    def block(start: int, stop: int) -> None:  # the images that begin in these elements
        first, last = -(-start // size), -(-stop // size)
        if first < last:
            work(first, last)

    run_blocks(n * size, block)


def _mapped(x: Array, through: Separable) -> Any:
    if through.divide_first and through.divisor is not None:
        x = _divided(x, through.divisor)
    for i in through.order:
        if not through.axes[i].is_identity:
            x = along(x, 1 + i, through.axes[i])
    if not through.divide_first and through.divisor is not None:
        x = _divided(x, through.divisor)
    return x


def _mapped_bytes(x: Array, through: Separable) -> Any:
    """Bytes through a map with weights: the last axis first, rounded to bytes after each."""
    for i in range(len(through.axes) - 1, -1, -1):
        taps = through.axes[i]
        if not taps.is_identity:
            fixed, bits = taps.fixed
            total = along(x.astype(np.int32), 1 + i, fixed)
            x = np.clip((total + ((1 << bits) >> 1)) >> bits, 0, 255).astype(np.uint8)
    return x


def _divided(x: Array, divisor: Any) -> Any:
    """Integers are divided towards zero."""
    if x.dtype.kind in "iu":
        return np.trunc(x / divisor).astype(x.dtype)
    if isinstance(divisor, np.ndarray):
        return x / divisor.astype(x.dtype)
    return x / x.dtype.type(divisor)


def along(x: Array, axis: int, taps: Taps) -> Any:
    """One axis through its taps: a step over the whole array for each lane."""
    before = (slice(None),) * axis
    if taps.runs is not None:
        return _along_runs(x, axis, before, taps)
    n_after = x.ndim - axis - 1
    shape = (*x.shape[:axis], taps.n_out, *x.shape[axis + 1 :])
    out: Any = None
    for lane in taps.lanes:
        source = lane.source
        part = x[(*before, source)] if type(source) is slice else np.take(x, source, axis)
        weights = lane.weights(x.dtype, n_after)
        if weights is not None:
            part = part * weights
        if out is None:
            if part.shape == shape:  # the first lane reaches everything
                fresh = weights is not None or type(source) is not slice
                out = part if fresh else part.copy()
                continue
            out = np.empty(shape, x.dtype) if taps.writes_once else np.zeros(shape, x.dtype)
        if taps.writes_once:
            out[(*before, lane.to)] = part
        else:
            out[(*before, lane.to)] += part
    return np.zeros(shape, x.dtype) if out is None else out


def _along_runs(x: Array, axis: int, before: tuple, taps: Taps) -> Any:
    """One axis through taps that are few long runs: a step for each run."""
    shape = (*x.shape[:axis], taps.n_out, *x.shape[axis + 1 :])
    out = np.zeros(shape, x.dtype)
    for i, run in enumerate(taps.runs or ()):
        if taps.spread:
            out[(*before, run)] += x[(*before, slice(i, i + 1))]
        else:
            out[(*before, i)] = np.add.reduce(x[(*before, run)], axis)
    return out
