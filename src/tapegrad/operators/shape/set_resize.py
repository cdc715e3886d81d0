"""Other memory for the same tensor: `set_`, `resize_`, shared memory."""

from sys import getrefcount

import numpy as np

from tapegrad.autograd.captured import refuse_captured
from tapegrad.autograd.mode import check_memory, is_grad_enabled
from tapegrad.autograd.node import AccumulateGrad, make_leaf
from tapegrad.autograd.writable import check_inference, check_writable
from tapegrad.core import errors, uninitialized
from tapegrad.core import memory_format as _memory_format
from tapegrad.core.annotations import Any, DeviceLike, MemoryFormat, Shape, Tensor
from tapegrad.core.conj_neg_view import turned_like
from tapegrad.core.memory_format import span
from tapegrad.core.meta_array import device_of
from tapegrad.core.overridable import overridable
from tapegrad.core.shape import ints_of
from tapegrad.core.storage import grown, offset_of, row_major, shaped
from tapegrad.core.storage_follower import Freed
from tapegrad.core.tensor_base import REFUSING
from tapegrad.core.untyped_storage import UntypedStorage, elements_given, storage_of
from tapegrad.dispatch.in_place import written
from tapegrad.operators.conversion.metadata import require
from tapegrad.operators.creation.zeros_eye import sizes


def _replace(x: Tensor, array: np.ndarray) -> None:
    """Give a tensor other memory; its history, if it has one, is left behind."""
    x._array = turned_like(array, x._array)
    x._signature = None
    x._view = None
    if type(x._node) is AccumulateGrad:
        x._node.array = x._array


