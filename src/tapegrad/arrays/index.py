"""Kernels of indexing: reading at index arrays, and adding up or writing there."""

from __future__ import annotations

from typing import Any

import numpy as np


def _key(x: Any, index: Any, axes: tuple[int, ...]) -> tuple:
    """The NumPy index of arrays on `axes`: `index` itself, or its first axis one for each."""
    parts = (index,) if len(axes) == 1 else index
    key: list[Any] = [slice(None)] * (axes[-1] + 1)
    for axis, part in zip(axes, parts, strict=True):
        key[axis] = part
    return tuple(key)


def read_at(x: Any, index: Any, axes: tuple[int, ...]) -> Any:
    """`x` at index arrays on `axes`; where the axes are apart, the indexed axes come first."""
    return x[_key(x, index, axes)]


def add_at(g: Any, shape: Any, index: Any, axes: tuple[int, ...]) -> Any:
    """Zeros of `shape` with `g` added up at index arrays: the reverse of `read_at`."""
    out = np.zeros(shape, g.dtype)
    if len(axes) == 1 and index.ndim == 1 and g.size > index.size:
        if axes[0]:
            _add_rows(np.moveaxis(out, axes[0], 0), index, np.moveaxis(g, axes[0], 0))
        else:
            _add_rows(out, index, g)
    else:
        np.add.at(out, _key(out, index, axes), g)
    return out


def _add_rows(out: Any, index: Any, rows: Any) -> None:
    """Add `rows[i]` to `out[index[i]]`: sorted, so that each row is written once."""
    if not index.size:
        return
    n = out.shape[0]
    index = np.where(index < 0, index + n, index)
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.empty(ordered.size, bool)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    if starts.size == ordered.size:  # no row twice
        out[index] = rows
    else:
        out[ordered[starts]] = np.add.reduceat(rows[order], starts, axis=0)


def spread_mask(g: Any, shape: Any, mask: Any) -> Any:
    """Zeros of `shape` with `g` where `mask`, which may have fewer axes, is true."""
    out = np.zeros(shape, g.dtype)
    out[mask] = g
    return out
