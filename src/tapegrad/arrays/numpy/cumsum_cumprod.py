"""Running sums and products of float32, and the derivatives of products.

PyTorch adds up float32 in double precision where it keeps all the sums on the way; a million times
0.1 in float32 alone is 100,958.34. NumPy's `accumulate` takes one element after the other through
memory: where there are many lanes side by side, a step for all of them at once is quicker; rows are
cut into such lanes.
"""

from itertools import pairwise
from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array

_WIDE = 64  # lanes: from there on a step for all of them pays for its call
_BLOCK = 64  # steps that are converted to double precision together
_LANE = 16  # elements: rows of numbers to be added up are cut into lanes of so many
_PIECE = 1 << 16  # elements of rows that are worked on together


def accumulated(ufunc: Any, x: Array, axis: int) -> Any:
    """`ufunc.accumulate` of float32 along `axis`, in double precision, as float32."""
    n = x.shape[axis]
    if n and x.size > prod(x.shape[: axis + 1]):
        if x.size // n >= _WIDE:
            return np.moveaxis(_stepwise(ufunc, np.moveaxis(x, axis, 0)), 0, axis)
    elif ufunc is np.add and n >= _WIDE and x.size >= _WIDE * _LANE:
        return _running_sums(x.reshape(-1, n)).reshape(x.shape)
    return ufunc.accumulate(x, axis, np.float64).astype(np.float32)


def _stepwise(ufunc: Any, x: Array) -> Any:
    """The running results along the first axis."""
    out = np.empty_like(x)
    last = None
    for start in range(0, len(x), _BLOCK):
        block = x[start : start + _BLOCK].astype(np.float64, "C")
        for step in block:
            if last is not None:
                ufunc(last, step, step)
            last = step
        out[start : start + _BLOCK] = block
    return out


def _running_sums(x: Array) -> Any:
    """The running sums of rows (rows, n), some rows or a part of one at a time."""
    rows, n = x.shape
    out = np.empty((rows, n), x.dtype)
    width = min(n, _PIECE)
    height = _PIECE // width
    for i in range(0, rows, height):
        last = np.zeros((min(height, rows - i), 1))
        for j in range(0, n, width):
            here = slice(i, i + height), slice(j, j + width)
            last = _in_lanes(x[here], last, out[here])
    return out


def _in_lanes(x: Array, last: Any, out: Array) -> Any:
    """The running sums of rows, on from `last`, to `out`; returns where they end.

    Lanes of all rows are added up side by side, then to each what came before it.
    """
    rows, n = x.shape
    count = n // _LANE
    whole = count * _LANE
    if count:
        lanes = x[:, :whole].reshape(rows, count, _LANE).transpose(2, 0, 1).astype(np.float64, "C")
        for before, step in pairwise(lanes):
            np.add(before, step, step)
        starts = np.concatenate((last, lanes[-1, :, :-1]), 1)
        lanes += np.add.accumulate(starts, 1)
        out[:, :whole].reshape(rows, count, _LANE)[...] = lanes.transpose(1, 2, 0)
        last = lanes[-1, :, -1:]
    if whole < n:
        rest = np.add.accumulate(np.concatenate((last, x[:, whole:]), 1), 1)
        out[:, whole:] = rest[:, 1:]
        last = rest[:, -1:]
    return last


# --- derivatives of products ---------------------------------------------------------------------


@kernel(optional=True)
def running_product_back(g: Array, x: Array, y: Array, axis: int) -> Any:
    """The cotangent of x from that of its running product y, in one pass, zeros or not.

    d y[j] / d x[i] = y[j] / x[i] for i <= j. From the first zero on y is 0, and only that zero has
    a derivative there: the running product without it.
    """
    from tapegrad.arrays.numpy.namespace import cumulative_prod, cumulative_sum

    def later(h: Array) -> Any:
        return np.flip(cumulative_sum(np.flip(h, axis), axis=axis), axis)

    zero = x == 0
    if not zero.any():
        return later(g * y) / x
    seen = np.cumsum(zero, axis)
    first = zero & (seen == 1)
    found = np.where(seen == 0, later(g * y) / np.where(zero, 1, x), 0)
    without = cumulative_prod(np.where(first, 1, x), axis=axis)
    return np.where(first, later(g * without), found)


@kernel(optional=True)
def running_product_push(t: Array, x: Array, y: Array, axis: int) -> Any:
    """The tangent of the running product y of x, from that of x: the same relations."""
    from tapegrad.arrays.numpy.namespace import cumulative_prod, cumulative_sum

    zero = x == 0
    if not zero.any():
        return y * cumulative_sum(t / x, axis=axis)
    seen = np.cumsum(zero, axis)
    first = zero & (seen == 1)
    found = y * cumulative_sum(np.where(zero, 0, t / np.where(zero, 1, x)), axis=axis)
    without = cumulative_prod(np.where(first, 1, x), axis=axis)
    return np.where(seen == 0, found, without * cumulative_sum(np.where(first, t, 0), axis=axis))


@kernel(optional=True)
def other_products(x: Array, y: Array) -> Any:
    """For each of x the product of the others, where y is that of all; None where it is not y / x.

    It is not where an element is 0, or the product left the range of the dtype.
    """
    return None if (y == 0).any() or not np.isfinite(y).all() else y / x


@kernel
def log_running_sum(x: Array, axis: int) -> Any:
    """log(sum(exp(x))) up to each place along `axis`; of float32 in double precision."""
    if x.dtype == np.float32:
        return np.logaddexp.accumulate(x, axis, np.float64).astype(np.float32)
    if x.dtype.kind != "c":
        return np.logaddexp.accumulate(x, axis)
    y = np.empty_like(x)
    total: Any = -np.inf
    for i in range(x.shape[axis]):
        place = (slice(None),) * (axis % x.ndim) + (i,)
        y[place] = total = _log_sum(x[place], total)
    return y


def _log_sum(a: Array, b: Array) -> Any:
    """log(exp(a) + exp(b)) of complex numbers, by the one whose real part is larger."""
    first = np.real(a) > np.real(b)
    large: Any = np.where(first, a, b)
    small: Any = np.where(first, b, a)
    total = large + np.log1p(np.exp(small - large))
    total = np.where(np.real(small) == -np.inf, large, total)
    total = np.where(np.real(large) == -np.inf, -np.inf, total)
    total = np.where(np.real(small) == np.inf, np.log(np.exp(a) + np.exp(b)), total)
    return np.where(np.isnan(a) | np.isnan(b), np.nan * (1 + 1j), total)


@kernel
def running_extremum(x: Array, axis: int, largest: bool) -> Any:
    """The index of the extremum so far along `axis`, the latest of equal ones; nan wins."""
    accumulate = np.maximum.accumulate if largest else np.minimum.accumulate
    best = accumulate(x, axis)
    hit = x == best
    if x.dtype.kind in "fc":
        hit |= np.isnan(x)
    shape = [1] * x.ndim
    shape[axis] = -1
    position = np.arange(x.shape[axis]).reshape(shape)
    return np.maximum.accumulate(np.where(hit, position, 0), axis)
