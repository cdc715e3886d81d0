"""Signatures of arrays: two tensors with one signature have the same shape and the same dtype,
and both are row-major or neither is.

The fast paths ask whether two tensors have the same signature, which is one comparison, instead of
comparing dtypes, shapes and sizes, which NumPy makes anew for each question.
"""

from math import prod

import numpy as np

from tapegrad.arrays.numpy.blocks import LARGE
from tapegrad.arrays.numpy.memory_pool import SMALLEST
from tapegrad.core.annotations import Any, Array

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_MOST = 4096  # shapes remembered: forgetting them costs a signature a lookup, no more
_signatures: dict[tuple[Any, tuple[int, ...], bool], Any] = {}


class Like:
    """Shape and dtype of an array that is not kept itself."""

    __slots__ = ("dtype", "shape")

    def __init__(self, array: Array):
        self.shape = array.shape
        self.dtype = array.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)


class Signature:
    """The signature of one shape and dtype. It is true where the array is small and row-major."""

    __slots__ = ("apart", "blocks", "dtype", "like", "row_major")

    def __init__(self, array: Array):
        self.dtype = array.dtype
        self.blocks = array.size > LARGE  # elementwise work is worth blocks and threads
        self.row_major = array.flags.c_contiguous  # else the result has an order to keep, too
        self.apart = self.blocks or not self.row_major  # elementwise work needs the general way
        self.like = Like(array)


class _FalseMark(Signature):
    """The signature of arrays for whose results used memory is looked for, or which are not
    row-major, so that the order of the result is looked after: it is false."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


def signature_of(array: Array) -> Any:
    """The signature of a NumPy array of float32 or float64 that has a dimension and an element.

    Anything else has the signature False: fast paths leave it alone.

    >>> import numpy as np
    >>> signature_of = tapegrad.arrays.signature.signature_of
    >>> same = signature_of(np.ones(3)) is signature_of(np.zeros(3))
    >>> same, signature_of(np.ones(3)) is signature_of(np.ones(4))
    (True, False)
    >>> signature_of(np.arange(3))
    False
    """
    if type(array) is not np.ndarray:
        return False
    dtype = array.dtype
    if not (dtype is _F32 or dtype is _F64) or not array.size or not array.ndim:
        return False
    row_major = array.flags.c_contiguous
    key = (dtype, array.shape, row_major)
    signature = _signatures.get(key)
    if signature is None:
        if len(_signatures) >= _MOST:
            _signatures.clear()
        kind = Signature if row_major and array.nbytes < SMALLEST else _FalseMark
        signature = _signatures[key] = kind(array)
    return signature
