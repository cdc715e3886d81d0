"""Real numbers that are each a function of one fraction drawn from [0, 1)."""

import math

import numpy as np

from tapegrad.core.streams.mersenne_twister import TO_FRACTION_32, TO_FRACTION_64, Twister
from tapegrad.core.streams.recorded import recorded
from tapegrad.core.streams.rounding import cast, fma64, libm

Shape = tuple[int, ...]

_CHUNK = 2**16  # numbers made at a time: the words of more would leave the cache


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
    fill = _fill_double if dtype == np.float64 else _fill_single
    if flat.size <= _CHUNK:
        fill(stream, flat, low, high)
        return out
    with stream.lock:
        for start in range(0, flat.size, _CHUNK):
            fill(stream, flat[start : start + _CHUNK], low, high)
    return out


def _fill_double(stream: Twister, out: np.ndarray, low: float, high: float) -> None:
    np.multiply(stream.low53(out.size), TO_FRACTION_64, out)
    if low != 0.0 or high != 1.0:
        out[...] = fma64(out, high - low, low)
        out[out == high] = low  # what rounding made of the largest ones


def _fill_single(stream: Twister, out: np.ndarray, low: float, high: float) -> None:
    """In float32, also for the 16-bit types."""
    words = stream.low24(out.size)
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
    drawn = (stream.fractions64 if is_double else stream.fractions32)(math.prod(shape))
    if isinstance(p, np.ndarray) and p.dtype.itemsize == 2:
        p = p.astype(np.float32)
    return (drawn.reshape(shape) < p).astype(dtype, copy=False)


@recorded
def exponential(stream: Twister, shape: Shape, dtype: np.dtype, rate: float = 1.0) -> np.ndarray:
    """Waiting times of mean 1 / rate."""
    x = -stream.fractions64(math.prod(shape))
    y = libm(math.log1p, x) if dtype == np.float64 else np.log1p(x)
    return cast(-1.0 / rate * y, dtype).reshape(shape)


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
