"""Kernels of indexing: reading at index arrays, and adding up or writing there."""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array, Shape


def _key(index: Array, axes: tuple[int, ...]) -> tuple:
    """The NumPy index of arrays on `axes`: `index` itself, or its first axis one for each."""
    parts = (index,) if len(axes) == 1 else index
    key: list[Any] = [slice(None)] * (axes[-1] + 1)
    for axis, part in zip(axes, parts, strict=True):
        key[axis] = part
    return tuple(key)


@kernel
def read_at(x: Array, index: Array, axes: tuple[int, ...]) -> Any:
    """`x` at index arrays on `axes`; where the axes are apart, the indexed axes come first."""
    return x[_key(index, axes)]


@kernel
def add_at(g: Array, shape: Shape, index: Array, axes: tuple[int, ...]) -> Any:
    """Zeros of `shape` with `g` added up at index arrays: the reverse of `read_at`."""
    out = np.zeros(shape, g.dtype)
    if len(axes) == 1 and index.ndim == 1 and g.size > index.size:
        if axes[0]:
            _add_rows(np.moveaxis(out, axes[0], 0), index, np.moveaxis(g, axes[0], 0))
        else:
            _add_rows(out, index, g)
    else:
        np.add.at(out, _key(index, axes), g)
    return out


_FEW = 1 << 15  # elements: so few rows are added element by element


def _add_rows(out: Array, index: Array, rows: Any, onto: bool = False) -> None:
    """Add `rows[i]` to `out[index[i]]`, zeros if not `onto`: many rows are written once each."""
    if not index.size:
        return
    n = out.shape[0]
    if rows.size <= _FEW and out.flags.c_contiguous:
        width = out.size // n
        places = (index * width)[:, None] + np.arange(width)
        np.add.at(out.reshape(-1), places.reshape(-1), rows.reshape(-1))
        return
    index = np.where(index < 0, index + n, index)
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.empty(ordered.size, bool)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    if starts.size < ordered.size:  # some row twice
        # in its dtype: NumPy would count truth values
        rows = np.add.reduceat(rows[order], starts, axis=0, dtype=rows.dtype)
        index = ordered[starts]
    if onto:
        out[index] += rows
    else:
        out[index] = rows


@kernel
def spread_mask(g: Array, shape: Shape, mask: Array) -> Any:
    """Zeros of `shape` with `g` where `mask`, which may have fewer axes, is true."""
    out = np.zeros(shape, g.dtype)
    out[mask] = g
    return out


def store_at(out: Array, values: Array, index: Array, axes: tuple[int, ...], add: bool) -> None:
    """Write `values` into the array `out` itself at index arrays on `axes`, or add them."""
    if not add:
        out[_key(index, axes)] = values
    elif len(axes) == 1 and index.ndim == 1 and out.ndim > 1 and 0 not in out.strides:
        (axis,) = axes
        shape = (*out.shape[:axis], index.size, *out.shape[axis + 1 :])
        if values.shape != shape:
            values = np.broadcast_to(values, shape)
        if axis:
            out, values = np.moveaxis(out, axis, 0), np.moveaxis(values, axis, 0)
        _add_rows(out, index, values, True)
    else:
        np.add.at(out, _key(index, axes), values)


@kernel
def write_at(x: Array, values: Array, index: Array, axes: tuple[int, ...], add: bool) -> Any:
    """A copy of `x` with `values` at index arrays on `axes`, or with them added there."""
    out = np.array(x)
    store_at(out, values, index, axes, add)
    return out


@kernel
def write_mask(x: Array, values: Array, mask: Array) -> Any:
    """A copy of `x` with `values` where `mask` is true."""
    out = np.array(x)
    out[mask] = values
    return out


@kernel
def write_part(x: Array, values: Array, axis: int, key: Array) -> Any:
    """A copy of `x` with `values` at the index or slice `key` of `axis`."""
    out = np.array(x)
    out[(slice(None),) * axis + (key,)] = values
    return out


# --- along one axis: an index for each element ---------------------------------------------------


def _grid(index: Array, axis: int) -> tuple:
    """The NumPy index that reads one element of an axis for each element of `index`."""
    key: list[Any] = []
    for i, n in enumerate(index.shape):
        key.append(index if i == axis else np.arange(n).reshape((n,) + (1,) * (index.ndim - i - 1)))
    return tuple(key)


@kernel
def gather_along(x: Array, index: Array, axis: int) -> Any:
    """For each element of `index` the element of `x` that has its place, but for `axis`."""
    if not x.ndim:
        x = x.reshape(1)
    return x[_grid(index, axis)] if index.ndim else x[index, ...].reshape(())


@kernel
def scatter_along(x: Array, index: Array, values: Array, axis: int, how: str) -> Any:
    """A copy of `x` with `values` written, added, ... at the places `gather_along` reads."""
    out = np.array(x, order="C")
    if not index.size:
        return out
    seen = out.reshape(1) if not out.ndim else out
    key = _grid(index, axis) if index.ndim else (index,)
    if not index.ndim:
        values = values.reshape(())
    elif values.ndim:
        values = values[tuple(slice(n) for n in index.shape)]
    if how == "write":
        seen[key] = values
    else:
        _UFUNCS[how].at(seen, key, values)
    return out


_UFUNCS = {"add": np.add, "multiply": np.multiply, "amax": np.maximum, "amin": np.minimum}


@kernel
def add_along(g: Array, shape: Shape, index: Array, axis: int) -> Any:
    """Zeros of `shape` with `g` added up at the places `gather_along` reads: its reverse."""
    return scatter_along(np.zeros(shape, g.dtype), index, g, axis, "add")


@kernel
def count(mask: Array) -> int:
    """How many are true."""
    return int(np.count_nonzero(mask))
