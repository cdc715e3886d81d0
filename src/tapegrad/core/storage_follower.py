"""Tensors that follow their memory: what they hold after a storage was moved or resized."""

from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.conj_neg_view import ConjNegView
from tapegrad.core.memory_format import span
from tapegrad.core.storage import offset_of, owner_of, shaped


class Freed:
    """What a tensor holds whose storage became too small for it: using it is an error."""

    base = None

    def __init__(self, array: Any, storage: Any, offset: int):
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype
        self.ndim, self.size, self.itemsize = array.ndim, array.size, array.itemsize
        self.nbytes = array.nbytes
        self.storage, self.offset = storage, offset

    def __getattr__(self, name: str) -> Any:
        raise self._error()

    def _error(self) -> RuntimeError:
        steps = [step // self.itemsize for step in self.strides]
        return errors.runtime_error(
            f"setStorage: sizes {list(self.shape)}, strides {steps}, storage offset {self.offset}, "
            f"and itemsize {self.itemsize} requiring a storage size of "
            f"{(self.offset + span(self.shape, tuple(steps))) * self.itemsize} are out of bounds "
            f"for storage of size {self.storage.nbytes()}",
            "The storage of this tensor was resized: resize_() it to its size before.",
        )


def _refuse(array: Freed, *args: Any) -> Any:
    raise array._error()


for _name in "getitem setitem iter neg pos invert abs eq ne lt le gt ge bool".split():
    setattr(Freed, f"__{_name}__", _refuse)
for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    for _side in ("", "r", "i"):
        setattr(Freed, f"__{_side}{_name}__", _refuse)


def follow(x: Any, old: np.ndarray, storage: Any, moved: dict[int, Any]) -> None:
    """Let a tensor of the memory `old`, or one that waits for it, see the storage as it is."""
    array = getattr(x, "_array", None)
    if not _is_of(array, old, storage):
        return
    x._array = _moved(array, storage, moved)
    x._signature = None
    node: Any = getattr(x, "_node", None)
    if getattr(node, "array", None) is array:
        node.array = x._array
    view = getattr(x, "_view", None)
    if view is not None and _is_of(view.array, old, storage):
        view.array = _moved(view.array, storage, moved)


def _is_of(array: Any, old: np.ndarray, storage: Any) -> bool:
    if type(array) is Freed:
        return array.storage is storage
    if type(array) is ConjNegView:
        return _is_of(array.raw, old, storage)
    return type(array) is np.ndarray and owner_of(array) is old


def _moved(array: Any, storage: Any, moved: dict[int, Any]) -> Any:
    """The array that stands where `array` stood: one and the same for all who held that."""
    found = moved.get(id(array))
    if found is None:
        if type(array) is ConjNegView:
            found = ConjNegView(_moved(array.raw, storage, moved), array.conj, array.neg)
        else:
            found = _placed(array, storage)
        moved[id(array)] = found
        moved[id(found)] = found
        moved[-id(array)] = array  # so that no other array takes its id meanwhile
    return found


def _placed(array: Any, storage: Any) -> Any:
    offset = array.offset if type(array) is Freed else offset_of(array)
    elements = storage.elements(array.dtype)
    strides = tuple(step // array.itemsize for step in array.strides)
    if offset + span(array.shape, strides) > elements.size:
        return Freed(array, storage, offset)
    return shaped(elements, offset, array.shape, strides)
