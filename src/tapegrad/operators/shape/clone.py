"""Copies, and the order in which their elements lie in memory."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.core import memory_format as _arrangement
from tapegrad.core import tensor_base as _tensor
from tapegrad.core.annotations import MemoryFormat, TensorLike
from tapegrad.operators.shape.reshape import clone as copy_of


def copied_as(x: TensorLike, format: Any) -> Any:
    """A copy of `x` in the memory format `format`."""
    return copy_of(x, order=_arrangement.order_of(format))


def clone(input: TensorLike, *, memory_format: MemoryFormat = None) -> Any:
    """A copy with memory of its own, through which gradients flow back to `input`.

    >>> x = torch.ones(2, requires_grad=True)
    >>> x.clone()
    tensor([1., 1.], grad_fn=<CloneBackward0>)
    """
    if not isinstance(input, _tensor.Tensor):
        raise errors.must_be("clone", "input", 1, "Tensor", input)
    if memory_format is None:
        return copy_of(input)
    _arrangement.check_format("clone", memory_format, input.ndim)
    return copied_as(input, memory_format)


def contiguous(self: Any, memory_format: MemoryFormat = _arrangement.contiguous_format) -> Any:
    """The tensor itself if its elements lie in that order, row-major by default; else a copy.

    >>> x = torch.ones(2, 3)
    >>> x.contiguous() is x, x.t().contiguous().stride()
    (True, (2, 1))
    """
    if memory_format is not _arrangement.contiguous_format:
        _arrangement.check_format("contiguous", memory_format, self.ndim)
    if _arrangement.has_format(self._array, memory_format):
        return self
    if memory_format is _arrangement.preserve_format:
        raise errors.runtime_error(
            "preserve memory format is unsupported by the contiguous operator",
            "Name a format, such as torch.channels_last.",
        )
    return copied_as(self, memory_format)


__all__ = ["clone"]
