"""Copies of views: what the view operator of the same name shows, with memory of its own."""

from __future__ import annotations

from typing import Any

from tapegrad.ops.axis import permute, squeeze, t, transpose, unsqueeze
from tapegrad.ops.expand import expand
from tapegrad.ops.section import split, split_with_sizes, unbind
from tapegrad.ops.shape import clone, view
from tapegrad.ops.slice import select
from tapegrad.ops.stride import alias, as_strided, unfold, view_as_complex, view_as_real
from tapegrad.ops.triangle import diagonal
from tapegrad.shape import axis_of


def alias_copy(input: Any) -> Any:
    """A copy of the tensor."""
    return clone(alias(input))


def as_strided_copy(input: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """A copy of `as_strided`."""
    return clone(as_strided(input, size, stride, storage_offset), order="C")


def diagonal_copy(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A copy of `diagonal`."""
    return clone(diagonal(input, offset, dim1, dim2), order="C")


def expand_copy(input: Any, size: Any, *, implicit: bool = False) -> Any:
    """A copy of `expand`."""
    return clone(expand(input, size), order="C")


def permute_copy(input: Any, dims: Any) -> Any:
    """A copy of `permute`."""
    return clone(permute(input, dims), order="C")


def select_copy(input: Any, dim: int, index: int) -> Any:
    """A copy of `select`."""
    return clone(select(input, dim, index), order="C")


def slice_copy(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """A copy of the slice `start:end:step` of a dimension."""
    key = (slice(None),) * axis_of(dim, input._array.ndim) + (slice(start, end, step),)
    return clone(input[key], order="C")


def split_copy(input: Any, split_size: int, dim: int = 0) -> tuple:
    """Copies of the parts that `split` gives."""
    return tuple([clone(part, order="C") for part in split(input, split_size, dim)])


def split_with_sizes_copy(input: Any, split_sizes: Any, dim: int = 0) -> tuple:
    """Copies of the parts that `split_with_sizes` gives."""
    return tuple([clone(part, order="C") for part in split_with_sizes(input, split_sizes, dim)])


def squeeze_copy(input: Any, dim: Any = None) -> Any:
    """A copy of `squeeze`."""
    return clone(squeeze(input, dim), order="C")


def t_copy(input: Any) -> Any:
    """A copy of `t`."""
    return clone(t(input), order="C")


def transpose_copy(input: Any, dim0: int, dim1: int) -> Any:
    """A copy of `transpose`."""
    return clone(transpose(input, dim0, dim1), order="C")


def unbind_copy(input: Any, dim: int = 0) -> tuple:
    """Copies of the slices that `unbind` gives."""
    return tuple([clone(part, order="C") for part in unbind(input, dim)])


def unfold_copy(input: Any, dimension: int, size: int, step: int) -> Any:
    """A copy of `unfold`."""
    return clone(unfold(input, dimension, size, step), order="C")


def unsqueeze_copy(input: Any, dim: int) -> Any:
    """A copy of `unsqueeze`."""
    return clone(unsqueeze(input, dim), order="C")


def view_as_complex_copy(input: Any) -> Any:
    """A copy of `view_as_complex`."""
    return clone(view_as_complex(input), order="C")


def view_as_real_copy(input: Any) -> Any:
    """A copy of `view_as_real`."""
    return clone(view_as_real(input), order="C")


def view_copy(input: Any, *size: Any) -> Any:
    """A copy of `view`."""
    return clone(view(input, *size), order="C")


__all__ = [
    "alias_copy",
    "as_strided_copy",
    "diagonal_copy",
    "expand_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_as_complex_copy",
    "view_as_real_copy",
    "view_copy",
]
