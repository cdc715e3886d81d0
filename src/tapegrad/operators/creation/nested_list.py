"""Nested sequences as arrays: their shape, the dtype they mean, their numbers."""

from itertools import chain

import numpy as np

from tapegrad.arrays.float8 import converted
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.dtype import bool_, default, default_complex, int64, of
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.limits import iinfo
from tapegrad.core.promote_types import promote_types
from tapegrad.core.untyped_storage import elements_given

_DEEPEST = 128


def array_of(data: object, dtype: Dtype | None) -> np.ndarray:
    """A fresh array of a number or of nested sequences of numbers, arrays, one-element tensors.

    Storages are taken as they are: the array is on their memory.

    Args:
        data: what `torch.tensor` takes, tensors and arrays excepted.
        dtype: that of the array; None infers it: bool, int64, the default float or complex type.

    >>> from tapegrad.operators.creation.nested_list import array_of
    >>> array_of([[1, 2.5]], None)
    array([[1. , 2.5]], dtype=float32)
    """
    found = _plain(data)
    if found is None:
        elements = _of_storage(data, dtype)
        if elements is not None:
            return elements
        shape = _shape_of(data)
        kind = _dtype_of(data, dtype)
        values: list = []
        _collect(data, shape, 0, values)
    else:
        shape, kind, values = found
    if dtype is None:
        dtype = kind
    return filled(values, shape, dtype)


def _of_storage(data: object, dtype: Dtype | None) -> np.ndarray | None:
    kind = dtype or default()
    text = f"Expected a Storage of type {kind.scalar_name} or an UntypedStorage, but got {{}}"
    return elements_given(data, kind, text)


def _plain(data: Any) -> tuple[tuple[int, ...], Dtype, list] | None:
    """Shape, dtype and numbers of regular nested lists of Python's own numbers; None for others."""
    shape: list[int] = []
    values = [data]
    while True:
        kinds = set(map(type, values))
        if not kinds <= {list, tuple}:
            break
        lengths = set(map(len, values))
        if len(lengths) != 1 or len(shape) == _DEEPEST:
            return None
        shape.append(lengths.pop())
        values = list(chain.from_iterable(values))
        if not values:
            return tuple(shape), default(), values
    if not kinds <= {bool, int, float, complex}:
        return None
    if complex in kinds:
        return tuple(shape), default_complex(), values
    if float in kinds:
        return tuple(shape), default(), values
    return tuple(shape), int64 if int in kinds else bool_, values


def _is_sequence(x: object) -> bool:
    if isinstance(x, (tensor_base.Tensor, str, np.generic)):
        return False
    kind = type(x)
    return hasattr(kind, "__getitem__") and hasattr(kind, "__len__") and not hasattr(kind, "keys")


def _shape_of(data: Any) -> tuple[int, ...]:
    """The lengths of the first sequence on each level."""
    shape: list[int] = []
    while _is_sequence(data):
        shape.append(len(data))
        if len(shape) > _DEEPEST:
            text = f"too many dimensions '{type(data).__name__}'"
            raise errors.value_error(text, f"A tensor has at most {_DEEPEST} dimensions.")
        if not shape[-1]:
            break
        data = data[0]
        if isinstance(data, str):
            advice = "Tensors hold numbers: convert the strings first, for example with float()."
            raise errors.value_error("too many dimensions 'str'", advice)
    return tuple(shape)


def _dtype_of(data: Any, wanted: Dtype | None = None) -> Dtype:
    """The dtype that holds every number in `data`; `wanted` is the one that was asked for."""
    if isinstance(data, bool):
        return bool_
    if isinstance(data, (np.generic, np.ndarray)):
        return of(data.dtype)
    if isinstance(data, float):
        return default()
    if isinstance(data, int):
        return int64
    if isinstance(data, complex):
        return default_complex()
    if isinstance(data, tensor_base.Tensor):
        return data.dtype
    if isinstance(data, (str, bytes)):
        advice = "Tensors hold numbers: convert text first, for example with float() or list()."
        raise errors.type_error(f"new(): invalid data type '{type(data).__name__}'", advice)
    if not _is_sequence(data):
        if data is None and wanted is not None:
            raise _no_number(data, wanted)
        advice = "Give a number, an array, a tensor, or nested lists of numbers."
        raise errors.runtime_error(f"Could not infer dtype of {errors.type_name(data)}", advice)
    found = None
    for item in data:
        if item is data:
            if wanted is not None:
                raise _no_number(data, wanted)
            text = "new(): self-referential lists are incompatible"
            raise errors.type_error(text, "A list that holds itself has no end.")
        kind = _dtype_of(item, wanted)
        found = kind if found is None else promote_types(found, kind)
    return default() if found is None else found


