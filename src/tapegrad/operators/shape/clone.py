"""Copies, and the order in which their elements lie in memory."""

from tapegrad.core import errors
from tapegrad.core import memory_format as _memory_format
from tapegrad.core.annotations import Any, MemoryFormat, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending
from tapegrad.core.torch_function import overridden
from tapegrad.operators.shape.reshape_flatten_atleast import clone as copy_of


def copied_as(x: Tensor, format: Any) -> Any:
    """A copy of `x` in the memory format `format`."""
    return copy_of(x, order=_memory_format.order_of(format))


@mending
def clone(input: Tensor = MISSING, *, memory_format: MemoryFormat = None, **names: Any) -> Any:
    """A copy with memory of its own, through which gradients flow back to `input`.

    Shape: any, and that of the result.

    >>> x = torch.ones(2, requires_grad=True)
    >>> x.clone()
    tensor([1., 1.], grad_fn=<CloneBackward0>)
    """
    if names or input is MISSING:
        given = names if memory_format is None else names | {"memory_format": memory_format}
        return mended(clone, None, (input,), given)
    try:
        errors.need_tensor("clone", "input", 1, input)
        if memory_format is None:
            return copy_of(input)
        _memory_format.check_format("clone", memory_format, input.ndim)
        return copied_as(input, memory_format)
    except Exception:
        again = overridden(
            clone, (input,), {} if memory_format is None else {"memory_format": memory_format}
        )
        if again is None:
            raise
    return again()


def contiguous(self: Tensor, memory_format: MemoryFormat = _memory_format.contiguous_format) -> Any:
    """The tensor itself if its elements lie in that order, row-major by default; else a copy.

    >>> x = torch.ones(2, 3)
    >>> x.contiguous() is x, x.t().contiguous().stride()
    (True, (2, 1))
    """
    if memory_format is not _memory_format.contiguous_format:
        _memory_format.check_format("contiguous", memory_format, self.ndim)
    if _memory_format.has_format(self._array, memory_format):
        return self
    if memory_format is _memory_format.preserve_format:
        text = "preserve memory format is unsupported by the contiguous operator"
        raise errors.runtime_error(text, "Name a format, such as torch.channels_last.")
    return copied_as(self, memory_format)


__all__ = ["clone"]
