"""The memory of arrays: where an element lies, all of it, other shapes of the same memory."""

import weakref
from functools import partial
from mmap import mmap
from typing import Any

import numpy as np

from tapegrad.core import errors, uninitialized
from tapegrad.core.conj_neg_view import memory_of, turned_like
from tapegrad.core.memory_format import span
from tapegrad.core.meta_array import MetaArray, nowhere


def address(array: np.ndarray) -> int:
    """Where the first element of `array` is."""
    array = memory_of(array)
    if type(array) is MetaArray:
        return array.offset
    return array.__array_interface__["data"][0] if array.size else 0


def owner_of(array: Any) -> Any:
    """The array whose memory `array` is a part of; itself if it has its own."""
    array = memory_of(array)
    if type(array) is MetaArray:
        return array.base
    while True:
        base = array.base
        if type(base) is not np.ndarray:
            base = getattr(base, "base", None)  # as_strided leaves a stand-in between
            if type(base) is not np.ndarray:
                return array
        array = base


_LENT: dict[int, weakref.ref] = {}  # owners of memory that NumPy has seen, by their identity


def lend(array: Any) -> None:
    """Note that `array` goes to NumPy: its memory stays where it is from now on."""
    owner = array if array.base is None else owner_of(array)
    key = id(owner)
    if key not in _LENT:
        _LENT[key] = weakref.ref(owner, partial(_freed, _LENT, key))


def _freed(lent: dict, key: int, _: Any) -> None:
    lent.pop(key, None)


def is_fixed(array: np.ndarray) -> bool:
    """Whether others have the memory, so that it cannot grow: NumPy, a file, another process."""
    owner = owner_of(array)
    return id(owner) in _LENT or isinstance(getattr(owner, "base", None), (memoryview, mmap))


def grown(
    array: np.ndarray,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None = None,
    offset: int | None = None,
) -> np.ndarray:
    """The memory of `array` with another shape, row-major if no strides are given, which count
    elements; in larger memory if it must be. An array without elements does not know its `offset`.
    """
    elements = elements_of(array)
    if offset is None:
        offset = offset_of(array)
    steps = row_major(shape) if strides is None else strides
    n = span(shape, steps)
    if offset + n > elements.size:
        if is_fixed(array):
            raise not_resizable()
        if type(array) is MetaArray:
            return shaped(nowhere((offset + n,), array.dtype), offset, shape, steps)
        larger = uninitialized.empty(offset + n, array.dtype)
        larger[: elements.size] = elements
        elements = larger
    return shaped(elements, offset, shape, steps)


def grown_like(
    array: Any,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None = None,
    offset: int | None = None,
) -> Any:
    """The same, with the sign of a conjugate or negative view."""
    return turned_like(grown(memory_of(array), shape, strides, offset), array)


def not_resizable() -> RuntimeError:
    """Memory that belongs to somebody else was to be another size."""
    return errors.runtime_error(
        "Trying to resize storage that is not resizable",
        "The memory is NumPy's, a file's, or shared: clone() the tensor first.",
    )


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of elements that lie in order; a dimension of size 0 counts as 1."""
    steps = []
    step = 1
    for n in reversed(shape):
        steps.append(step)
        step *= max(n, 1)
    return tuple(reversed(steps))


def offset_of(array: np.ndarray) -> int:
    """How many elements lie between the start of the owner's memory and that of `array`."""
    array = memory_of(array)
    if type(array) is MetaArray:
        return array.offset // array.itemsize
    owner = owner_of(array)
    if owner is array or not array.size:
        return 0
    return (address(array) - address(owner)) // array.itemsize


def elements_of(array: np.ndarray) -> np.ndarray:
    """All elements of the memory that `array` is a part of, in one dimension, as they lie there."""
    if type(array) is MetaArray:
        memory = array.memory()
        whole = memory.size // array.itemsize * array.itemsize
        return memory[:whole].view(array.dtype)
    owner = owner_of(array)
    if not owner.size:
        return np.ndarray(0, array.dtype)
    if owner.itemsize == 1:
        owner = owner.view(np.uint8)  # as_strided does not know the types of ml_dtypes
    strides = tuple(step // owner.itemsize for step in owner.strides)
    n = span(owner.shape, strides)
    flat = np.lib.stride_tricks.as_strided(owner, (n,), (owner.itemsize,))
    if flat.dtype == array.dtype:
        return flat
    bytes_ = flat.view(np.uint8)
    return bytes_[: bytes_.size // array.itemsize * array.itemsize].view(array.dtype)


def shaped(
    elements: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> np.ndarray:
    """The elements from `offset` on, seen with a shape and strides that count elements."""
    if offset + span(shape, strides) > elements.size:
        raise errors.runtime_error(
            f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset "
            f"{offset}, and itemsize {elements.itemsize} requiring a storage size of "
            f"{(offset + span(shape, strides)) * elements.itemsize} are out of bounds for "
            f"storage of size {elements.nbytes}",
            "Ask for a smaller shape, or for one further to the front.",
        )
    steps = [step * elements.itemsize for step in strides]
    if type(elements) is MetaArray:
        return elements.strided(offset * elements.itemsize, shape, steps)
    return np.lib.stride_tricks.as_strided(elements[offset:], shape, steps)
