"""The order of dimensions in memory; `resize` as it was before `view` and `reshape`."""

from math import prod

from tapegrad.core import errors, memory_format
from tapegrad.core.annotations import Any, DTypeLike, Shape, Tensor
from tapegrad.core.overridable import overridable
from tapegrad.core.shape import ints_of
from tapegrad.operators.conversion.metadata import require, stride


def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the one with the longest steps in memory to that with the shortest.

    With `ambiguity_check` a tensor of which another order would be as right raises.

    >>> torch.ones(2, 3).t().dim_order()
    (1, 0)
    """
    formats = [] if isinstance(ambiguity_check, bool) else ambiguity_check
    if not isinstance(formats, list) or any(
        type(x) is not memory_format.memory_format for x in formats
    ):
        text = "The ambiguity_check argument must be a bool or a list of memory formats."
        raise errors.type_error(text, "[torch.contiguous_format] takes that one where it can.")
    shape, strides = self._array.shape, stride(self)
    order = memory_format.order_of(memory_format.suggested(self._array))
    if order == "C":
        order = sorted(range(len(shape)), key=lambda i: -strides[i])
    ambiguous = 1 in shape or 0 in strides or len({*strides}) < len(strides)
    if ambiguity_check is not False and ambiguous:
        known = (
            memory_format.contiguous_format,
            memory_format.channels_last,
            memory_format.channels_last_3d,
        )
        told = [each for each in known if memory_format.has_format(self._array, each)]
        wanted = [memory_format.order_of(each) for each in formats]
        if len(told) != 1 or memory_format.order_of(told[0]) not in wanted:
            raise errors.runtime_error(
                "The tensor does not have unique dim order, or cannot map to exact one of the "
                "given memory formats.",
                "Dimensions of size 1 may stand anywhere.",
            )
    return tuple(order)


def _sizes(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _resized(name: str, x: Tensor, shape: tuple[int, ...], wanted: str) -> Any:
    errors.warn(f"non-inplace {name} is deprecated", 3)
    if prod(shape) != x._array.size:
        own = _sizes(x._array.shape)
        raise errors.runtime_error(
            f"requested resize to {wanted}, but the given tensor "
            f"has a size of {own} ({x._array.size} elements). autograd's resize can only "
            "change the shape of a given tensor, while preserving the number of elements. ",
            "resize_() changes the number, too.",
        )
    return x.contiguous().view(shape)


def resize(self: Tensor, *sizes: Shape) -> Any:
    """The same elements in another shape: `reshape` is the name for that.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.arange(4).resize(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    shape = ints_of("resize", "sizes", sizes)
    return _resized("resize", self, shape, f"{shape} ({shape} elements in total)")


@overridable
def resize_as(self: Tensor, tensor: Tensor) -> Any:
    """The same elements in the shape of another tensor.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.arange(4).resize_as(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    shape = tuple(require("resize_as", tensor, "tensor")._array.shape)
    wanted = f"{_sizes(shape)} ({prod(shape)} elements in total)"
    return _resized("resize_as", self, shape, wanted)


resize_as.__qualname__ = "Tensor.resize_as"  # PyTorch has it in Python, as a method


def to_dense(self: Tensor, dtype: DTypeLike = None, *, masked_grad: Any = None) -> Any:
    """The tensor itself, which is not sparse; in another dtype if one is given.

    >>> x = torch.ones(2)
    >>> x.to_dense() is x
    True
    """
    return self if dtype is None else self.to(dtype)


def reversed_rows(self: Tensor) -> Any:
    """`reversed(x)`: the elements of the first dimension in reverse order."""
    return self.flip(0) if self._array.ndim else self
