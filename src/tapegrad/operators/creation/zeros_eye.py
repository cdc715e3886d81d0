"""Tensors of one value, of none in particular, and the identity matrix."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tapegrad.core import errors, uninitialized
from tapegrad.core import memory_format as _memory_format
from tapegrad.core.annotations import (
    DeviceLike,
    DTypeLike,
    LayoutLike,
    MemoryFormat,
    Out,
    Scalar,
    Shape,
)
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import bool_, default, default_complex, int64
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.family import family
from tapegrad.core.memory_format import SPARSE_LAYOUTS
from tapegrad.core.registration import SPARSE
from tapegrad.core.scalar import fitted, int_of, number_of
from tapegrad.core.shape import ints_of, listed
from tapegrad.core.torch_function import IN_USE, handed_to_argument, handed_to_mode
from tapegrad.operators.creation.factory_options import build, check, check_out, into, known, native


def sizes(
    name: str, given: tuple, size: Shape | None = None, is_resized: bool = False
) -> tuple[int, ...]:
    """The shape meant by `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`, perhaps of a given `out`."""
    if size is not None and not given:
        given = (listed(name, "size", size),)
    elif not given:
        text = f'{name}() missing 1 required positional arguments: "size"'
        raise errors.type_error(text, f"Pass a shape: {name}(2, 3) or {name}((2, 3)).")
    shape = ints_of(name, "size", given)
    n_bytes = 1 if 0 in shape else 16
    for n in shape:
        n_bytes *= n or 1
        if n < 0:
            what = f"Trying to create tensor with negative dimension {n}: {list(shape)}"
            if is_resized:
                what = "numel: integer multiplication overflow"
            elif name == "zeros":
                what = "zeros: Dimension size must be non-negative."
            raise errors.runtime_error(what, "A dimension has 0 elements or more.")
    if n_bytes >= 2**63:
        if prod([n or 1 for n in shape[1:]]) >= 2**63:
            text = "Stride calculation overflowed"
            raise errors.runtime_error(text, f"The shape is {list(shape)}.")
        raise errors.overflow(shape)
    return shape


@family
def _filled(make: Callable) -> Callable:
    name = make.__name__

    def filled(
        *shape: Shape,
        size: Shape | None = None,
        out: Out = None,
        dtype: DTypeLike = None,
        layout: LayoutLike = None,
        device: DeviceLike = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Any:
        if IN_USE and (again := handed_to_mode(filled, shape, locals())):
            return again()
        if layout in SPARSE_LAYOUTS:
            return SPARSE().laid_out(name, sizes(name, shape, size), dtype, requires_grad, layout)
        try:
            where = check(layout, device, pin_memory)
            wanted = sizes(name, shape, size, out is not None)
            if out is not None:
                check_out(name, out, dtype)
                return into(name, out, make(wanted, out._array.dtype), requires_grad)
            kind = native(name, dtype)
        except TypeError:
            again = handed_to_argument(filled, shape, locals())
            if again is None:
                raise
            return again()
        return build(name, make, wanted, kind, requires_grad=requires_grad, where=where)

    return filled


@_filled(np.zeros)
def zeros() -> Any:
    """A tensor of zeros.

    Shape: the sizes that are given.

    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """


@_filled(np.ones)
def ones() -> Any:
    """A tensor of ones.

    Shape: the sizes that are given.

    >>> torch.ones(2, dtype=torch.int64)
    tensor([1, 1])
    """


def empty(
    *shape: Any,
    size: Shape | None = None,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: MemoryFormat = _memory_format.contiguous_format,
) -> Any:
    """A tensor whose values are whatever was in its memory.

    Shape: the sizes that are given.

    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    if IN_USE and (again := handed_to_mode(empty, shape, locals())):
        return again()
    if layout in SPARSE_LAYOUTS:
        return SPARSE().laid_out("empty", sizes("empty", shape, size), dtype, requires_grad, layout)
    try:
        where = check(layout, device, pin_memory)
        wanted = sizes("empty", shape, size)
        if out is not None:
            check_out("empty", out, dtype)
            return into("empty", out, uninitialized.empty(wanted, out._array.dtype), requires_grad)
        if memory_format is not _memory_format.contiguous_format:
            _memory_format.check_format("empty", memory_format, len(wanted))
            if memory_format is _memory_format.preserve_format:
                text = "unsupported memory format Preserve"
                raise errors.runtime_error(text, "There is nothing to preserve: empty_like has it.")
        kind = native("empty", dtype)
    except TypeError:
        again = handed_to_argument(empty, shape, locals())
        if again is None:
            raise
        return again()
    return build(
        "empty",
        uninitialized.arranged,
        wanted,
        kind,
        memory_format,
        requires_grad=requires_grad,
        where=where,
    )


@require_tensors
def full(
    size: Shape,
    fill_value: Scalar,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """A tensor of one value; its dtype is that of the value unless it is given.

    Shape: `size`.

    >>> torch.full((2,), 3.5), torch.full((2,), True)
    (tensor([3.5000, 3.5000]), tensor([True, True]))
    """
    where = check(layout, device, pin_memory)
    if not isinstance(size, (tuple, list)):
        raise errors.must_be("full", "size", 1, "tuple of ints", size)
    shape = sizes("full", (size,))
    value = number_of("full", "fill_value", 2, fill_value)
    if out is not None:
        check_out("full", out, dtype)
        value = fitted(value, out.dtype)
        return into("full", out, np.full(shape, value, out._array.dtype), requires_grad)
    kind = dtype_of_number(value) if dtype is None else known("full", dtype)
    return build(
        "full",
        np.full,
        shape,
        fitted(value, kind),
        kind.numpy,
        requires_grad=requires_grad,
        where=where,
    )


def dtype_of_number(value: Scalar) -> Dtype:
    """The dtype of a tensor made from one Python number."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return default_complex() if isinstance(value, complex) else default()


@require_tensors
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """The identity matrix of `n` rows and `m` columns (default: `n`).

    Shape: (n, m).
    Raises: RuntimeError for a negative number.

    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    where = check(layout, device, pin_memory)
    rows = int_of("eye", "n", 1, n)
    columns = rows if m is None else int_of("eye", "m", 2, m)
    for name, count in (("n", rows), ("m", columns)):
        if count < 0:
            text = f"{name} must be greater or equal to 0, got {count}"
            raise errors.runtime_error(text, "A matrix has no negative number of rows or columns.")
    if out is not None:
        check_out("eye", out, dtype)
        return into("eye", out, np.eye(rows, columns, dtype=out._array.dtype), requires_grad)
    dtype = native("eye", dtype)
    return build("eye", np.eye, rows, columns, 0, dtype, requires_grad=requires_grad, where=where)


__all__ = ["empty", "eye", "full", "ones", "zeros"]
