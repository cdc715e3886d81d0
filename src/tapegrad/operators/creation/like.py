"""Tensors like another one: of its shape and dtype."""

from collections.abc import Callable

import numpy as np

from tapegrad.arrays.float8 import clear
from tapegrad.arrays.namespaces import is_batched, laid_out
from tapegrad.core import errors, uninitialized
from tapegrad.core import memory_format as _memory_format
from tapegrad.core.annotations import (
    Any,
    DeviceLike,
    DTypeLike,
    LayoutLike,
    MemoryFormat,
    Scalar,
    Tensor,
)
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.conj_neg_view import memory_of
from tapegrad.core.dtype import FLOAT8_IN_USE
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.family import family
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.registration import DISPATCH_CLASSES
from tapegrad.core.scalar import fitted, number_of
from tapegrad.core.torch_dispatch import is_stand_in
from tapegrad.operators.creation.factory_options import build, check, known


def dtype_like(name: str, x: Tensor, dtype: DTypeLike) -> Dtype:
    """The dtype that is asked for, or that of the tensor `x`."""
    if not hasattr(x, "_array"):
        raise errors.must_be(name, "input", 1, "Tensor", x)
    return x.dtype if dtype is None else known(name, dtype)


def _like(array: np.ndarray, dtype: DTypeLike, format: Any) -> np.ndarray:
    array = laid_out(memory_of(array))
    if type(array) is not np.ndarray and type(array) is not MetaArray:
        return mapped_as(array, uninitialized.empty(array.shape, dtype))
    if format is None or format is _memory_format.preserve_format:
        return uninitialized.filled(_memory_format.preserved(array, dtype))
    _memory_format.check_format("empty_like", format, array.ndim)
    return uninitialized.arranged(array.shape, dtype, format)


def _filled(array: np.ndarray, value: Scalar, dtype: DTypeLike, format: Any) -> np.ndarray:
    array = laid_out(memory_of(array))
    if type(array) is not np.ndarray and type(array) is not MetaArray:
        return mapped_as(array, np.full(array.shape, value, dtype))
    found = _like(array, dtype, format)
    if FLOAT8_IN_USE and not value:
        clear(found)
    else:
        found.fill(value)
    return found


def mapped_as(array: Any, made: np.ndarray) -> Any:
    """What was made for one member, for each of a batch where `array` is one."""
    if not is_batched(array):
        return made
    whole = np.repeat(made[None], array.level.size, 0) if array.mapped else made
    return type(array)(array.level, mapped_as(array.value, whole), array.mapped)


@require_tensors
def empty_like(
    input: Tensor,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: MemoryFormat = None,
) -> Any:
    """A tensor of the shape of `input` whose values are whatever was in its memory.

    Shape: that of `input`.

    >>> torch.empty_like(torch.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    kind = dtype_like("empty_like", input, dtype)
    if is_stand_in(input):
        return DISPATCH_CLASSES().made_like("empty_like", input, kind)
    where = check(layout, device, pin_memory, input)
    args = (input._array, kind.numpy, memory_format)
    return build("empty_like", _like, *args, requires_grad=requires_grad, where=where)


@family
def _filled_like(value: int) -> Callable:
    name = "ones_like" if value else "zeros_like"

    def filled_like(
        input: Tensor,
        *,
        dtype: DTypeLike = None,
        layout: LayoutLike = None,
        device: DeviceLike = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        memory_format: MemoryFormat = None,
    ) -> Any:
        kind = dtype_like(name, input, dtype)
        if is_stand_in(input):
            return DISPATCH_CLASSES().made_like(name, input, kind)
        where = check(layout, device, pin_memory, input)
        args = (input._array, value, kind.numpy, memory_format)
        return build(name, _filled, *args, requires_grad=requires_grad, where=where)

    return filled_like


@require_tensors
@_filled_like(0)
def zeros_like() -> Any:
    """A tensor of zeros of the shape of `input`.

    Shape: that of `input`.

    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
    """


@require_tensors
@_filled_like(1)
def ones_like() -> Any:
    """A tensor of ones of the shape of `input`.

    Shape: that of `input`.

    >>> torch.ones_like(torch.tensor([0.5, 2]))
    tensor([1., 1.])
    """


@require_tensors
def full_like(
    input: Tensor,
    fill_value: Scalar,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: MemoryFormat = None,
) -> Any:
    """A tensor of one value, of the shape and the dtype of `input`.

    Shape: that of `input`.

    >>> torch.full_like(torch.zeros(2), 7)
    tensor([7., 7.])
    """
    kind = dtype_like("full_like", input, dtype)
    where = check(layout, device, pin_memory, input)
    value = fitted(number_of("full_like", "fill_value", 2, fill_value), kind)
    args = (input._array, value, kind.numpy, memory_format)
    return build("full_like", _filled, *args, requires_grad=requires_grad, where=where)


__all__ = ["empty_like", "full_like", "ones_like", "zeros_like"]
