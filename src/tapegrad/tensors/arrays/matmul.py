"""Products of tensors under the array standard's names."""

from tapegrad.core.annotations import Any, Array
from tapegrad.operators.linalg.matmul import matmul
from tapegrad.operators.pointwise.real_imag_conj_angle import conj

__all__ = ["matmul", "matrix_transpose", "vecdot"]


def matrix_transpose(x: Array, /) -> Any:
    return x.mT


def vecdot(x: Array, y: Array, /, *, axis: int = -1) -> Any:
    return ((conj(x) if x.dtype.is_complex else x) * y).sum(axis)
