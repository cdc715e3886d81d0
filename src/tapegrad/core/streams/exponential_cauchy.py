"""Real numbers that are each a function of one fraction drawn from [0, 1)."""

import math

import numpy as np

from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.core.streams.rounding import cast, fma32, fma64, libm

Shape = tuple[int, ...]


def uniform(
    stream: Twister, shape: Shape, dtype: np.dtype, low: float = 0.0, high: float = 1.0
) -> np.ndarray:
    """Numbers spread evenly over [low, high); each part of a complex number on its own.

    >>> import numpy as np
    >>> from tapegrad.core.streams.exponential_cauchy import uniform
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> uniform(Twister(0), (2,), np.dtype("float32"))
    array([0.4962566, 0.7682218], dtype=float32)
    """
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}")
        return uniform(stream, (*shape, 2), real, low, high).view(dtype).reshape(shape)
    n = math.prod(shape)
    if dtype == np.float64:
        drawn = stream.fractions64(n)
        if low != 0.0 or high != 1.0:
            drawn = fma64(drawn, high - low, low)
    else:
        drawn = stream.fractions32(n)
        if low != 0.0 or high != 1.0:
            bottom = np.float32(low)
            drawn = fma32(drawn, np.float32(high) - bottom, bottom)
    drawn = drawn.astype(dtype, copy=False)
    if dtype.itemsize == 2 or low != 0.0 or high != 1.0:
        bounds = cast(np.array([low, high]), dtype)
        drawn[drawn == bounds[1]] = bounds[0]  # what rounding made of the largest ones
    return drawn.reshape(shape)


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


def exponential(stream: Twister, shape: Shape, dtype: np.dtype, rate: float = 1.0) -> np.ndarray:
    """Waiting times of mean 1 / rate."""
    x = -stream.fractions64(math.prod(shape))
    y = libm(math.log1p, x) if dtype == np.float64 else np.log1p(x)
    return cast(-1.0 / rate * y, dtype).reshape(shape)


def geometric(stream: Twister, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """How many trials of probability `p` it took to succeed once, counted from 1."""
    x = stream.fractions64(math.prod(shape))
    with np.errstate(divide="ignore"):
        y = np.ceil(np.log(x) / math.log1p(-p))
    return cast(y, dtype).reshape(shape)


def cauchy(
    stream: Twister, shape: Shape, dtype: np.dtype, median: float = 0.0, sigma: float = 1.0
) -> np.ndarray:
    """Numbers of a Cauchy distribution."""
    x = math.pi * (stream.fractions64(math.prod(shape)) - 0.5)
    y = libm(math.tan, x) if dtype == np.float64 else np.tan(x)
    return cast(fma64(y, sigma, median), dtype).reshape(shape)
