"""Sums and products of numbers of 16 bits: added up in float32, and rounded once.

NumPy adds up float16 pairwise; bfloat16 it adds one after the other, and a sum of 3,000 ones is
256, where the next one is too small to count.
"""

import numpy as np

from tapegrad.core.annotations import Any, Array


def reduced(ufunc: Any, x: Array, axis: Any, keepdims: Any) -> Any:
    """`ufunc.reduce` of an array of 16 bits."""
    return np.asarray(ufunc.reduce(x, axis, np.float32, None, keepdims)).astype(x.dtype)


def mean(x: Array, axis: Any, keepdims: Any) -> Any:
    """The mean of an array of 16 bits."""
    total = np.asarray(np.add.reduce(x, axis, dtype=np.float32, keepdims=keepdims))
    return (total / (x.size / total.size if total.size else np.nan)).astype(x.dtype)


def accumulated(ufunc: Any, x: Array, axis: int) -> Any:
    """`ufunc.accumulate` of an array of 16 bits."""
    return ufunc.accumulate(x, axis, np.float32).astype(x.dtype)
