"""Products of tensors under the array standard's names."""

from __future__ import annotations

from typing import Any

from tapegrad.ops.complex_part import conj
from tapegrad.ops.product import matmul

__all__ = ["matmul", "matrix_transpose", "vecdot"]


def matrix_transpose(x: Any, /) -> Any:
    return x.mT


def vecdot(x: Any, y: Any, /, *, axis: int = -1) -> Any:
    return ((conj(x) if x.dtype.is_complex else x) * y).sum(axis)