def _collect(data: Any, shape: tuple[int, ...], axis: int, values: list) -> None:
    """Append the numbers of `data` to `values`, in row-major order."""
    if axis == len(shape):
        values.append(_number(data))
        return
    if not _is_sequence(data):
        text = "not a sequence"
        raise errors.type_error(text, f"At dimension {axis} there are numbers and sequences.")
    if shape[axis] == 0:
        return
    if len(data) != shape[axis]:
        raise ragged(shape[axis], axis, len(data))
    for item in data:
        _collect(item, shape, axis + 1, values)


def ragged(expected: int, axis: int, found: int) -> ValueError:
    """Sequences of several lengths on one level."""
    text = f"expected sequence of length {expected} at dim {axis} (got {found})"
    advice = "All sequences on one level have the same length: pad the shorter ones."
    return errors.value_error(text, advice)


def _number(x: Tensor) -> Any:
    if isinstance(x, tensor_base.Tensor):
        if x._array.size != 1:
            text = "only one element tensors can be converted to Python scalars"
            raise errors.value_error(text, "torch.stack() joins tensors of any shape.")
        return float(x) if x.requires_grad else x._array.reshape(()).item()
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray):
        return x[()]
    return x


def filled(values: list, shape: tuple[int, ...], dtype: Dtype) -> np.ndarray:
    """An array of Python numbers; errors as PyTorch words them."""
    kind = dtype.category
    try:
        if kind == 1:
            array = _integers(values, dtype)
        elif kind == 0:
            array = np.array([bool(x) for x in values], bool)
        else:
            wide = np.float64 if kind == 2 else np.complex128
            array = converted(np.array(values, wide), dtype.numpy)
    except (TypeError, ValueError):
        wrong = next((x for x in values if not isinstance(x, (bool, int, float))), None)
        if wrong is None:
            raise
        raise _no_number(wrong, dtype) from None
    return array.reshape(shape)


def _no_number(x: object, dtype: Dtype) -> TypeError:
    name = errors.type_name(x)
    text = f"must be real number, not {name}"
    if dtype.category < 2:
        text = f"'{name}' object cannot be interpreted as an integer"
    return errors.type_error(text, f"Every element must be a number that {dtype} can hold.")


def _integers(values: list, dtype: Dtype) -> np.ndarray:
    if set(map(type, values)) <= {int, bool}:
        try:
            return np.array(values, dtype.numpy)
        except OverflowError:
            pass  # said below in PyTorch's words, or wrapped around
    limits = iinfo(dtype)
    whole = [x if type(x) is int else _truncated(x, dtype) for x in values]
    if not whole:
        return np.empty(0, dtype.numpy)
    low, high = min(whole), max(whole)
    if low >= limits.min and high <= limits.max:
        return np.array(whole, dtype.numpy)
    if not -(2**63) <= low or not high < 2**63:
        advice = "Integers of a tensor have 64 bits: give dtype=torch.float64, or smaller numbers."
        raise errors.value_error("Overflow when unpacking long long", advice)
    if dtype.is_signed or high > limits.max or low < -limits.max or limits.bits == 64:
        raise _too_large(dtype)
    return np.array(whole, np.int64).astype(dtype.numpy)  # negative numbers wrap around


def _truncated(x: Tensor, dtype: Dtype) -> int:
    if isinstance(x, float):
        limits = iinfo(dtype)
        if not limits.min <= x <= limits.max:
            raise _too_large(dtype)
    return int(x)


def _too_large(dtype: Dtype) -> RuntimeError:
    text = f"value cannot be converted to type {dtype.name} without overflow"
    limits = iinfo(dtype)
    return errors.runtime_error(text, f"{dtype} holds numbers from {limits.min} to {limits.max}.")
