"""Real numbers that are each a function of one fraction drawn from [0, 1)."""

import math
from _thread import allocate_lock
from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.core.streams.mersenne_twister import TO_FRACTION_32, TO_FRACTION_64, Twister
from tapegrad.core.streams.recorded import recorded
from tapegrad.core.streams.rounding import cast, fma64, libm
from tapegrad.core.threads import at_once, n_threads

Shape = tuple[int, ...]

_CHUNK = 2**16  # numbers made at a time: the words of more would leave the cache


def _fill(
    stream: Twister,
    out: np.ndarray,
    draw: Callable[[int], np.ndarray],
    fill: Callable[[slice, np.ndarray], Any],
) -> None:
    """Call `fill(part, words)` for parts of a vector; threads share it, words are drawn in turn."""
    size = out.size
    if size <= _CHUNK:
        with stream.lock:
            words = draw(size)
        fill(slice(0, size), words)
        return
    starts, turns = iter(range(0, size, _CHUNK)), allocate_lock()

    def run() -> None:
        while True:
            with turns:
                start = next(starts, size)
                words = draw(min(_CHUNK, size - start)) if start < size else None
            if words is None:
                return
            fill(slice(start, start + words.size), words)

    with stream.lock:
        at_once([run] * n_threads())


@recorded
def uniform(
    stream: Twister,
    shape: Shape,
    dtype: np.dtype,
    low: float = 0.0,
    high: float = 1.0,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Numbers spread evenly over [low, high); each part of a complex number on its own.

    `out` is contiguous memory of that shape and dtype to write them to.

    >>> import numpy as np
    >>> from tapegrad.core.streams.exponential_cauchy import uniform
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> uniform(Twister(0), (2,), np.dtype("float32"))
    array([0.4962566, 0.7682218], dtype=float32)
    """
    if out is None:
        out = np.empty(shape, dtype)
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}")
        uniform(stream, (2 * out.size,), real, low, high, out.reshape(-1).view(real))
        return out
    flat = out.reshape(-1)
    is_double = dtype == np.float64
    make = _make_double if is_double else _make_single
    if flat.size <= _CHUNK:
        make((stream.low53 if is_double else stream.low24)(flat.size), flat, low, high)
        return out

    def fill(part: slice, words: np.ndarray) -> None:
        make(words, flat[part], low, high)

    _fill(stream, flat, stream.locked_low53 if is_double else stream.locked_low24, fill)
    return out


def _make_double(words: np.ndarray, out: np.ndarray, low: float, high: float) -> None:
    np.multiply(words, TO_FRACTION_64, out)
    if low != 0.0 or high != 1.0:
        out[...] = fma64(out, high - low, low)
        out[out == high] = low  # what rounding made of the largest ones


def _make_single(words: np.ndarray, out: np.ndarray, low: float, high: float) -> None:
    """In float32, also for the 16-bit types."""
    is_single = out.dtype == np.float32
    if is_single and low == 0.0 and high == 1.0:
        out[...] = words
        np.multiply(out, TO_FRACTION_32, out)
        return
    first, last = np.float32(low), np.float32(high)
    scale, shift = float(last - first) * 2.0**-24, float(first)
    drawn = words.astype(np.float64)  # which holds the product below exactly: rounded once
    np.multiply(drawn, scale, drawn)
    np.add(drawn, shift, drawn)
    out[...] = drawn if is_single else drawn.astype(np.float32)
    if not is_single:
        first, last = cast(np.array([low, high]), out.dtype)
    elif np.float32(scale * (2**24 - 1) + shift) != last:
        return
    out[out == last] = first  # what rounding made of the largest ones


@recorded
def bernoulli(stream: Twister, shape: Shape, dtype: np.dtype, p: float | np.ndarray) -> np.ndarray:
    """Ones with probability `p`, else zeros.

    A number costs 64 bits for each element; so does an array of float64, others cost 32. An array
    is broadcast to `shape`.
    """
    is_double = not isinstance(p, np.ndarray) or p.dtype == np.float64
    limits = None
    if isinstance(p, np.ndarray):
        wide = p.astype(np.float32) if p.dtype.itemsize == 2 else p
        limits = np.broadcast_to(wide, shape).reshape(-1)
    found = np.empty(shape, dtype)
    flat = found.reshape(-1)

    def fill(part: slice, words: np.ndarray) -> None:
        drawn = words * TO_FRACTION_64 if is_double else words.astype(np.float32) * TO_FRACTION_32
        flat[part] = drawn < (p if limits is None else limits[part])

    _fill(stream, flat, stream.locked_low53 if is_double else stream.locked_low24, fill)
    return found


@recorded
def exponential(stream: Twister, shape: Shape, dtype: np.dtype, rate: float = 1.0) -> np.ndarray:
    """Waiting times of mean 1 / rate."""
    found = np.empty(shape, dtype)
    flat = found.reshape(-1)

    def fill(part: slice, words: np.ndarray) -> None:
        x = words * -TO_FRACTION_64
        y = libm(math.log1p, x) if dtype == np.float64 else np.log1p(x, x)
        flat[part] = cast(np.multiply(y, -1.0 / rate, y), dtype)

    _fill(stream, flat, stream.locked_low53, fill)
    return found


@recorded
def geometric(stream: Twister, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """How many trials of probability `p` it took to succeed once, counted from 1."""
    x = stream.fractions64(math.prod(shape))
    with np.errstate(divide="ignore"):
        y = np.ceil(np.log(x) / math.log1p(-p))
    return cast(y, dtype).reshape(shape)


@recorded
def cauchy(
    stream: Twister, shape: Shape, dtype: np.dtype, median: float = 0.0, sigma: float = 1.0
) -> np.ndarray:
    """Numbers of a Cauchy distribution."""
    x = math.pi * (stream.fractions64(math.prod(shape)) - 0.5)
    y = libm(math.tan, x) if dtype == np.float64 else np.tan(x)
    return cast(fma64(y, sigma, median), dtype).reshape(shape)
