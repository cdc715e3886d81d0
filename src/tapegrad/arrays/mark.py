"""Marks of small arrays: two tensors with one mark have the same shape and the same dtype.

The fast path of small elementwise calls asks whether two tensors have the same mark, which is one
comparison, instead of comparing dtypes, shapes and sizes, which NumPy makes anew for each question.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.arrays.blocks import LARGE

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_MOST = 4096  # shapes remembered: forgetting them costs a mark a lookup, no more
_marks: dict[tuple[Any, tuple[int, ...]], Any] = {}


class Mark:
    """The mark of one shape and dtype; it is true."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: Any):
        self.dtype = dtype


def mark_of(array: Any) -> Any:
    """The mark of an array; False for what the fast path leaves alone.

    It takes NumPy arrays of float32 and float64 that have a dimension, an element and no more
    elements than are worth blocks and threads.

    >>> import numpy as np
    >>> mark_of = tapegrad.arrays.mark.mark_of
    >>> mark_of(np.ones(3)) is mark_of(np.zeros(3)), mark_of(np.ones(3)) is mark_of(np.ones(4))
    (True, False)
    >>> mark_of(np.arange(3))
    False
    """
    if type(array) is not np.ndarray:
        return False
    dtype = array.dtype
    if not (dtype is _F32 or dtype is _F64) or not array.ndim or not 0 < array.size <= LARGE:
        return False
    key = (dtype, array.shape)
    mark = _marks.get(key)
    if mark is None:
        if len(_marks) >= _MOST:
            _marks.clear()
        mark = _marks[key] = Mark(dtype)
    return mark
