"""New tensors of another one's dtype, of any shape: methods only."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.core import errors, tensor_base, uninitialized
from tapegrad.core.annotations import DeviceLike, DTypeLike, LayoutLike, Scalar, Shape, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.conj_neg_view import memory_of
from tapegrad.core.family import family
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.overridable import overridable
from tapegrad.core.scalar import fitted, number_of
from tapegrad.core.shape import listed
from tapegrad.operators.creation import tensor as _data
from tapegrad.operators.creation.empty_strided import strided_array
from tapegrad.operators.creation.factory_options import build, check
from tapegrad.operators.creation.legacy_constructor import legacy_tensor
from tapegrad.operators.creation.like import dtype_like, mapped_as
from tapegrad.operators.creation.zeros_eye import sizes


def _for_each(x: Tensor, make: Callable) -> Callable:
    """`make`, for each member where `x` is of a batch."""
    array = memory_of(x._array)
    if type(array) is np.ndarray or type(array) is MetaArray:
        return make
    return lambda *args: mapped_as(array, make(*args))


@family
def _new(make: Callable) -> Callable:
    name = f"new_{make.__name__}"

    def new_filled(
        self: Tensor,
        *shape: Shape,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        layout: LayoutLike = None,
        device: DeviceLike = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Any:
        kind = dtype_like(name, self, dtype)
        where = check(layout, device, pin_memory, self)
        args = (sizes(name, shape, size), kind.numpy)
        maker = make if where else _for_each(self, make)
        return build(name, maker, *args, requires_grad=requires_grad, where=where)

    return new_filled


@_new(np.zeros)
def new_zeros() -> Any:
    """A tensor of zeros of this tensor's dtype.

    >>> torch.tensor([1, 2]).new_zeros(3)
    tensor([0, 0, 0])
    """


@_new(np.ones)
def new_ones() -> Any:
    """A tensor of ones of this tensor's dtype.

    >>> torch.tensor([1, 2]).new_ones(3)
    tensor([1, 1, 1])
    """


@_new(uninitialized.empty)
def new_empty() -> Any:
    """A tensor of this tensor's dtype whose values are whatever was in its memory.

    >>> torch.tensor([1, 2]).new_empty(3).dtype
    torch.int64
    """


@require_tensors
def new_empty_strided(
    self: Tensor,
    size: Shape,
    stride: Shape,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """A tensor of uninitialised memory of this tensor's dtype, with the given strides.

    >>> torch.ones(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    kind = dtype_like("new_empty_strided", self, dtype)
    where = check(layout, device, pin_memory, self)
    shape = sizes("new_empty_strided", (listed("new_empty_strided", "size", size, 1),))
    strides = listed("new_empty_strided", "stride", stride, 2)
    args = (shape, strides, kind.numpy)
    return build(
        "new_empty_strided", strided_array, *args, requires_grad=requires_grad, where=where
    )


def new_full(
    self: Tensor,
    size: Shape,
    fill_value: Scalar,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """A tensor of one value, of this tensor's dtype.

    >>> torch.tensor([1.0, 2.0]).new_full((3,), 7)
    tensor([7., 7., 7.])
    """
    kind = dtype_like("new_full", self, dtype)
    where = check(layout, device, pin_memory, self)
    if not isinstance(size, (tuple, list)):
        raise errors.must_be("new_full", "size", 1, "tuple of ints", size)
    shape = sizes("new_full", (size,))
    value = fitted(number_of("new_full", "fill_value", 2, fill_value), kind)
    return build(
        "new_full",
        np.full if where else _for_each(self, np.full),
        shape,
        value,
        kind.numpy,
        requires_grad=requires_grad,
        where=where,
    )


@overridable
def new_tensor(
    self: Tensor,
    data: object,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor with a copy of `data`, of this tensor's dtype.

    >>> torch.tensor([1.0, 2.0]).new_tensor([3, 4])
    tensor([3., 4.])
    """
    kind = dtype_like("new_tensor", self, dtype)
    where = check(None, device, pin_memory, self)
    if isinstance(data, tensor_base.Tensor):
        _data.warn_of_copy("tensor.new_tensor(sourceTensor)")
    return build(
        "new_tensor", _data.copied_array, data, kind, requires_grad=requires_grad, where=where
    )


def new(self: Tensor, *args: object, **kwargs: object) -> Any:
    """A tensor of this tensor's dtype, from before `new_empty` and `new_tensor`.

    >>> torch.tensor([1.0, 2.0]).new([3, 4])
    tensor([3., 4.])
    """
    return legacy_tensor(tensor_base.Tensor, args, kwargs, self.dtype, True)
