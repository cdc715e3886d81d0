"""Other memory for the same tensor: `set_`, `resize_`, shared memory."""

import numpy as np

from tapegrad.autograd.mode import check_memory
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.core import errors
from tapegrad.core import memory_format as _memory_format
from tapegrad.core.annotations import Any, DeviceLike, MemoryFormat, Shape, Tensor
from tapegrad.core.shape import ints_of
from tapegrad.core.storage import UntypedStorage, elements_of, grown, owner_of, row_major, shaped
from tapegrad.dispatch.in_place import written
from tapegrad.operators.conversion.metadata import require
from tapegrad.operators.creation.zeros_eye import sizes


def _replace(x: Tensor, array: np.ndarray) -> None:
    """Give a tensor other memory; its history, if it has one, is left behind."""
    x._array = array
    x._signature = None
    x._view = None
    if type(x._node) is AccumulateGrad:
        x._node.array = array


def resize_(self: Any, *size: Any, memory_format: MemoryFormat = None) -> Any:
    """Another shape in the same memory, which grows if it must; new elements are uninitialised.

    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    if self.requires_grad:
        raise errors.runtime_error(
            "cannot resize variables that require grad",
            "detach() it first, or use view() or reshape().",
        )
    check_memory("resize_", self)
    shape = sizes("resize_", size)
    strides = None
    if memory_format is not None:
        _memory_format.check_format("resize_", memory_format, len(shape))
        if memory_format is _memory_format.preserve_format:
            raise errors.runtime_error(
                "Unsupported memory formatPreserve", "Name an order of dimensions."
            )
        strides = _memory_format.empty(shape, np.bool_, memory_format).strides
    _replace(self, grown(self._array, shape, strides))
    written(self, "resize_")
    return self


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


def set_(
    self: Tensor,
    source: Tensor | None = None,
    storage_offset: int = 0,
    size: Shape | None = None,
    stride: Any = None,
) -> Any:
    """Let the tensor be the memory of another one, or a part of it; counted in elements.

    >>> torch.zeros(2).set_(torch.arange(6.0), 1, (2, 2), (2, 1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    check_memory("set_", self)
    if source is None:
        _replace(self, np.empty(0, self._array.dtype))
        return self
    if isinstance(source, UntypedStorage):
        elements = source.elements(self._array.dtype)
        whole = elements
    else:
        whole = require("set_", source, "source")._array
        elements = elements_of(whole)
        if source.dtype is not self.dtype:
            have, want = (errors.c_name(t.dtype) for t in (source, self))
            raise errors.runtime_error(
                f"Could not set tensor of type {have} to a tensor of type {want}",
                "Convert one of them first.",
            )
    if size is None:
        _replace(self, whole)
        return self
    shape = sizes("set_", (size,))
    strides = row_major(shape) if stride is None else ints_of("set_", "stride", (stride,), 4)
    _replace(self, shaped(elements, storage_offset, shape, strides))
    return self


def share_memory_(self: Tensor) -> Any:
    """Move the elements to memory that processes forked from now on share.

    Views made before stay in the old memory.

    >>> torch.zeros(2).share_memory_().is_shared()
    True
    """
    if not is_shared(self):
        from mmap import mmap

        array = self._array
        shared = np.frombuffer(mmap(-1, max(1, array.nbytes)), array.dtype, array.size)
        shared = shared.reshape(array.shape)
        shared[...] = array
        _replace(self, shared)
    return self


def is_shared(self: Tensor) -> bool:
    """Whether forked processes see writes to the tensor.

    >>> torch.zeros(2).is_shared()
    False
    """
    memory = owner_of(self._array).base
    return type(getattr(memory, "obj", memory)).__name__ == "mmap"


def pin_memory(self: Tensor, device: DeviceLike = None) -> Any:
    """The tensor in memory that a GPU can read directly: an error, there is none.

    >>> torch.zeros(2).pin_memory()
    Traceback (most recent call last):
    RuntimeError: Cannot access accelerator device when none is available.
    Pinned memory speeds up copies to a GPU: leave it out.
    """
    raise errors.runtime_error(
        "Cannot access accelerator device when none is available.",
        "Pinned memory speeds up copies to a GPU: leave it out.",
    )


__all__ = ["resize_as_"]
