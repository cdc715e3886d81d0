"""Running sums and products of float32, and the derivatives of products.

PyTorch adds up float32 in double precision where it keeps all the sums on the way; a million times
0.1 in float32 alone is 100,958.34. NumPy's `accumulate` takes one element after the other through
memory: where there are many lanes side by side, a step for all of them at once is quicker.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_WIDE = 64  # lanes: from there on a step for all of them pays for its call
_BLOCK = 64  # steps that are converted to double precision together
_CHUNK = 1024  # steps of one lane, where a long vector is cut into lanes


def accumulated(ufunc: Any, x: Any, axis: int) -> Any:
    """`ufunc.accumulate` of float32 along `axis`, in double precision, as float32."""
    n = x.shape[axis]
    if n and x.size // n >= _WIDE:
        return np.moveaxis(_stepwise(ufunc, np.moveaxis(x, axis, 0), None), 0, axis)
    if x.ndim == 1 and n >= _WIDE * _CHUNK:
        return _in_chunks(ufunc, x)
    return ufunc.accumulate(x, axis, np.float64).astype(np.float32)


def _stepwise(ufunc: Any, x: Any, last: Any) -> Any:
    """The running results along the first axis, on from `last`."""
    out = np.empty_like(x)
    for start in range(0, len(x), _BLOCK):
        block = x[start : start + _BLOCK].astype(np.float64, "C")
        for step in block:
            if last is not None:
                ufunc(last, step, step)
            last = step
        out[start : start + _BLOCK] = block
    return out


def _in_chunks(ufunc: Any, x: Any) -> Any:
    """The running results of a long vector: lanes of 1,024, each on from the one before."""
    lanes = len(x) // _CHUNK
    whole = lanes * _CHUNK
    side_by_side = x[:whole].reshape(lanes, _CHUNK).T
    totals = ufunc.accumulate(ufunc.reduce(side_by_side, 0, np.float64))
    before = np.concatenate([[ufunc.identity], totals[:-1]])
    out = np.empty_like(x)
    out[:whole].reshape(lanes, _CHUNK)[...] = _stepwise(ufunc, side_by_side, before).T
    rest = x[whole:].astype(np.float64)
    if len(rest):
        rest[0] = ufunc(totals[-1], rest[0])
        out[whole:] = ufunc.accumulate(rest)
    return out


# --- derivatives of products ---------------------------------------------------------------------


def running_product_back(g: Any, x: Any, y: Any, axis: int) -> Any:
    """The cotangent of x from that of its running product y, in one pass, zeros or not.

    d y[j] / d x[i] = y[j] / x[i] for i <= j. From the first zero on y is 0, and only that zero has
    a derivative there: the running product without it.
    """
    from tapegrad.arrays.numpy import cumulative_prod, cumulative_sum

    def later(h: Any) -> Any:
        return np.flip(cumulative_sum(np.flip(h, axis), axis=axis), axis)

    zero = x == 0
    if not zero.any():
        return later(g * y) / x
    seen = np.cumsum(zero, axis)
    first = zero & (seen == 1)
    found = np.where(seen == 0, later(g * y) / np.where(zero, 1, x), 0)
    without = cumulative_prod(np.where(first, 1, x), axis=axis)
    return np.where(first, later(g * without), found)


def running_product_push(t: Any, x: Any, y: Any, axis: int) -> Any:
    """The tangent of the running product y of x, from that of x: the same relations."""
    from tapegrad.arrays.numpy import cumulative_prod, cumulative_sum

    zero = x == 0
    if not zero.any():
        return y * cumulative_sum(t / x, axis=axis)
    seen = np.cumsum(zero, axis)
    first = zero & (seen == 1)
    found = y * cumulative_sum(np.where(zero, 0, t / np.where(zero, 1, x)), axis=axis)
    without = cumulative_prod(np.where(first, 1, x), axis=axis)
    return np.where(seen == 0, found, without * cumulative_sum(np.where(first, t, 0), axis=axis))


def other_products(x: Any, y: Any) -> Any:
    """For each of x the product of the others, where y is that of all; None where it is not y / x.

    It is not where an element is 0, or the product left the range of the dtype.
    """
    if (y == 0).any() or not np.isfinite(y).all():
        return None
    return y / x
