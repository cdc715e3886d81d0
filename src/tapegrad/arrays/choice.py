"""Choosing between an array and zero: what derivatives with a mask do.

NumPy's `where` decides element by element. For an array of a thousand elements or more it is
several times faster to keep or clear the bits of a number, and exact for nan and inf, too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_MANY = 1024  # elements: below it NumPy's one call is faster
_BITS = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """`x1` where the condition is true, `x2` elsewhere."""
    if type(x2) is float or type(x2) is int:
        if _is_large(x1, condition) and _is_zero(x2):
            return _kept(condition, x1)
    elif type(x1) is float or type(x1) is int:
        if _is_large(x2, condition) and _is_zero(x1):
            return _kept(np.logical_not(condition), x2)
    return np.where(condition, x1, x2)


def _is_large(x: Any, condition: Any) -> bool:
    return (
        type(x) is np.ndarray and x.size > _MANY and x.dtype in _BITS and condition.shape == x.shape
    )


def _is_zero(number: float) -> bool:
    """Zero with all bits clear: not -0.0."""
    return number == 0 and math.copysign(1, number) > 0


def _kept(mask: Any, x: Any) -> Any:
    """`x` where the mask is true, zero elsewhere: all bits of a true element are ones."""
    bits = _BITS[x.dtype]
    ones = mask.view(np.int8).astype(bits)
    np.negative(ones, ones)
    np.bitwise_and(ones, x.view(bits), ones)
    return ones.view(x.dtype)
