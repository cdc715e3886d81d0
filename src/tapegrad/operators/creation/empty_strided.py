"""Uninitialised tensors whose elements lie in memory in an order of choice."""

import numpy as np

from tapegrad.core import errors, memory_format, uninitialized
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, LayoutLike, Shape
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import ints_of, listed
from tapegrad.operators.creation.factory_options import build, check, native
from tapegrad.operators.creation.zeros_eye import sizes


@require_tensors
def empty_strided(
    size: Shape,
    stride: Shape,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of uninitialised memory with the given strides, counted in elements.

    Shape: `size`, with as many strides.

    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    where = check(layout, device, pin_memory)
    shape = sizes("empty_strided", (listed("empty_strided", "size", size, 1),))
    strides = listed("empty_strided", "stride", stride, 2)
    dtype = native("empty_strided", dtype)
    return build(
        "empty_strided",
        strided_array,
        shape,
        strides,
        dtype,
        requires_grad=requires_grad,
        where=where,
    )


def strided_array(shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Uninitialised memory just large enough, with the given strides, counted in elements."""
    if len(shape) != len(strides):
        raise errors.runtime_error(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(strides)})",
            "Give one stride for each dimension.",
        )
    if any(step < 0 for step in strides):
        raise errors.overflow(shape, strides, "Strides are not negative.")
    dtype = np.dtype(dtype)
    n = memory_format.span(shape, strides)
    if n * dtype.itemsize >= 2**63:
        raise errors.overflow(shape, strides)
    memory = uninitialized.empty(n, dtype)
    return np.ndarray(shape, dtype, memory, 0, [step * dtype.itemsize for step in strides])


@require_tensors
def empty_permuted(
    size: Shape,
    physical_layout: Any,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of uninitialised memory whose dimensions follow each other there as said.

    Shape: `size`.
    Raises: RuntimeError where `physical_layout` does not name each dimension once.

    >>> torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride()
    (3, 1, 6)
    """
    where = check(layout, device, pin_memory)
    shape = sizes("empty_permuted", (size,))
    order = ints_of("empty_permuted", "physical_layout", (physical_layout,), 2)
    if len(order) != len(shape):
        raise errors.runtime_error(
            "Number of dimensions in size does not match the length of the physical_layout; "
            f"i.e. len(size) = {len(shape)} is not equal to len(physical_layout) = {len(order)}",
            "Name each dimension once, the outermost in memory first.",
        )
    for axis in order:
        if not 0 <= axis < len(shape) or order.count(axis) > 1:
            raise errors.runtime_error(
                "Duplicate dim not allowed"
                if order.count(axis) > 1
                else f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, "
                f"but got {axis} at index {order.index(axis)}).  NB: negative dims not "
                "currently supported; file an issue if you want it.",
                "Name each dimension once, the outermost in memory first.",
            )
    dtype = native("empty_permuted", dtype)
    return build(
        "empty_permuted",
        memory_format.permuted,
        shape,
        dtype,
        order,
        requires_grad=requires_grad,
        where=where,
    )


__all__ = ["empty_permuted", "empty_strided"]
