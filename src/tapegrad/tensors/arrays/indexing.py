"""Indexing in the Tensor namespace: the array standard's names and our kernels, for tensors."""

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array
from tapegrad.dispatch.op import by_place
from tapegrad.operators.indexing import gather_index_select, scatter, scatter_reduce, setitem
from tapegrad.operators.indexing.masked_select_nonzero import nonzero as _nonzero
from tapegrad.operators.shape import slice_scatter
from tapegrad.operators.shape.expand_broadcast import expand


def take(x: Array, indices: Array, /, *, axis: int = 0) -> Any:
    return gather_index_select.index_select(x, axis, indices)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Any:
    return gather_index_select.take_along_dim(x, indices, axis)


def nonzero(x: Array, /) -> tuple:
    return _nonzero(x, as_tuple=True)


# --- kernels beyond the standard ---------------------------------------------------------------

read_at = by_place(gather_index_select.index_at)
gather_along = by_place(gather_index_select.gather_along)
write_at, write_mask = by_place(setitem.write_at), setitem.write_mask
write_part = by_place(slice_scatter.patch_part)


def add_at(x: Array, shape: Any, index: Array, axes: tuple[int, ...]) -> Any:
    return gather_index_select.add_at(x, index, shape=tuple(shape), axes=axes)


def spread_mask(x: Array, shape: Any, mask: Array) -> Any:
    return gather_index_select.spread_mask(x, mask, shape=tuple(shape))


def count(mask: Array) -> int:
    return namespace_of((mask._array,)).count(mask._array)


def add_along(x: Array, shape: Any, index: Array, axis: int) -> Any:
    return gather_index_select.add_along(x, index, shape=tuple(shape), axis=axis)


def scatter_along(x: Array, index: Array, values: Array, axis: int, how: str) -> Any:
    if not values.ndim:
        values = expand(values, index.shape)
    if how == "write":
        return scatter.scatter_values(x, values, index, axis=axis)
    if how == "add":
        return scatter.scatter_sum(x, values, index, axis=axis)
    if how == "multiply":
        return scatter_reduce.scatter_product(x, values, index, axis=axis, include=True)
    return scatter_reduce.scatter_extremum(x, values, index, axis=axis, how=how, include=True)


__all__ = [
    "add_along", "add_at", "count", "gather_along", "nonzero", "read_at", "scatter_along",
    "spread_mask", "take", "take_along_axis", "write_at", "write_mask", "write_part",
]  # fmt: skip
