"""Tensor metadata: dtype, device, layout, number of elements, and the predicates on them."""

from tapegrad.core import errors
from tapegrad.core import memory_format as _memory_format
from tapegrad.core.annotations import Any, Dim, MemoryFormat, Scalar, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending
from tapegrad.core.conj_neg_view import ConjNegView
from tapegrad.core.overridable import overridable
from tapegrad.core.scalar import int_of
from tapegrad.core.shape import existing_axis
from tapegrad.core.size import from_shape
from tapegrad.core.storage import owner_of
from tapegrad.core.tensor_base import TensorBase
from tapegrad.core.torch_function import overridden
from tapegrad.core.untyped_storage import UntypedStorage
from tapegrad.operators.conversion.to_type import type_


def require(name: str, x: Any, argument: str = "input") -> Any:
    """`x` itself, if it is a tensor."""
    if isinstance(x, TensorBase):
        return x
    raise errors.must_be(name, argument, 1, "Tensor", x)


def is_tensor(obj: object, /) -> bool:
    """Whether `obj` is a tensor.

    >>> torch.is_tensor(torch.ones(2)), torch.is_tensor([1, 1])
    (True, False)
    """
    return isinstance(obj, TensorBase)


def is_storage(obj: object, /) -> bool:
    """Whether `obj` is the bare memory of a tensor.

    >>> torch.is_storage(torch.ones(2))
    False
    """
    from tapegrad.operators.creation.typed_storage import TypedStorage

    return isinstance(obj, (TypedStorage, UntypedStorage))


@mending
def is_floating_point(input: Tensor = MISSING, *extra: Any, **names: Any) -> bool:
    """Whether the elements are real numbers with fractions.

    >>> torch.is_floating_point(torch.ones(2))
    True
    """
    try:
        if names or extra:
            raise TypeError("is_floating_point() was given other names")
        return input.dtype.is_floating_point
    except (AttributeError, TypeError) as error:
        return mended(is_floating_point, error, (input, *extra), names)


@mending
def is_complex(input: Tensor = MISSING, *extra: Any, **names: Any) -> bool:
    """Whether the elements are complex numbers.

    >>> torch.is_complex(torch.ones(2))
    False
    """
    try:
        if names or extra:
            raise TypeError("is_complex() was given other names")
        return input.dtype.is_complex
    except (AttributeError, TypeError) as error:
        return mended(is_complex, error, (input, *extra), names)


@mending
def is_signed(input: Tensor = MISSING, *extra: Any, **names: Any) -> bool:
    """Whether the elements can be negative.

    >>> torch.is_signed(torch.ones(2))
    True
    """
    try:
        if names or extra:
            raise TypeError("is_signed() was given other names")
        return input.dtype.is_signed
    except (AttributeError, TypeError) as error:
        return mended(is_signed, error, (input, *extra), names)


@mending
def is_nonzero(input: Tensor = MISSING, *extra: Any, **names: Any) -> bool:
    """Whether the only element is not zero.

    >>> torch.is_nonzero(torch.tensor([0.0]))
    False
    """
    if names or extra or input is MISSING:
        return mended(is_nonzero, None, (input, *extra), names)
    try:
        return bool(require("is_nonzero", input))
    except Exception:
        again = overridden(is_nonzero, (input,))
        if again is None:
            raise
    return again()


@mending
def is_same_size(input: Tensor = MISSING, other: Scalar = MISSING, **names: Any) -> bool:
    """Whether two tensors have the same shape.

    >>> torch.is_same_size(torch.ones(2), torch.ones(3))
    False
    """
    if names or other is MISSING:
        return mended(is_same_size, None, (input, other), names)
    try:
        return require("is_same_size", input).shape == require("is_same_size", other, "other").shape
    except Exception:
        again = overridden(is_same_size, (input, other))
        if again is None:
            raise
    return again()


@mending
def is_inference(input: Tensor = MISSING, *extra: Any, **names: Any) -> bool:
    """Whether the tensor was made in inference mode.

    >>> torch.is_inference(torch.ones(2))
    False
    """
    if names or extra or input is MISSING:
        return mended(is_inference, None, (input, *extra), names)
    try:
        return require("is_inference", input).is_inference()
    except Exception:
        again = overridden(is_inference, (input,))
        if again is None:
            raise
    return again()


@overridable
def is_distributed(input: Tensor) -> bool:
    """Whether the tensor is spread over machines: none is.

    >>> torch.is_distributed(torch.ones(2))
    False
    """
    require("is_distributed", input)
    return False


@mending
def is_conj(input: Tensor = MISSING, **names: Any) -> bool:
    """Whether the tensor is a view that conjugates what it reads.

    >>> torch.is_conj(torch.tensor([1j]).conj())
    True
    """
    if names or input is MISSING:
        return mended(is_conj, None, (input,), names)
    try:
        array = require("is_conj", input)._array
        return type(array) is ConjNegView and array.conj
    except Exception:
        again = overridden(is_conj, (input,))
        if again is None:
            raise
    return again()


