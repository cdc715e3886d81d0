"""What a call of a compiled program works in: the table of addresses, the arena, the results."""

import ctypes
import sys

import numpy as np

from tapegrad.compiler.c_backend.addresses import address
from tapegrad.compiler.c_backend.arena import ALIGNMENT, Layout
from tapegrad.compiler.c_backend.ir import Access, Buffer
from tapegrad.core.annotations import Any, Array, Callable, Sequence

count_of_references: Callable = getattr(sys, "getrefcount", lambda x: -1)


def _references(results: list) -> int:
    result = results[0]
    return count_of_references(result)


ALONE = _references([np.empty(1)]) if hasattr(sys, "getrefcount") else 0
"""References to a result that nobody else has, as drivers count them; 0: none is used again."""


class Workspace:
    """Memory that one call at a time uses.

    Attributes:
        slots: the table of addresses; the first is that of the arena
        table: its own address
        arena: bytes for intermediate results
        results: the arrays, or where these are parts of memory that owns, of the last call
        numbers: where Python's floats are put on interpreters whose objects we cannot read
    """

    __slots__ = ("arena", "numbers", "results", "slots", "table")

    def __init__(self, n_slots: int, layout: Layout, constants: Sequence[Buffer], n_inputs: int):
        self.slots = (ctypes.c_void_p * n_slots)()
        self.table = ctypes.addressof(self.slots)
        self.numbers = (ctypes.c_double * max(n_inputs, 1))()
        block = np.empty(layout.size + ALIGNMENT, np.uint8)
        start = -address(block) % ALIGNMENT
        self.arena = block[start : start + layout.size]
        self.slots[0] = address(block) + start
        self.results: list[Any] = [None] * len(layout.results)
        for each in constants:
            self.slots[each.slot] = address(each.array)


def maker(buffer: Buffer, slot: int) -> Callable[[Workspace], Array]:
    """What makes memory for a result and notes its address: a dense array, or bytes."""
    value = buffer.value
    shape, dtype = (value.shape, value.dtype) if value is not None else ((), buffer.dtype)
    strides = value.strides if value is not None else ()
    whole = Access(buffer, 0, shape, strides, dtype)
    if whole.is_dense and (buffer.low, buffer.high) == whole.span:

        def make_array(work: Workspace) -> Array:
            found = np.empty(shape, dtype)
            work.slots[slot] = address(found)
            return found

        return make_array
    low, n_bytes = buffer.low, buffer.high - buffer.low

    def make_bytes(work: Workspace) -> Array:
        found = np.empty(n_bytes, np.uint8)
        work.slots[slot] = address(found) - low
        return found

    return make_bytes


def is_dense_result(buffer: Buffer) -> bool:
    """Whether `maker` makes an array of the value's own shape."""
    value = buffer.value
    if value is None:
        return (buffer.low, buffer.high) == (0, buffer.dtype.itemsize)
    whole = Access(buffer, 0, value.shape, value.strides, value.dtype)
    return whole.is_dense and (buffer.low, buffer.high) == whole.span


class _Seen:
    """Memory of an array as NumPy's array interface describes it; it keeps the array."""

    def __init__(self, array: Array, offset: int, shape: Any, strides: Any, dtype: Any):
        self.array = array
        self.__array_interface__ = {
            "data": (address(array) + offset, False),
            "shape": shape,
            "strides": strides,
            "typestr": dtype.str,
            "version": 3,
        }


def _bytes(array: Array) -> Array:
    """An array as memory that other arrays can lie in, whatever its dtype."""
    return array.reshape(-1).view(np.uint8) if array.dtype.kind == "V" else array


def seen(array: Array, offset: int, shape: Any, strides: Any, dtype: Any) -> Array:
    """A part of the memory of an array, `offset` bytes from its first element on."""
    rows = array if array.flags.c_contiguous else array.T
    if rows.flags.c_contiguous and offset >= 0:
        return np.ndarray(shape, dtype, _bytes(rows), offset, strides)
    found = np.asarray(_Seen(array, offset, shape, strides, dtype))
    if found.dtype != dtype:  # bfloat16, which the interface has no name of
        found = found.view(dtype)
    if not array.flags.writeable:
        found.flags.writeable = False
    return found


def laid_out_as(array: Any, shape: Any, strides: Any) -> Array:
    """What Python gave, in the layout in which it was recorded."""
    array = np.asarray(array)
    if array.shape != shape:
        raise ValueError(f"a call gave an array of shape {array.shape}, recorded was {shape}")
    if array.strides == strides or array.size <= 1:
        return array
    moving = [(n, s, t) for n, s, t in zip(shape, strides, array.strides, strict=True) if n > 1]
    if all(s == t for _, s, t in moving):
        return array
    order = sorted(range(len(shape)), key=lambda i: -strides[i])
    out = np.empty([shape[i] for i in order], array.dtype).transpose(np.argsort(order))
    if out.strides != strides and 0 not in strides:
        raise ValueError(f"a call gave strides {array.strides}, recorded were {strides}")
    out[...] = array
    return out
