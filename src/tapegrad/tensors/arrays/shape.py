"""Shapes in the Tensor namespace: the array standard's names and our kernels, for tensors."""

from tapegrad.core.annotations import Any, Array, Dim, Sequence
from tapegrad.dispatch.op import by_place
from tapegrad.operators import shape as _shape
from tapegrad.operators.shape import repeat_tile as _repeat_tile
from tapegrad.operators.shape.expand_broadcast import broadcast_shapes, broadcast_tensors, expand
from tapegrad.operators.shape.meshgrid_combinations_block_diag import meshgrid as _meshgrid


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Any:
    if copy:
        return _shape.reshape_flatten_atleast.unsafe_view(
            _shape.reshape_flatten_atleast.clone(x, order="C"), shape=tuple(shape)
        )
    return (
        _shape.reshape_flatten_atleast.view(x, shape)
        if copy is False
        else _shape.reshape_flatten_atleast.reshape(x, shape)
    )


def matrix_transpose(x: Array, /) -> Any:
    return _shape.permute_transpose_movedim_swapaxes.transpose(x, -2, -1)


def expand_dims(x: Array, /, *, axis: int | tuple[int, ...] = 0) -> Any:
    if isinstance(axis, int):
        return _shape.squeeze_unsqueeze.unsqueeze(x, axis)
    ndim = x.ndim + len(axis)
    for a in sorted(a % ndim for a in axis):
        x = _shape.squeeze_unsqueeze.unsqueeze(x, a)
    return x


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Any:
    for a in axis if isinstance(axis, tuple) else (axis,):
        if x.shape[a] != 1:
            raise ValueError(f"axis {a} has size {x.shape[a]}, not 1")
    return _shape.squeeze_unsqueeze.squeeze(x, axis)


def broadcast_arrays(*arrays: Array) -> list:
    return list(broadcast_tensors(*arrays))


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Any:
    if axis is None:
        return _shape.cat_stack.cat([_shape.reshape_flatten_atleast.flatten(x) for x in arrays])
    return _shape.cat_stack.cat(arrays, axis)


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Any:
    return _shape.cat_stack.stack(arrays, axis)


def unstack(x: Array, /, *, axis: int = 0) -> tuple:
    return _shape.split_chunk_unbind.unbind(x, axis)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Any:
    return _repeat_tile.repeat_interleave(x, repeats, axis)


def flip(x: Array, /, *, axis: Any = None) -> Any:
    if axis is None:
        axis = tuple(range(x.ndim))
    return _shape.flip_roll_rot90.flip(x, axis if isinstance(axis, tuple) else (axis,))


def roll(x: Array, /, shift: Any, *, axis: Dim = None) -> Any:
    return _shape.flip_roll_rot90.roll(x, shift, () if axis is None else axis)


def tril(x: Array, /, *, k: int = 0) -> Any:
    return _shape.tril_triu_diag.tril(x, k)


def triu(x: Array, /, *, k: int = 0) -> Any:
    return _shape.tril_triu_diag.triu(x, k)


def meshgrid(*arrays: Array, indexing: str = "xy") -> list:
    return list(_meshgrid(*arrays, indexing=indexing))


permute_dims = _shape.permute_transpose_movedim_swapaxes.permute
moveaxis = _shape.permute_transpose_movedim_swapaxes.movedim
tile, broadcast_to = _repeat_tile.tile, expand


# --- kernels beyond the standard -------------------------------------------------------------

view_to, as_pairs, from_pairs = expand, _shape.as_strided.as_pairs, _shape.as_strided.from_pairs
pad_select = by_place(_shape.slice_select_narrow.pad_select)
pad_slice = by_place(_shape.slice_select_narrow.pad_slice)
pad_diagonal = by_place(_shape.tril_triu_diag.pad_diagonal)
windows, sum_windows = by_place(_shape.as_strided.windows), by_place(_shape.as_strided.sum_windows)
strided, sum_strided = by_place(_shape.as_strided.pattern), by_place(_shape.as_strided.sum_pattern)


def copied(x: Array, order: str) -> Any:
    return _shape.reshape_flatten_atleast.clone(x, order=order)


def diagonal_view(x: Array, offset: int) -> Any:
    return _shape.tril_triu_diag.diagonal_axes(x, offset=offset, a=x.ndim - 2, b=x.ndim - 1)


def write_diagonal(x: Array, values: Array, offset: int) -> Any:
    if not values.ndim:
        shape = _shape.tril_triu_diag.diagonal_axes(
            x, offset=offset, a=x.ndim - 2, b=x.ndim - 1
        ).shape
        values = expand(values, shape)
    return _shape.slice_scatter.patch_diagonal(x, values, offset=offset, a=x.ndim - 2, b=x.ndim - 1)


__all__ = [
    "as_pairs", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "copied",
    "diagonal_view", "expand_dims", "flip", "from_pairs", "matrix_transpose", "meshgrid",
    "moveaxis", "pad_diagonal", "pad_select", "pad_slice", "permute_dims", "repeat", "reshape",
    "roll", "squeeze", "stack", "strided", "sum_strided", "sum_windows", "tile", "tril", "triu",
    "unstack", "view_to", "windows", "write_diagonal",
]  # fmt: skip
