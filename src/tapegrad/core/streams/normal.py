"""Normally distributed numbers, to the bit those of PyTorch on x86-64 with AVX2.

Source: Box and Muller, 1958, in the two ways PyTorch uses it. Where PyTorch has no vector code (on
ARM, or with ATEN_CPU_CAPABILITY=default), its float32 blocks differ from these in the last bits.
"""

import math

import numpy as np

from tapegrad.core.streams.cephes import log, sin_cos
from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.core.streams.rounding import cast, fma32, fma64, libm

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
