"""What all windows share: their arguments, and those of no point or one."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import DTypeLike, LayoutLike
from tapegrad.core.dtype import default, float32, float64
from tapegrad.core.memory_format import strided
from tapegrad.operators.creation.zeros_eye import empty, ones


def checked(name: str, M: int, dtype: DTypeLike, layout: LayoutLike) -> Any:
    """The dtype of the window, after a look at the arguments."""
    dtype = default() if dtype is None else dtype
    if M < 0:
        raise errors.value_error(
            f"{name} requires non-negative window length, got M={M}", "Give the number of points."
        )
    if layout is not strided:
        raise errors.value_error(
            f"{name} is implemented for strided tensors only, got: {layout}", "Leave layout= away."
        )
    if dtype not in (float32, float64):
        raise errors.value_error(
            f"{name} expects float32 or float64 dtypes, got: {dtype}",
            "Convert the window afterwards: window.half().",
        )
    return dtype


def short(M: int, options: dict) -> Any:
    """A window of no point, or of one."""
    return ones((1,), **options) if M else empty((0,), **options)
