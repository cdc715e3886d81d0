"""Padding with one number."""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import TensorLike
from tapegrad.core.shape import ints_of
from tapegrad.dispatch.op import jvp, primitive, vjp

__torch__ = "constant_pad_nd"


@jvp(x=lambda xp, t, pad: xp.pad_constant(t, pad, 0))
@vjp(x=lambda xp, g, pad: xp.pad_constant(g, tuple([-n for n in pad]), 0))
@primitive(node="ConstantPadNdBackward0", numbers=False, kernels=("pad_constant",))
def constant_pad(xp, x, *, pad, value):
    """`x` with a border of `value`: two widths for each axis, the last axis first."""
    return xp.pad_constant(x, pad, value)


@tensor_kernel
def pad_constant(x: TensorLike, pad: tuple[int, ...], value: Any) -> Any:
    """`constant_pad` in the Tensor namespace."""
    return constant_pad(x, pad=pad, value=value)


def constant_pad_nd(input: TensorLike, pad: Any, value: Any = 0) -> Any:
    """The tensor with a border of `value`; `pad` has two widths an axis, the last axis first.

    Negative widths cut off.

    >>> torch.constant_pad_nd(torch.ones(1, 2), (1, 0, 0, 1))
    tensor([[0., 1., 1.],
            [0., 0., 0.]])
    """
    if not hasattr(input, "_array"):
        raise errors.must_be("constant_pad_nd", "input", 1, "Tensor", input)
    if not isinstance(pad, (tuple, list)):
        raise errors.must_be("constant_pad_nd", "pad", 2, "tuple of ints", pad)
    widths = ints_of("constant_pad_nd", "pad", (pad,), 2)
    shape = input._array.shape
    if len(widths) % 2:
        raise errors.runtime_error(
            f"Length of pad must be even but instead it equals {len(widths)}",
            "Give the widths before and after, for each axis from the last on.",
        )
    if len(widths) > 2 * len(shape):
        raise errors.runtime_error(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(widths)} while the input has {len(shape)} dimensions.",
            "Each axis has two widths.",
        )
    for i in range(0, len(widths), 2):
        n = shape[-1 - i // 2]
        if n + min(widths[i], 0) + min(widths[i + 1], 0) < 0:
            raise errors.runtime_error(
                "narrow(): length must be non-negative.",
                f"Dimension {len(shape) - 1 - i // 2} has {n} elements: no more can be cut off.",
            )
    return constant_pad(input, pad=widths, value=_number(input, value))


def _number(input: TensorLike, value: Any) -> Any:
    """The border's number in the dtype of the tensor."""
    if hasattr(value, "_array"):
        value = value.item()
    dtype = input.dtype
    if isinstance(value, complex) and not dtype.is_complex:
        raise _overflow(dtype)
    if dtype.name == "bool":
        return bool(value)
    if dtype.category != 1:
        return value
    value = int(value)
    bits = 8 * dtype.itemsize
    low = -(1 << (bits - 1)) if dtype.is_signed else 0
    if not low <= value < low + (1 << bits):
        raise _overflow(dtype)
    return value


_C_NAMES = {"float32": "float", "float64": "double", "float16": "c10::Half"}


def _overflow(dtype: Any) -> RuntimeError:
    name = _C_NAMES.get(dtype.name, f"{dtype.name}_t")
    return errors.runtime_error(
        f"value cannot be converted to type {name} without overflow",
        f"Give a number that {dtype} can hold.",
    )
