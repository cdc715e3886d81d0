"""Arithmetic that rounds as PyTorch's compiled code does.

Its compiler contracts a * b + c into one instruction that rounds once; NumPy rounds twice. And
NumPy's vectorised float64 logarithms, exponentials and tangents differ from the C library's in
the last bit of some values, so here float64 goes through the C library, one value at a time.
"""

import math
from collections.abc import Callable

import numpy as np

_SPLIT = 2.0**27 + 1
_MANY = 256  # values: from here on SciPy is imported for its loop


def fma64(a: np.ndarray, b: float, c: float) -> np.ndarray:
    """a * b + c in float64, rounded once. Source: Dekker, 1971, and Knuth's two-sum."""
    product = a * b
    if c == 0 or b == 1 or not (2.0**-900 < abs(b) < 2.0**900 and abs(c) < math.inf):
        return product + c  # nothing to gain, or the halves would over- or underflow
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    of_c = total - product
    return total + ((product - (total - of_c)) + (c - of_c) + error)


def _halves(x):
    """`x` as the sum of two numbers of at most 26 bits."""
    scaled = _SPLIT * x
    high = scaled - (scaled - x)
    return high, x - high


def libm(function: Callable[[float], float], x: np.ndarray) -> np.ndarray:
    """A function of Python's `math` for each element: the C library's, to the last bit."""
    if x.size >= _MANY:
        from scipy import special  # its loops in C call the C library for each element

        if function is math.log:
            return special.xlogy(1.0, x)
        if function is math.log1p:
            return special.boxcox1p(x, 0.0)  # of exponent 0, the logarithm
        if function is math.exp:
            return special.inv_boxcox(x, 0.0)
    return np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


def cast(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`x` in `dtype`; the 16-bit floats are reached by way of float32, which rounds twice."""
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        return x.astype(np.float32).astype(dtype)
    return x.astype(dtype, copy=False)
