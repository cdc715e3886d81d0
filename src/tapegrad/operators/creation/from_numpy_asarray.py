"""Tensors on memory that something else owns: arrays, buffers, other tensors."""

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, Tensor
from tapegrad.core.dtype import default
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.torch_function import IN_USE, handed_to_mode
from tapegrad.core.warn_once import warn_once
from tapegrad.operators.creation.factory_options import build, check, known, requiring
from tapegrad.operators.creation.nested_list import array_of
from tapegrad.operators.creation.tensor import cast, copied_array, supported


def from_numpy(array: Any, /) -> Any:
    """A tensor on the memory of `array`: a write to one is seen in the other.

    Shape: that of `array`.
    Raises: TypeError for what is no NumPy array.

    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> torch.from_numpy(array).fill_(3)
    tensor([3., 3.], dtype=torch.float64)
    >>> array
    array([3., 3.])
    """
    if not isinstance(array, np.ndarray):
        text = f"expected np.ndarray (got {errors.type_name(array)})"
        raise errors.type_error(text, "torch.tensor() takes numbers, lists and tensors.")
    if not array.flags.writeable:
        _warn_of_readonly("NumPy array", "array", "This means writing to this tensor will fail.")
    return build("from_numpy", _lent, array if type(array) is np.ndarray else np.asarray(array))


def _lent(array: Any) -> np.ndarray:
    """The memory of an array, held so that it is known to be another's: it cannot grow."""
    supported(array)
    return np.asarray(memoryview(array)) if array.dtype.kind in "biufc" else array


def _warn_of_readonly(what: str, it: str, meaning: str) -> None:
    warn_once(
        f"The given {what} is not writable, and PyTorch does not support non-writable tensors. "
        f"{meaning} You may want to copy the {it} to protect its data or make it writable before "
        "converting it to a tensor."
    )


def as_tensor(data: Any, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Any:
    """`data` as a tensor; a tensor stays itself and an array shares its memory where they can.

    Shape: that of `data`.

    >>> x = torch.ones(2)
    >>> torch.as_tensor(x) is x
    True
    """
    if IN_USE and (again := handed_to_mode(as_tensor, (data,), locals())):
        return again()
    where = check(None, device, False)
    if dtype is not None:
        dtype = known("as_tensor", dtype)
    if isinstance(data, tensor_base.Tensor):
        if device is not None:
            data = data.to(device)
        return data if dtype is None else data.to(dtype)
    return build("as_tensor", shared_array, data, dtype, where=where)


def shared_array(data: object, dtype: Dtype | None) -> np.ndarray:
    """An array of `data`, on its own memory where that is possible."""
    if isinstance(data, np.ndarray):
        return cast(supported(data), dtype, copy=False)
    if hasattr(data, "__array__") and not isinstance(data, np.generic):
        return cast(supported(np.asarray(data)), dtype, copy=False)
    return copied_array(data, dtype)


def asarray(
    obj: Any,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Any:
    """`obj` as a tensor: a number, sequences, a tensor, an array, a buffer, or what has DLPack.

    Shape: that of `obj`.

    Args:
        copy: True for memory of its own, False to refuse a copy, None for a copy where needed.
        requires_grad: None takes that of a tensor, and False for all else.

    Raises: ValueError where a copy is refused and needed.

    >>> torch.asarray([1, 2])
    tensor([1, 2])
    """
    if IN_USE and (again := handed_to_mode(asarray, (obj,), locals())):
        return again()
    where = check(None, device, False)
    kind = None if dtype is None else known("asarray", dtype)
    if isinstance(obj, tensor_base.Tensor):
        if device is not None:
            obj = obj.to(device)
        return _tensor_again(obj, kind, copy, requires_grad)
    if isinstance(obj, (np.ndarray, np.generic)):
        array = supported(np.asarray(obj))
    elif hasattr(obj, "__dlpack__"):
        array = supported(np.from_dlpack(obj))
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        array = np.frombuffer(obj, (kind or default()).numpy)
    else:
        if copy is False:
            text = "can't alias arbitrary sequence into a tensor."
            raise errors.value_error(text, "Leave copy= away: lists and numbers are always copied.")
        result = build("asarray", array_of, obj, kind, where=where)
        return requiring("asarray", result, bool(requires_grad))
    _refuse_copy(copy, kind is not None and kind.numpy != array.dtype)
    result = build("asarray", cast, array, kind, copy is True, where=where)
    return requiring("asarray", result, bool(requires_grad))


def _tensor_again(x: Tensor, dtype: Dtype | None, copy: Any, requires_grad: Any) -> Any:
    other = dtype is not None and dtype is not x.dtype
    _refuse_copy(copy, other)
    result = x.to(dtype) if other else x.clone() if copy else x
    if requires_grad is None:
        if x.requires_grad and x.is_leaf:
            errors.warn(
                "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad "
                "instead of False. Pass requires_grad=False explicitly to get the old behavior "
                "and silence this warning.",
                3,
            )
        return result
    if not requires_grad:
        return result.detach() if result.requires_grad else result
    return result if result.requires_grad else requiring("asarray", result, True)


def _refuse_copy(copy: bool | None, needed: bool) -> None:
    if copy is False and needed:
        advice = "Another dtype needs memory of its own: leave copy=False away."
        raise errors.value_error("can't alias tensor with different dtype", advice)


def frombuffer(
    buffer: Any, *, dtype: DTypeLike, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Any:
    """A tensor of one dimension on the memory of `buffer`, from `offset` bytes on.

    Shape: (count,), or as many as there are.
    Raises: ValueError for what is no buffer, or too short a one.

    >>> torch.frombuffer(bytearray(b"abcd"), dtype=torch.uint8, offset=2)
    tensor([ 99, 100], dtype=torch.uint8)
    """
    native = known("frombuffer", dtype).numpy
    try:
        memory = memoryview(buffer)
    except TypeError:
        text = "object does not implement Python buffer protocol."
        advice = "Pass a bytearray, a memoryview, an array.array or the like."
        raise errors.value_error(text, advice) from None
    size = memory.nbytes
    _check_extent(size, native.itemsize, count, offset)
    if memory.readonly:
        _warn_of_readonly("buffer", "buffer", "This means writing to this tensor will fail.")
    n = count if count > 0 else (size - offset) // native.itemsize
    return build(
        "frombuffer", np.frombuffer, buffer, native, n, offset, requires_grad=requires_grad
    )


def _check_extent(size: int, itemsize: int, count: int, offset: int) -> None:
    problem = ""
    if size == 0 or count == 0:
        problem = f"both buffer length ({size}) and count ({count}) must not be 0"
    elif not 0 <= offset < size:
        problem = (
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({size} bytes) minus 1"
        )
    elif count > 0 and offset + count * itemsize > size:
        problem = (
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) "
            f"must not be greater than actual buffer length ({size} bytes)"
        )
    elif count < 0 and (size - offset) % itemsize:
        problem = (
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({itemsize})"
        )
    if problem:
        raise errors.value_error(problem, f"The buffer has {size} bytes, an element {itemsize}.")


__all__ = ["as_tensor", "asarray", "from_numpy", "frombuffer"]
