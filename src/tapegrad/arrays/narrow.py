"""Floating-point numbers of 16 bits, float16 and bfloat16: what computes with them widens them.

Operators and their rules compute in float32 and round once, as PyTorch's kernels do. In 16 bits a
sum stops growing at 256 or at 2,048, float16 cannot count beyond 65,504, and each step rounds.
Rules whose operands have several dtypes compute in that of the result: `promoted`.
"""

import numpy as np

from tapegrad.arrays.float8 import is_float8, to_float8
from tapegrad.arrays.signature import Like
from tapegrad.core.annotations import Any, Array

F32 = np.dtype(np.float32)


def is_narrow(dtype: Any) -> bool:
    """Whether a dtype of NumPy is a floating one of 16 bits.

    >>> import numpy as np
    >>> is_narrow = tapegrad.arrays.narrow.is_narrow
    >>> is_narrow(np.dtype(np.float16)), is_narrow(np.dtype(np.int16))
    (True, False)
    """
    return getattr(dtype, "itemsize", 0) == 2 and dtype.kind in "fV"


def widened(x: Any) -> Any:
    """Numbers of 16 bits as float32, in arrays, lists of them, shapes with a dtype; or `x`."""
    if isinstance(x, (list, tuple)):
        return type(x)([widened(each) for each in x]) if type(x) in (list, tuple) else x
    dtype = getattr(x, "dtype", None)
    if not is_narrow(dtype) and not is_float8(dtype):
        return x
    if isinstance(x, Like):
        wide = object.__new__(Like)
        wide.shape, wide.dtype = x.shape, F32
        return wide
    return x.astype(F32)


def promoted(x: Any, dtype: Any) -> Any:
    """An array of real numbers in `dtype`, which is that of the result; anything else as it is."""
    own = getattr(x, "dtype", dtype)
    return x if own == dtype or own.kind == "c" else x.astype(dtype)


def rounded(x: Array, dtype: Any) -> Any:
    """An array of float32 rounded to `dtype`; anything else as it is."""
    if getattr(x, "dtype", None) != F32:
        return x
    return to_float8(x, dtype) if is_float8(dtype) else x.astype(dtype)
