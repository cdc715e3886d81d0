"""Row and column numbers of the elements of a triangle of a matrix."""

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, DeviceLike, DTypeLike, LayoutLike
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import int32, int64
from tapegrad.core.family import family
from tapegrad.core.scalar import int_of
from tapegrad.operators.creation.factory_options import build, check, known


def _indices(name: str, row: Any, col: Any, offset: Any, dtype: DTypeLike) -> tuple:
    rows, columns = int_of(name, "row", 1, row), int_of(name, "col", 2, col)
    shift = int_of(name, "offset", 3, offset)
    for label, n in (("row", rows), ("col", columns)):
        if n < 0:
            text = f"{label} must be non-negative, got{n}"
            raise errors.runtime_error(text, "A matrix has no negative number of rows or columns.")
    kind = int64 if dtype is None else known(name, dtype)
    if kind is not int64 and kind is not int32:
        text = f"\"{name}\" not implemented for '{kind.scalar_name}'"
        raise errors.not_implemented(text, "Indices are torch.int64 or torch.int32.")
    return rows, columns, max(-rows, min(shift, columns)), kind.numpy


@family
def _triangle(numbers: Callable) -> Callable:
    name = numbers.__name__

    def make(rows: int, columns: int, offset: int, dtype: DTypeLike) -> np.ndarray:
        return np.array(numbers(rows, offset, columns), dtype)

    def indices(
        row: int,
        col: int,
        offset: int = 0,
        *,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        layout: LayoutLike = None,
        pin_memory: bool = False,
    ) -> Any:
        where = check(layout, device, pin_memory)
        return build(name, make, *_indices(name, row, col, offset, dtype), where=where)

    return indices


@require_tensors
@_triangle(np.tril_indices)
def tril_indices() -> Any:
    """Rows and columns of the lower triangle, up to the diagonal `offset` places to the right.

    Shape: (2, number of places).

    >>> torch.tril_indices(2, 3)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """


@require_tensors
@_triangle(np.triu_indices)
def triu_indices() -> Any:
    """Rows and columns of the upper triangle, from the diagonal `offset` places to the right on.

    Shape: (2, number of places).

    >>> torch.triu_indices(2, 3)
    tensor([[0, 0, 0, 1, 1],
            [0, 1, 2, 1, 2]])
    """


__torch__ = "tril_indices triu_indices"
