"""Logarithm, sine and cosine in float32, to the bit as the vector code under `randn` has them.

Source: Moshier, Cephes Mathematical Library, 1989 (`logf`, `sinf`, `cosf`), with every product
that is added to something contracted into one rounding.
"""

from typing import Any

import numpy as np

from tapegrad.core.streams.rounding import fma32

f32 = np.float32


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
