"""Axes and shapes: what public functions accept, brought to one form once, at the boundary."""

from __future__ import annotations

import operator
from typing import Any

from tapegrad import errors


def axis_of(dim: Any, ndim: int) -> int:
    """A dimension counted from either end as a non-negative axis; 0-d counts as one dimension."""
    try:
        axis = operator.index(dim)
    except TypeError:
        raise TypeError(
            f"'{type(dim).__name__}' object cannot be interpreted as an integer"
        ) from None
    n = ndim or 1
    if not -n <= axis < n:
        raise errors.advised(
            IndexError(
                f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got "
                f"{axis})"
            ),
            f"The tensor has {ndim} dimension{'' if ndim == 1 else 's'}.",
        )
    return axis + n if axis < 0 else axis


def axes_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """One dimension, several or None (all) as axes, in order, none twice; () on a 0-d tensor."""
    if dim is None:
        return tuple(range(ndim))
    if not isinstance(dim, (tuple, list)):
        dim = (dim,)
    axes = tuple(axis_of(d, ndim) for d in dim)
    if len(set(axes)) != len(axes):
        twice = next(a for a in axes if axes.count(a) > 1)
        raise errors.advised(
            RuntimeError(f"dim {twice} appears multiple times in the list of dims"),
            "Name each dimension once.",
        )
    return axes if ndim else ()


def sizes_of(sizes: tuple) -> tuple[int, ...]:
    """`f(2, 3)`, `f((2, 3))` and `f(torch.Size([2, 3]))` alike as (2, 3)."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    return tuple(operator.index(n) for n in sizes)
