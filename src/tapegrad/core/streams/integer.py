"""Integers drawn evenly from a range, permutations, and draws from a list of weights."""

import math
from typing import Any

import numpy as np

from tapegrad.core.streams.exponential_cauchy import exponential
from tapegrad.core.streams.mersenne_twister import Twister, laid_out_like
from tapegrad.core.streams.recorded import recorded
from tapegrad.core.streams.rounding import cast

Shape = tuple[int, ...]

_WIDE = 2**28  # ranges from here on are filled from 64 bits, the others from 32
_MANY = 500  # elements: from here on SciPy is imported, whose LAPACK swaps them
_HUGE = 2**32 // 20  # permutations from here on are made from 64-bit draws, and backwards

# Without bounds: how many values there are, starting at 0. A float has all its exact integers.
_ALL = {
    **{"bool": 2, "uint8": 2**8, "int8": 2**7, "int16": 2**15, "int32": 2**31, "int64": 2**63},
    **{"float16": 2**11 + 1, "bfloat16": 2**8 + 1, "float32": 2**24 + 1, "float64": 2**53 + 1},
}


@recorded
def integers(stream: Twister, shape: Shape, dtype: np.dtype, low: int, n_values: int) -> np.ndarray:
    """Integers from `low` on, each of `n_values` values equally likely; at most 2**64 of them.

    >>> import numpy as np
    >>> from tapegrad.core.streams.integer import integers
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> integers(Twister(0), (3,), np.dtype("int64"), 10, 5)
    array([14, 14, 13])
    """
    n = math.prod(shape)
    if n_values < _WIDE:
        drawn = _remainder(stream.u32(n), n_values)
        if dtype != np.int64 or low:
            drawn = drawn.astype(np.int64)
            drawn += low
    else:
        bits = stream.u64(n)
        if n_values < 2**64:
            bits %= np.uint64(n_values)
        bits += np.uint64(low % 2**64)  # wraps around, as signed integers do
        drawn = bits.view(np.int64)
    return cast(drawn, dtype).reshape(shape)


def _remainder(words: np.ndarray, n: int) -> np.ndarray:
    """words % n in place: NumPy divides by one number seven times faster than it finds the rest."""
    whole = words // np.uint32(n)
    whole *= np.uint32(n)
    return np.subtract(words, whole, words)


@recorded
def all_integers(stream: Twister, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """Integers from 0 to the largest up to which `dtype` has them all."""
    n, n_values = math.prod(shape), _ALL[dtype.name]
    drawn: np.ndarray
    if dtype.itemsize == 8:
        drawn = (stream.u64(n) % np.uint64(n_values)).view(np.int64)
    else:
        drawn = _remainder(stream.u32(n), n_values)
    return cast(drawn, dtype).reshape(shape)


# --- permutations ------------------------------------------------------------------------------


@recorded
def permutation(stream: Twister, n: int) -> np.ndarray:
    """The numbers 0 to n - 1 in random order, as int64. Source: Fisher and Yates, 1938.

    >>> from tapegrad.core.streams.integer import permutation
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> permutation(Twister(0), 4)
    array([0, 1, 3, 2])
    """
    places = np.arange(n, dtype=np.int32)
    if n >= _HUGE:  # each step swaps with one of those before it
        drawn = stream.u64(n) % np.arange(1, n + 1, dtype=np.uint64)
        return _swapped(places, drawn.astype(np.int32)).astype(np.int64)
    if n < 2:
        return places.astype(np.int64)
    swapped_with = places.copy()  # each step swaps with one of those behind it
    swapped_with[:-1] += (stream.u32(n - 1) % np.arange(n, 1, -1, dtype=np.uint32)).view(np.int32)
    return _swapped(places, swapped_with).astype(np.int64)


@recorded
def permuted(stream: Twister, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """`permutation(shape[0])` in another dtype."""
    return cast(permutation(stream, shape[0]), dtype)


def _swapped(x: np.ndarray, places: np.ndarray) -> np.ndarray:
    """`x`, of int32, after x[i] and x[places[i]] have been swapped for each i in turn.

    LAPACK interchanges the rows of a matrix so: here of one column of float32 with the same bits.
    """
    if len(x) < _MANY:
        swapped = x.tolist()
        for i, place in enumerate(places.tolist()):
            swapped[i], swapped[place] = swapped[place], swapped[i]
        return np.array(swapped, x.dtype)
    from scipy.linalg.lapack import slaswp

    return slaswp(x.view(np.float32)[:, None], places)[:, 0].view(np.int32)


# --- weights -----------------------------------------------------------------------------------


@recorded
def choice(stream: Twister, weights: np.ndarray, n: int, *, replacement: bool) -> np.ndarray:
    """Indices drawn along the last axis of `weights`, as often as these say: shape (..., n).

    Where PyTorch sorts equal keys, which happens for the 16-bit types and for weights of zero,
    its order is that of its sorting algorithm; here the lower index comes first.
    """
    if not len(weights):
        return np.empty((0, n), np.int64)
    if replacement and n > 1:
        return _with_replacement(stream, weights, n)
    times = laid_out_like(weights, lambda shape: exponential(stream, shape, weights.dtype))
    with np.errstate(divide="ignore", over="ignore"):
        keys = weights / times  # the largest wins a race of exponential waiting times
    if n == 1:
        return np.argmax(keys, axis=-1, keepdims=True).astype(np.int64, copy=False)
    np.negative(keys, keys)
    if 4 * n < keys.shape[-1]:
        rows = [_lowest(row, n) for row in keys.reshape(-1, keys.shape[-1])]
        return np.array(rows, np.int64).reshape(*keys.shape[:-1], n)
    order = np.argsort(keys, axis=-1, kind="stable")[..., :n]
    return np.ascontiguousarray(order, np.int64)


def _lowest(keys: np.ndarray, n: int) -> np.ndarray:
    """The beginning of a stable sort, without sorting the rest."""
    last = np.partition(keys, n - 1)[n - 1]
    places = np.flatnonzero(~(keys > last))  # nan, which comes last, among them
    return places[np.argsort(keys[places], kind="stable")[:n]]


def _with_replacement(stream: Twister, weights: np.ndarray, n: int) -> np.ndarray:
    *batch, n_weights = weights.shape
    precision = np.float64 if weights.dtype == np.float64 else np.float32
    rows: Any = np.cumsum(weights.reshape(-1, n_weights), axis=-1, dtype=precision)
    rows /= rows[:, -1:].copy()
    rows[:, -1] = 1
    drawn = stream.fractions64(len(rows) * n).reshape(-1, n)
    found = np.empty(drawn.shape, np.int64)
    for row, fractions, out in zip(rows, drawn, found, strict=True):
        out[:] = np.searchsorted(row.astype(np.float64), fractions)
    return found.reshape(*batch, n)
