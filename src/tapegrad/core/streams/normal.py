"""Normally distributed numbers, to the bit those of PyTorch on x86-64 with AVX2.

Source: Box and Muller, 1958, in the two ways PyTorch uses it. Where PyTorch has no vector code (on
ARM, or with ATEN_CPU_CAPABILITY=default), its float32 blocks differ from these in the last bits.
"""

import math
from typing import Any

import numpy as np

from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.core.streams.rounding import cast, fma32, fma64, libm

f32 = np.float32

# Logarithm, sine and cosine in float32, to the bit as the vector code under `randn` has them, with
# every product that is added to something contracted into one rounding. Source: Moshier, Cephes
# Mathematical Library, 1989 (`logf`, `sinf`, `cosf`).


def _coefficients(*given: Any) -> list[np.ndarray]:
    """Numbers of float32 in float64, each of shape (1,) or, if it is a pair, (2, 1)."""
    return [np.array(c, f32).astype(np.float64).reshape(*np.shape(c), 1) for c in given]


# log(1 + x) = x - x**2 / 2 + x**3 * polynomial(x), for sqrt(1/2) <= 1 + x < sqrt(2)
_LOG = _coefficients(
    *(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
_LOG2_HIGH, _LOG2_LOW = f32(0.693359375), f32(-2.12194440e-4)  # their sum is log(2)
_SQRT_HALF = f32(0.707106781186547524)

# of the sine, and of the cosine: both at once
_SIN_COS = _coefficients(
    (-1.9515295891e-4, 2.443315711809948e-5),
    (8.3321608736e-3, -1.388731625493765e-3),
    (-1.6666654611e-1, 4.166664568298827e-2),
)
_PI_4 = _coefficients(-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
# their sum is -pi / 4
_PER_PI_4 = f32(1.27323954473516)


def _polynomial(coefficients: list[np.ndarray], x: np.ndarray) -> np.ndarray:
    """Horner's rule, each step rounded once, as `fma32`."""
    first, *others = coefficients
    wide = x.astype(np.float64)
    y: Any = first
    for c in others:
        y = y * wide
        y += c
        y = y.astype(f32).astype(np.float64)
    return y.astype(f32)


def log(x: np.ndarray) -> np.ndarray:
    """The natural logarithm of each positive, normal float32."""
    x, exponent = np.frexp(x)  # 1/2 <= x < 1
    is_small = (x < _SQRT_HALF).astype(f32)
    exponent = exponent.astype(f32) - is_small
    x = (x + x * is_small) - f32(1)
    square = x * x
    y = _polynomial(_LOG, x) * x
    y = fma32(y, square, exponent * _LOG2_LOW)
    y = fma32(square, f32(-0.5), y)
    return fma32(exponent, _LOG2_HIGH, x + y)


def sin_cos(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sine and cosine of each float32 between 0 and 2 pi."""
    shape, x = x.shape, x.reshape(-1)
    octant = (x * _PER_PI_4).astype(np.int32)
    octant = (octant + 1) & ~1  # the nearest even one: |x| <= pi / 4 is left
    steps = octant.astype(f32)
    for part in _PI_4:
        x = fma32(steps, part, x)
    square = x * x
    sin, cos = _polynomial(_SIN_COS, square) * square
    cos = fma32(cos, square, square * f32(-0.5)) + f32(1)
    sin = fma32(sin, x, x)
    # swapped in octants 2 and 6, negated in their half of the circle: as bits, without branches
    sin, cos = sin.view(np.int32), cos.view(np.int32)
    differing = (sin ^ cos) & -((octant >> 1) & 1)
    sin ^= differing ^ ((octant & 4) << 29)
    cos ^= differing ^ (((octant + 2) & 4) << 29)
    return sin.view(f32).reshape(shape), cos.view(f32).reshape(shape)


_BLOCK = 16  # eight radii, then eight angles
_CHUNK = 4096  # blocks worked on at a time, so that what is in between stays in the cache
_TWO_PI = 2 * math.pi
_EXP_LIMIT = 709.0  # Python's exp raises from 709.79 on


def normal(
    stream: Twister,
    shape: tuple[int, ...],
    dtype: np.dtype,
    mean: float = 0.0,
    std: float = 1.0,
    is_strided: bool = False,
) -> np.ndarray:
    """Normal numbers of mean `mean` and standard deviation `std`.

    From 16 elements on they are made in blocks of 16, unless they are to be stored with strides;
    a complex number is two reals of half the variance, `mean` being added to both.

    >>> import numpy as np
    >>> from tapegrad.core.streams.normal import normal
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> normal(Twister(0), (2,), np.dtype("float32"))
    array([ 1.5409961, -0.2934289], dtype=float32)
    """
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}")
        std /= math.sqrt(2)
        drawn = normal(stream, (*shape, 2), real, mean, std, is_strided)
        return drawn.view(dtype).reshape(shape)
    n = math.prod(shape)
    if n < _BLOCK or is_strided:
        return cast(_in_pairs(stream, n, mean, std), dtype).reshape(shape)
    return _in_blocks(stream, n, dtype, mean, std).reshape(shape)


def log_normal(
    stream: Twister, shape: tuple[int, ...], dtype: np.dtype, mean: float, std: float
) -> np.ndarray:
    """Exponentials of normal numbers, which are always made in pairs."""
    x = _in_pairs(stream, math.prod(shape), mean, std)
    with np.errstate(over="ignore"):
        y = np.exp(x)
    if dtype == np.float64:
        y = np.where(x < _EXP_LIMIT, libm(math.exp, np.minimum(x, _EXP_LIMIT)), y)
    return cast(y, dtype).reshape(shape)


def _in_pairs(stream: Twister, n: int, mean: float, std: float) -> np.ndarray:
    """`n` float64, two from each two fractions; the stream keeps an odd one for the next call."""
    with stream.lock:
        kept = [] if stream.normal is None or n == 0 else [stream.normal]
        n_pairs = (n - len(kept) + 1) // 2
        angle, x = stream.fractions64(2 * n_pairs).reshape(n_pairs, 2).T
        radius = np.sqrt(-2 * libm(math.log1p, -x))
        angle = _TWO_PI * angle
        drawn = np.empty((n_pairs, 2))
        drawn[:, 0] = radius * np.cos(angle)
        drawn[:, 1] = radius * np.sin(angle)
        found = np.concatenate([kept, drawn.ravel()])
        if n:
            stream.normal = float(found[n]) if found.size > n else None
    return fma64(found[:n], std, mean)


def _in_blocks(stream: Twister, n: int, dtype: np.dtype, mean: float, std: float) -> np.ndarray:
    """`n` >= 16 numbers; if the last block is not full, 16 new ones replace the last 16."""
    transform = _double_blocks if dtype == np.float64 else _single_blocks
    fractions = stream.fractions64 if dtype == np.float64 else stream.fractions32
    n_full = n // _BLOCK * _BLOCK
    with stream.lock:
        if n == n_full:
            x = fractions(n)
        else:  # the 16-bit types draw nothing for the block that is not full
            n_drawn = n if dtype.itemsize > 2 else n_full
            x = fractions(n_drawn + _BLOCK)
            x[n_full : n_full + _BLOCK] = x[n_drawn:]
            x = x[: n_full + _BLOCK]
    x = x.reshape(-1, _BLOCK)
    out = np.empty(x.shape, dtype)
    for start in range(0, len(x), _CHUNK):
        part = slice(start, start + _CHUNK)
        transform(x[part], mean, std, out[part])
    out = out.reshape(-1)
    if n > n_full:
        last = out[n_full:].copy()
        out = out[:n]
        out[n - _BLOCK :] = last
    return out


def _double_blocks(x: np.ndarray, mean: float, std: float, out: np.ndarray) -> None:
    radius = np.sqrt(-2 * libm(math.log, 1 - x[:, :8]))  # (blocks, 8)
    angle = _TWO_PI * x[:, 8:]
    out[:, :8] = fma64(radius * np.cos(angle), std, mean)
    out[:, 8:] = fma64(radius * np.sin(angle), std, mean)


def _single_blocks(x: np.ndarray, mean: float, std: float, out: np.ndarray) -> None:
    shift, scale = np.float32(mean), np.float32(std)
    radius = np.sqrt(np.float32(-2) * log(np.float32(1) - x[:, :8]))  # (blocks, 8)
    sin, cos = sin_cos(np.float32(_TWO_PI) * x[:, 8:])
    out[:, :8] = fma32(radius * cos, scale, shift)
    out[:, 8:] = fma32(radius * sin, scale, shift)
