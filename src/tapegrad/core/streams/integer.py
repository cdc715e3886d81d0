"""Integers drawn evenly from a range, permutations, and draws from a list of weights."""

import math
from typing import Any

import numpy as np

from tapegrad.core.streams.exponential_cauchy import exponential
from tapegrad.core.streams.mersenne_twister import Twister, laid_out_like
from tapegrad.core.streams.rounding import cast

Shape = tuple[int, ...]

_WIDE = 2**28  # ranges from here on are filled from 64 bits, the others from 32
_HUGE = 2**32 // 20  # permutations from here on are made from 64-bit draws, and backwards

# Without bounds: how many values there are, starting at 0. A float has all its exact integers.
_ALL = {
    **{"bool": 2, "uint8": 2**8, "int8": 2**7, "int16": 2**15, "int32": 2**31, "int64": 2**63},
    **{"float16": 2**11 + 1, "bfloat16": 2**8 + 1, "float32": 2**24 + 1, "float64": 2**53 + 1},
}


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
        drawn = (stream.u32(n) % np.uint32(n_values)).astype(np.int64) + low
    else:
        bits = stream.u64(n)
        if n_values < 2**64:
            bits %= np.uint64(n_values)
        bits += np.uint64(low % 2**64)  # wraps around, as signed integers do
        drawn = bits.view(np.int64)
    return cast(drawn, dtype).reshape(shape)


def all_integers(stream: Twister, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """Integers from 0 to the largest up to which `dtype` has them all."""
    n, n_values = math.prod(shape), _ALL[dtype.name]
    drawn: np.ndarray
    if dtype.itemsize == 8:
        drawn = (stream.u64(n) % np.uint64(n_values)).view(np.int64)
    else:
        drawn = stream.u32(n) % np.uint32(n_values)
    return cast(drawn, dtype).reshape(shape)


# --- permutations ------------------------------------------------------------------------------


def permutation(stream: Twister, n: int) -> np.ndarray:
    """The numbers 0 to n - 1 in random order, as int64. Source: Fisher and Yates, 1938.

    >>> from tapegrad.core.streams.integer import permutation
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> permutation(Twister(0), 4)
    array([0, 1, 3, 2])
    """
    if n >= _HUGE:
        return _inside_out((stream.u64(n) % np.arange(1, n + 1, dtype=np.uint64)).view(np.int64))
    places = np.arange(n, dtype=np.int64)
    if n < 2:
        return places
    places[:-1] += stream.u32(n - 1) % np.arange(n, 1, -1, dtype=np.uint32)
    return _swapped(places)


def permuted(stream: Twister, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """`permutation(shape[0])` in another dtype."""
    return cast(permutation(stream, shape[0]), dtype)


def _swapped(places: np.ndarray) -> np.ndarray:
    """0, 1, 2, ... after places i and places[i] >= i have been swapped, for each i in turn.

    Step i finds at places[i] what the last earlier step with the same place put there: what had
    stood at its own index. So the swaps are chains of steps, followed for all steps at once.
    """
    n = len(places)
    steps = np.arange(n)
    before = _previous(places)
    # origin[i]: what stands at i when step i begins, i itself if no step has touched it
    origin = steps.copy()
    is_swap = places != steps
    origin[places[is_swap]] = steps[is_swap]  # of steps with the same place the last one stays
    origin = _followed(origin)
    return np.where(before < 0, places, origin[before])


def _inside_out(places: np.ndarray) -> np.ndarray:
    """What comes of r[i] = r[places[i]], then r[places[i]] = i, for each i in turn."""
    n = len(places)
    steps = np.arange(n)
    last = np.full(n, -1)
    last[places] = steps
    before = _previous(places)
    # where r[i] came from at step i: a step that wrote its own number, or that of a lower index
    is_known = (before >= 0) | (places == steps)
    source = _followed(np.where(is_known, steps, places))
    value = np.where(before >= 0, before, places)[source]
    return np.where(last >= 0, last, value)


def _previous(places: np.ndarray) -> np.ndarray:
    """For each step the last one before it with the same place, or -1."""
    steps = np.arange(len(places))
    keys = np.sort((places << 32) | steps)  # by place, then by step
    step = keys & 0xFFFFFFFF
    is_first = np.empty(len(places), bool)
    is_first[:1] = True
    np.not_equal(keys[1:] >> 32, keys[:-1] >> 32, out=is_first[1:])
    before = np.empty_like(steps)
    before[step[1:]] = step[:-1]
    before[step[is_first]] = -1
    return before


def _followed(pointer: np.ndarray) -> np.ndarray:
    """The end of the chain i, pointer[i], pointer[pointer[i]], ... that begins at each i."""
    while True:
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            return pointer
        pointer = further


# --- weights -----------------------------------------------------------------------------------


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
        return np.argmax(keys, axis=-1, keepdims=True)
    return np.ascontiguousarray(np.argsort(-keys, axis=-1, kind="stable")[..., :n])


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