def _reshaped(array: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """The memory of `array` with another shape; where it is too small all who see it move."""
    if _is_alone(array):
        return grown(array, shape, strides)
    offset = array.offset if type(array) is Freed else offset_of(array)
    return _part(storage_of(array), array.dtype, offset, shape, strides)


def _is_alone(array: Any) -> bool:
    """Whether a tensor, which three callers hold, is the only one to see its memory."""
    return type(array) is np.ndarray and array.base is None and getrefcount(array) <= 5


def _part(
    memory: UntypedStorage, dtype: Any, offset: int, shape: tuple[int, ...], strides: Any
) -> np.ndarray:
    """Elements of a storage, which grows if it must."""
    if offset < 0:
        text = f"Tensor: invalid storage offset {offset}"
        raise errors.runtime_error(text, "It counts elements from the first.")
    if any(step < 0 for step in strides):
        raise errors.overflow(shape, strides, "Strides are not negative: flip() makes a copy.")
    need = (offset + span(shape, strides)) * dtype.itemsize
    if need > memory.nbytes() and 0 not in shape:
        n = memory.nbytes() // dtype.itemsize
        memory.resize_(need)
        uninitialized.filled(memory.elements(dtype)[n:])
    return shaped(memory.elements(dtype), offset, shape, strides)


def resize_(self: Any, *size: Any, memory_format: MemoryFormat = None) -> Any:
    """Another shape in the same memory, which grows if it must; new elements are uninitialised.

    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    if REFUSING[0]:
        refuse_captured("resize_", self)
    check_inference(self)
    if self.requires_grad and not self.is_inference():
        text = "cannot resize variables that require grad"
        raise errors.runtime_error(text, "detach() it first, or use view() or reshape().")
    check_memory("resize_", self)
    shape = sizes("resize_", size)
    strides = row_major(shape)
    if memory_format is not None:
        _memory_format.check_format("resize_", memory_format, len(shape))
        if memory_format is _memory_format.preserve_format:
            text = "Unsupported memory formatPreserve"
            raise errors.runtime_error(text, "Name an order of dimensions.")
        strides = _memory_format.empty(shape, np.bool_, memory_format).strides
    same = shape == self._array.shape
    if same and memory_format is None:
        return self
    _replace(self, _reshaped(self._array, shape, strides))
    if not same:
        written(self, "resize_")
    return self


@overridable
def resize_as_(self: Tensor, the_template: Any, memory_format: MemoryFormat = None) -> Any:
    """The shape of another tensor, in the same memory, which grows if it must.

    Shape: that of `the_template`.

    >>> torch.arange(4).resize_as_(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    like = require("resize_as_", the_template, "the_template")
    if memory_format is _memory_format.preserve_format:
        memory_format = _memory_format.contiguous_format
        for each in (_memory_format.channels_last, _memory_format.channels_last_3d):
            if _memory_format.has_format(like._array, each):
                memory_format = each
    return resize_(self, like.shape, memory_format=memory_format)


@overridable
def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int | None = None,
    size: Shape | None = None,
    stride: Any = None,
) -> Any:
    """Let the tensor be the memory of another one or a storage, or a part; counted in elements.

    A storage that is too small for the part grows, unless the tensor has that size already.

    >>> torch.zeros(2).set_(torch.arange(6.0), 1, (2, 2), (2, 1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    if REFUSING[0]:
        refuse_captured("set_", self, *(() if source is None else (source,)))
    check_memory("set_", self)
    check_writable(self)
    if self.requires_grad and is_grad_enabled():
        advice = "Write inside `with torch.no_grad():`, or set a tensor without history."
        raise errors.not_implemented("the derivative for 'set_' is not implemented.", advice)
    dtype = self._array.dtype
    if source is None:
        return _set(self, np.empty(0, dtype))
    text = (
        f"Expected a Storage of type {errors.c_name(self.dtype)} or an UntypedStorage, but got "
        "type {} for argument 1 'storage'"
    )
    whole = elements_given(source, self.dtype, text)
    if whole is None:
        whole = require("set_", source, "source")._array
        if source.dtype is not self.dtype:
            have, want = (errors.c_name(t.dtype) for t in (source, self))
            text = f"Could not set tensor of type {have} to a tensor of type {want}"
            raise errors.runtime_error(text, "Convert one of them first.")
    if size is None:
        if storage_offset is not None or stride is not None:
            given = [x for x in (source, storage_offset, size, stride) if x is not None]
            raise errors.invalid_combination("set_", tuple(given), {}, _FORMS)
        return _set(self, whole)
    shape = sizes("set_", (size,))
    strides = row_major(shape) if stride is None else ints_of("set_", "stride", (stride,), 4)
    memory = getattr(source, "_untyped_storage", source)
    if not isinstance(memory, UntypedStorage):
        memory = storage_of(whole)
    if shape == self._array.shape and strides == self.stride():  # then it does not grow
        return _set(self, shaped(memory.elements(dtype), storage_offset or 0, shape, strides))
    return _set(self, _part(memory, dtype, storage_offset or 0, shape, strides))


def _set(x: Tensor, array: Any) -> Any:
    here, there = device_of(x._array), device_of(array)
    if here is not there:
        raise errors.runtime_error(
            f'Attempted to set the storage of a tensor on device "{here}" to a storage on '
            f'different device "{there}".  This is no longer allowed; the devices must match.',
            "Make a new tensor.",
        )
    _replace(x, array)
    node = x._node
    if type(node) is AccumulateGrad:  # what was computed from the old memory does not lead here
        make_leaf(x)
        x._node.hooks = node.hooks
    written(x, "set_")
    return x


_FORMS = (
    "",
    "torch.Storage source",
    "torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride = None",
    "Tensor source",
    "Tensor source, int storage_offset, tuple of ints size, tuple of ints stride = None",
)


def share_memory_(self: Tensor) -> Any:
    """Move the memory, with all views of it, to where processes forked from now on share it.

    >>> torch.zeros(2).share_memory_().is_shared()
    True
    """
    check_memory("share_memory_", self)
    if self.is_meta:
        raise errors.runtime_error(
            "_share_fd_: only available on CPU", "There are no elements to be shared."
        )
    storage_of(self._array).share_memory_()
    return self


def is_shared(self: Tensor) -> bool:
    """Whether forked processes see writes to the tensor.

    >>> torch.zeros(2).is_shared()
    False
    """
    return storage_of(self._array).is_shared()


def pin_memory(self: Tensor, device: DeviceLike = None) -> Any:
    """The tensor in memory that a GPU can read directly: an error, there is none.

    >>> torch.zeros(2).pin_memory()
    Traceback (most recent call last):
    RuntimeError: Cannot access accelerator device when none is available.
    Pinned memory speeds up copies to a GPU: leave it out.
    """
    text = "Cannot access accelerator device when none is available."
    raise errors.runtime_error(text, "Pinned memory speeds up copies to a GPU: leave it out.")


__all__ = ["resize_as_"]
