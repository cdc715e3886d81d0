"""Floating-point numbers of 8 bits, the types `float8_*`: into them, and which arrays have them.

The package ml_dtypes has the types and most of the arithmetic of a conversion. PyTorch's differs
where a number is beyond the largest, and in the codes of nan.
"""

import numpy as np

from tapegrad.arrays.numpy.memory_pool import SMALLEST
from tapegrad.core.annotations import Any, Array
from tapegrad.core.dtype import (
    FLOAT8,
    FLOAT8_IN_USE,
    float8_e4m3fn,
    float8_e5m2,
    float8_e8m0fnu,
    of,
)

_LARGEST = np.float32(448)  # of float8_e4m3fn, which has no inf: what is beyond becomes this
_LEAST = np.float32(2.0**-127)  # of float8_e8m0fnu, which has no zero and no sign


def is_float8(dtype: Any) -> bool:
    """Whether a dtype of NumPy is a floating one of 8 bits.

    >>> import numpy as np
    >>> is_float8 = tapegrad.arrays.float8.is_float8
    >>> is_float8(torch.float8_e5m2.numpy), is_float8(np.dtype(np.int8))
    (True, False)
    """
    if not FLOAT8_IN_USE:
        return False
    return getattr(dtype, "itemsize", 0) == 1 and dtype.kind in "fV" and of(dtype) in FLOAT8


def converted(x: Array, dtype: Any) -> Array:
    """An array in another dtype, one of 8 bits among them."""
    return to_float8(x, dtype) if is_float8(dtype) else x.astype(dtype)


def clear(array: Any) -> None:
    """Write zeros, or where a type has no zero the number whose bits are zeros."""
    if type(array) is np.ndarray:
        many = array.nbytes >= SMALLEST and array.flags.c_contiguous
        if many or (FLOAT8_IN_USE and is_float8(array.dtype)):
            array = array.view(np.uint8)  # NumPy fills bytes twice as fast as numbers
    array.fill(0)


def to_float8(x: Any, dtype: Any) -> Array:
    """An array of numbers as the nearest of 8 bits, ties to even, as PyTorch rounds them."""
    wide = (x.real if x.dtype.kind == "c" else x).astype(np.float32)
    kind = of(dtype)
    if kind is float8_e4m3fn:
        wide = np.clip(wide, -_LARGEST, _LARGEST)
    elif kind is float8_e8m0fnu:
        wide = np.maximum(np.abs(wide), _LEAST)
    found = wide.astype(dtype)
    if kind is float8_e5m2:
        codes = found.view(np.uint8)
        codes[...] = np.where(np.isnan(wide), codes | 0x7F, codes)  # every bit below the sign
    return found
