"""Row and column numbers of the elements of a triangle of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import DeviceLike, DTypeLike, LayoutLike
from tapegrad.core.dtype import int32, int64
from tapegrad.core.scalar import int_of
from tapegrad.operators.creation.factory_options import build, check, known


def _indices(name: str, row: Any, col: Any, offset: Any, dtype: DTypeLike) -> tuple:
    rows, columns = int_of(name, "row", 1, row), int_of(name, "col", 2, col)
    shift = int_of(name, "offset", 3, offset)
    for label, n in (("row", rows), ("col", columns)):
        if n < 0:
            raise errors.runtime_error(
                f"{label} must be non-negative, got{n}",
                "A matrix has no negative number of rows or columns.",
            )
    kind = int64 if dtype is None else known(name, dtype)
    if kind is not int64 and kind is not int32:
        raise errors.not_implemented(
            f"\"{name}\" not implemented for '{kind.scalar_name}'",
            "Indices are torch.int64 or torch.int32.",
        )
    return rows, columns, shift, kind.numpy


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    layout: LayoutLike = None,
    pin_memory: bool = False,
) -> Any:
    """Rows and columns of the lower triangle, up to the diagonal `offset` places to the right.

    >>> torch.tril_indices(2, 3)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    check(layout, device, pin_memory)
    return build("tril_indices", _tril, *_indices("tril_indices", row, col, offset, dtype))


def _tril(rows: int, columns: int, offset: int, dtype: DTypeLike) -> np.ndarray:
    return np.array(np.tril_indices(rows, offset, columns), dtype)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    layout: LayoutLike = None,
    pin_memory: bool = False,
) -> Any:
    """Rows and columns of the upper triangle, from the diagonal `offset` places to the right on.

    >>> torch.triu_indices(2, 3)
    tensor([[0, 0, 0, 1, 1],
            [0, 1, 2, 1, 2]])
    """
    check(layout, device, pin_memory)
    return build("triu_indices", _triu, *_indices("triu_indices", row, col, offset, dtype))


def _triu(rows: int, columns: int, offset: int, dtype: DTypeLike) -> np.ndarray:
    return np.array(np.triu_indices(rows, offset, columns), dtype)


__torch__ = "tril_indices triu_indices"
