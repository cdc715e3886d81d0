"""Kernels of GELU on NumPy arrays: x Phi(x), Phi the distribution function of the normal law.

In float32, Phi(x) is 1 / (1 + 2^-s) with s = x P(x^2), P a polynomial fitted to the logarithm of
Phi(x) / Phi(-x): a tenth of the time of an error function, element by element, and no less exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# fitted over 0 < x < 6.5, weighted with what an error in s does to x Phi(x): 7e-8 at most
_COEFFICIENTS = (
    5.21008531e-09,
    -3.85052924e-07,
    1.1452559e-05,
    -0.000159390362,
    -9.55897478e-05,
    0.104838577,
    2.3022072,
)
_BEYOND = 6.5  # Phi is 0 or 1 there; exp2 is slow where it over- or underflows
_DENSITY = 0.3989422804014327  # 1 / sqrt(2 pi)
_HALF_LOG2_E = 0.7213475204444817


def _odds(x: Any, square: Any) -> Any:
    """1 + Phi(-x) / Phi(x)."""
    s = np.multiply(square, _COEFFICIENTS[0])
    for c in _COEFFICIENTS[1:-1]:
        s += c
        s *= square
    s += _COEFFICIENTS[-1]
    s *= x
    np.negative(s, s)
    np.exp2(s, s)
    s += 1
    return s


def _clipped(x: Any) -> Any:
    """`x` without what is far out; nan stays."""
    if x.size and -_BEYOND <= x.min() and x.max() <= _BEYOND:
        return x
    return np.minimum(np.maximum(x, -_BEYOND), _BEYOND)


def gelu(x: Any) -> Any:
    """x Phi(x)."""
    if x.dtype != np.float32 or not x.ndim:
        return x * _phi(x)
    near = _clipped(x)
    odds = _odds(near, np.square(near))
    y = np.divide(x, odds, odds)
    if near is not x:
        y[x < -_BEYOND] = -0.0
    return y


def gelu_slope(x: Any) -> Any:
    """The derivative of x Phi(x): Phi(x) + x times the density."""
    if x.dtype != np.float32 or not x.ndim:
        return _phi(x) + x * np.exp(x * x * -0.5) * _DENSITY
    near = _clipped(x)
    square = np.square(near)
    slope = _odds(near, square)
    np.divide(1, slope, slope)
    square *= -_HALF_LOG2_E
    density = np.exp2(square, square)
    density *= near
    density *= _DENSITY
    slope += density
    if near is not x:
        slope[x < -_BEYOND] = 0
    return slope


def _phi(x: Any) -> Any:
    from scipy.special import erf

    return 0.5 * (1 + erf(x * 0.7071067811865476))
