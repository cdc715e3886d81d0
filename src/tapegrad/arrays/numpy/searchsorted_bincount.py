"""Kernels that look elements up in a sorted sequence or a set, and that count them."""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array


@kernel
def places_in(sequence: Any, values: Array, right: bool) -> Any:
    """How many elements of the sorted last axis of `sequence` come before each of `values`.

    Equal ones do with `right`. A sequence for each row of values, or one for all.
    """
    if sequence.ndim == 1 and not (sequence.dtype.kind == "f" and np.isnan(sequence).any()):
        return np.asarray(np.searchsorted(sequence, values, "right" if right else "left"))
    return _bisected(sequence, values, right)


def _bisected(sequence: Any, values: Array, right: bool) -> Any:
    """All rows at once: the interval of each value is halved until it is empty.

    What is not less than the middle, nan included, goes to the right of it, as in PyTorch.
    """
    n = sequence.shape[-1]
    low = np.zeros(values.shape, np.int64)
    high = np.full(values.shape, n, np.int64)
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        at = np.minimum(middle, n - 1)
        found = sequence[at] if sequence.ndim == 1 else np.take_along_axis(sequence, at, -1)
        stop = found > values if right else found >= values
        open_ = low < high
        high = np.where(open_ & stop, middle, high)
        low = np.where(open_ & ~stop, middle + 1, low)
    return low


@kernel
def members(x: Array, among: Any, unique: bool, invert: bool) -> Any:
    """Whether each element of `x` is one of `among`."""
    return np.asarray(np.isin(x, among, assume_unique=unique, invert=invert))


def counts_of(x: Array, n: int) -> Any:
    """How often each of 0, 1, ..., n - 1 occurs, and any larger number that does, as int64."""
    return np.bincount(x.astype(np.intp, copy=False), minlength=n).astype(np.int64, copy=False)


@kernel
def tally(x: Array, weights: Any, minimum: int) -> Any:
    """How often each of 0, 1, 2, ... occurs, or the sum of the weights of its occurrences."""
    found = np.bincount(x.astype(np.intp, copy=False), weights, minimum)
    return found.astype(np.int64 if weights is None else weights.dtype, copy=False)


@kernel
def tally_evenly(x: Array, low: float, high: float, n: int) -> Any:
    """How many elements lie in each of `n` bins of equal width between low and high."""
    inside = x[(x >= low) & (x <= high)]
    place = ((inside - low) * n / (high - low)).astype(np.intp)
    return np.bincount(np.minimum(place, n - 1), minlength=n).astype(x.dtype)