@mending
def is_neg(input: Tensor = MISSING, **names: Any) -> bool:
    """Whether the tensor is a view that negates what it reads.

    >>> torch.is_neg(torch.tensor([1 + 2j]).conj().imag)
    True
    """
    if names or input is MISSING:
        return mended(is_neg, None, (input,), names)
    try:
        array = require("is_neg", input)._array
        return type(array) is ConjNegView and array.neg
    except Exception:
        again = overridden(is_neg, (input,))
        if again is None:
            raise
    return again()


@mending
def numel(input: Tensor = MISSING, *extra: Any, **names: Any) -> int:
    """The number of elements.

    >>> torch.numel(torch.ones(2, 3))
    6
    """
    try:
        if names or extra:
            raise TypeError("numel() was given other names")
        return input._array.size
    except (AttributeError, TypeError) as error:
        return mended(numel, error, (input, *extra), names)


@overridable
@mending
def get_device(input: Tensor = MISSING, *extra: Any, **names: Any) -> int:
    """The index of the GPU a tensor is on; -1 for the CPU.

    >>> torch.get_device(torch.zeros(2))
    -1
    """
    if names or extra or input is MISSING:
        return mended(get_device, None, (input, *extra), names)
    require("get_device", input)
    return -1


def typename(obj: object, /) -> str:
    """The name of a tensor's type, or of any object's with its module.

    >>> torch.typename(torch.ones(2)), torch.typename(3)
    ('torch.FloatTensor', 'int')
    """
    if isinstance(obj, TensorBase):
        return obj.type() if obj.is_sparse else type_(obj)
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", "") or ""
    if module in ("builtins", "__builtin__", ""):
        return kind.__qualname__
    return f"{module}.{kind.__qualname__}"


# --- methods --------------------------------------------------------------------------------


def size(self: Tensor, dim: Dim = None, *, axis: Dim = None) -> Any:
    """The shape, or the length of one dimension.

    >>> torch.ones(2, 3).size(), torch.ones(2, 3).size(-1)
    (torch.Size([2, 3]), 3)
    """
    shape = self._array.shape
    if dim is None:
        if axis is None:
            return from_shape(shape)
        dim = axis
    return shape[_axis("size", dim, len(shape))]


def stride(self: Tensor, dim: Dim = None, *, axis: Dim = None) -> Any:
    """The steps in memory from one element to the next along each dimension, or along one.

    >>> torch.ones(2, 3).stride()
    (3, 1)
    """
    array = self._array
    if array.size or _has_strides(array):
        steps = tuple([step // array.itemsize for step in array.strides])
        if 0 in steps:
            steps = _with_inserted(array.shape, steps)
    else:
        steps = _row_major(array)
    dim = axis if dim is None else dim
    return steps if dim is None else steps[_axis("stride", dim, len(steps))]


def _with_inserted(shape: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, ...]:
    """Strides with those of dimensions of size 1 that NumPy inserted, where it has 0, as PyTorch's:
    across all of the next dimension."""
    found = list(steps)
    for i in range(len(shape) - 1, -1, -1):
        if shape[i] == 1 and steps[i] == 0:
            found[i] = shape[i + 1] * found[i + 1] if i + 1 < len(shape) else 1
    return tuple(found)


def _has_strides(array: Any) -> bool:
    """Whether an empty array is a part of one with elements: NumPy has strides for these only."""
    return any(array.strides) and owner_of(array).size > 0


def _row_major(array: Any) -> tuple[int, ...]:
    """The strides PyTorch gives an empty tensor: a dimension of size 0 counts as 1."""
    steps = []
    step = 1
    for n in reversed(array.shape):
        steps.append(step)
        step *= max(n, 1)
    return tuple(reversed(steps))


def _axis(name: str, dim: Dim, ndim: int) -> int:
    return existing_axis(int_of(name, "dim", 1, dim), ndim, "The tensor holds a single number.")


def is_contiguous(
    self: Tensor, *given: Any, memory_format: MemoryFormat = _memory_format.contiguous_format
) -> bool:
    """Whether the elements lie in memory in that order, row-major by default.

    >>> torch.ones(2, 3).t().is_contiguous()
    False
    """
    if given:
        n = f"{len(given)} was" if len(given) == 1 else f"{len(given)} were"
        text = f"is_contiguous() takes 0 positional arguments but {n} given"
        raise errors.type_error(text, "Name it: is_contiguous(memory_format=...).")
    if memory_format is _memory_format.contiguous_format:
        return self._array.flags.c_contiguous
    if type(memory_format) is not _memory_format.memory_format:
        _memory_format.check_format("is_contiguous", memory_format, self.ndim)
    return _memory_format.has_format(self._array, memory_format)


@overridable
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are the same memory, seen in the same way.

    >>> x = torch.zeros(4)
    >>> x.is_set_to(x.detach()), x.is_set_to(x[:2])
    (True, False)
    """
    a, b = self._array, require("is_set_to", tensor, "tensor")._array
    return (
        a.shape == b.shape
        and a.strides == b.strides
        and self.data_ptr() == tensor.data_ptr()
        and owner_of(a) is owner_of(b)
        and self.dtype is tensor.dtype
        and type(a) is type(b) is not ConjNegView
    )


__all__ = [
    "get_device", "is_complex", "is_conj", "is_distributed", "is_floating_point", "is_inference",
    "is_neg", "is_nonzero", "is_same_size", "is_signed", "is_storage", "is_tensor", "numel",
    "typename",
]  # fmt: skip
