"""Tensors with a copy of data: numbers, nested lists, arrays, other tensors."""

from collections.abc import Iterator

import numpy as np

from tapegrad.arrays.float8 import converted
from tapegrad.autograd.mode import MODE
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, LayoutLike
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import default, of
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.scalar import fitted, number_of
from tapegrad.core.torch_function import ALL_OFF, IN_USE, MODES, STATE, handed_to_mode, undisturbed
from tapegrad.core.warn_once import warn_once
from tapegrad.operators.creation.factory_options import build, check, known
from tapegrad.operators.creation.nested_list import array_of


def tensor(
    data: object,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor with a copy of `data`: a number, nested sequences of numbers, an array, a tensor.

    Shape: that of `data`: () for a number, else a size for each level of nesting.

    Args:
        dtype: inferred if not given: floats get the default dtype, arrays keep their own.

    Raises: ValueError for rows of different lengths; TypeError for what is no number.

    >>> torch.tensor([[1, 2], [3, 4.5]])
    tensor([[1.0000, 2.0000],
            [3.0000, 4.5000]])
    """
    if IN_USE and (again := handed_to_mode(tensor, (data,), locals())):
        return again()
    if IN_USE and STATE.get() != ALL_OFF and not MODES.get():  # of `data` nobody is asked
        options = {"device": device, "requires_grad": requires_grad, "pin_memory": pin_memory}
        return undisturbed(tensor, data, dtype=dtype, **options)
    where = check(None, device, pin_memory)
    if dtype is not None:
        dtype = known("tensor", dtype)
    if isinstance(data, tensor_base.Tensor):
        warn_of_copy("torch.tensor(sourceTensor)")
    result = build("tensor", copied_array, data, dtype, requires_grad=requires_grad, where=where)
    if type(mode := MODE.get()) is not bool:
        for x in _tensors_in(data):
            mode.cut(x, result, "torch.tensor()")
    return result


def _tensors_in(data: object) -> Iterator[Any]:
    """The tensor that data is, or those in nested lists."""
    if isinstance(data, tensor_base.Tensor):
        yield data
    elif isinstance(data, (list, tuple)):
        for each in data:
            yield from _tensors_in(each)


def warn_of_copy(instead: str) -> None:
    errors.warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() "
        f"or sourceTensor.detach().clone().requires_grad_(True), rather than {instead}.",
        3,
    )


_FLOATS = {float}
_F32 = np.dtype(np.float32)
_SHORT = 64  # numbers: more are converted faster once they are an array


def copied_array(data: Any, dtype: Dtype | None) -> np.ndarray:
    """A fresh array of what `torch.tensor` takes."""
    if dtype is None and type(data) is list and set(map(type, data)) == _FLOATS:
        kind = default().numpy  # as `array_of`, the quick way
        if kind is _F32 and len(data) < _SHORT:
            return np.array(data, kind)
        return converted(np.array(data, np.float64), kind)
    if isinstance(data, tensor_base.Tensor):
        data = data._array
    elif isinstance(data, (np.ndarray, np.generic)):
        data = supported(np.asarray(data))
    elif _is_list_of_arrays(data):
        data = _stacked(data)
    elif hasattr(data, "__dlpack__"):
        data = supported(np.from_dlpack(data))
    else:
        return array_of(data, dtype)
    return cast(data, dtype, copy=True)


def cast(array: np.ndarray, dtype: Dtype | None, copy: bool) -> np.ndarray:
    """`array` in another dtype; a complex number loses its imaginary part."""
    if dtype is None or dtype.numpy == array.dtype:
        return array.copy("K") if copy else array
    if array.dtype.kind == "c" and dtype.category in (1, 2):
        array = array.real
    return converted(array, dtype.numpy)


def _is_list_of_arrays(data: Any) -> bool:
    if type(data) not in (list, tuple) or not data or type(data[0]) is not np.ndarray:
        return False
    first = data[0]
    return first.ndim > 0 and all(
        type(x) is np.ndarray and x.shape == first.shape and x.dtype == first.dtype for x in data
    )


def _stacked(arrays: Any) -> np.ndarray:
    warn_once(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
        "converting the list to a single numpy.ndarray with numpy.array() before converting to a "
        "tensor."
    )
    return supported(np.array(arrays))


def supported(array: np.ndarray) -> np.ndarray:
    """The array, if a tensor can share its memory; otherwise an error that says why not."""
    of(array.dtype)
    if array.ndim and array.size:
        if min(array.strides) < 0:
            raise errors.value_error(
                "At least one stride in the given numpy array is negative, and tensors with "
                "negative strides are not currently supported. (You can probably work around "
                "this by making a copy of your array  with array.copy().) ",
                "The array is reversed: array.copy() has the same elements in order.",
            )
        if any(step % array.itemsize for step in array.strides):
            raise errors.value_error(
                "given numpy array strides not a multiple of the element byte size. Copy the "
                "numpy array to reallocate the memory.",
                "Pass array.copy().",
            )
    return array


@require_tensors
def scalar_tensor(
    s: Any,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """A tensor of one number and no dimensions, of the default dtype unless another is given.

    Shape: ().

    >>> torch.scalar_tensor(3)
    tensor(3.)
    """
    where = check(layout, device, pin_memory)
    kind = default() if dtype is None else known("scalar_tensor", dtype)
    value = fitted(number_of("scalar_tensor", "s", 1, s), kind)
    return build(
        "scalar_tensor", np.full, (), value, kind.numpy, requires_grad=requires_grad, where=where
    )


__all__ = ["scalar_tensor", "tensor"]
