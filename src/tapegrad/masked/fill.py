"""What masked operations share: the input filled up where the mask is false, the dimensions."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import Dim, DTypeLike, Tensor
from tapegrad.core.dtype import as_dtype
from tapegrad.core.dtype import bool_ as boolean
from tapegrad.core.limits import iinfo
from tapegrad.core.shape import axis_of


def filled_where(input: Tensor, mask: Tensor | None, value: Any) -> Any:
    """The input with `value` where the mask is false."""
    if mask is None:
        return input
    if mask.ndim > input.ndim:
        raise errors.index_error(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of "
            "the input)",
            "A mask has the dimensions of the input, or fewer, or size 1.",
        )
    return input.masked_fill(~mask.to(boolean).expand(input.shape), value)


def dims_of(dim: Dim, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce; none given, and an empty list of them, mean all."""
    given = dim if isinstance(dim, (tuple, list)) else (() if dim is None else (dim,))
    axes = [axis_of(d, ndim) for d in given]
    for axis in axes:
        if axes.count(axis) > 1:
            raise errors.runtime_error(
                f"dim={axis} appears multiple times in the list of dims",
                "Name each dimension once.",
            )
    return tuple(sorted(axes)) or tuple(range(ndim))


def least(dtype: Any, largest: bool) -> Any:
    """The largest or smallest number of a dtype."""
    if dtype.is_floating_point:
        return float("inf") if largest else -float("inf")
    if dtype is boolean:
        return largest
    limits = iinfo(dtype)
    return limits.max if largest else limits.min


def cast(input: Tensor, dtype: DTypeLike) -> Any:
    return input if dtype is None else input.to(as_dtype(dtype))
