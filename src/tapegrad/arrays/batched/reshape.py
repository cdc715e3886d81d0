"""Shapes of batched arrays: the batch stays the first axis."""

import numpy as np

from tapegrad.arrays.batched.array import Batched, closed, opened, top_level, widened
from tapegrad.arrays.batched.below import below, for_batch, for_mapped, plain, values_of
from tapegrad.arrays.batched.sum_sort import shifted
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array, Callable, Dim, LevelLike, Sequence, Shape


@batching_rule
def reshape(x: Array, /, shape: tuple[int, ...], *, copy: Any = None) -> Any:
    return plain("reshape")(x, shape) if type(x) is not Batched else x.reshape(tuple(shape))


@batching_rule
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Any:
    if type(x) is not Batched:
        return plain("permute_dims")(x, axes)
    return x.transpose(tuple(axes))


@batching_rule
@for_mapped
def expand_dims(kernel: Callable, x: Array, /, *, axis: int | tuple[int, ...] = 0) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    return kernel(x.value, axis=shifted(axes, len(x.shape) + len(axes)))


@batching_rule
@for_mapped
def squeeze(kernel: Callable, x: Array, /, axis: int | tuple[int, ...]) -> Any:
    return kernel(x.value, shifted(axis, len(x.shape)))


@batching_rule
@for_mapped
def moveaxis(kernel: Callable, x: Array, source: Array, destination: Any, /) -> Any:
    return kernel(x.value, shifted(source, len(x.shape)), shifted(destination, len(x.shape)))


def _broadcast(kernel: Callable, x: Array, /, shape: tuple[int, ...]) -> Any:
    value = widened(x.value, len(shape))
    return kernel(value, (value.shape[0], *shape))


broadcast_to = batching_rule(for_mapped(_broadcast, "broadcast_to"))
view_to = batching_rule(for_mapped(_broadcast, "view_to"))


@batching_rule
def broadcast_arrays(*arrays: Array) -> list:
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return [broadcast_to(x, shape) for x in arrays]


@batching_rule
@for_batch
def concat(level: LevelLike, arrays: Sequence[Array], /, *, axis: int | None = 0) -> Any:
    if axis is None:
        arrays, axis = [reshape(x, (-1,)) for x in arrays], 0
    values = values_of(level, *arrays)
    out = namespace_of(values).concat(values, axis=axis % len(arrays[0].shape) + 1)
    return closed(level, out, True)


@batching_rule
@for_batch
def stack(level: Any, arrays: Sequence[Array], /, *, axis: int = 0) -> Any:
    values = values_of(level, *arrays)
    out = namespace_of(values).stack(values, axis=axis % (len(arrays[0].shape) + 1) + 1)
    return closed(level, out, True)


@batching_rule
def unstack(x: Array, /, *, axis: int = 0) -> tuple:
    if type(x) is not Batched:
        return plain("unstack")(x, axis=axis)
    moved = shifted(axis, len(x.shape)) if x.mapped else axis
    return tuple(closed(x.level, below("unstack", x)(x.value, axis=moved), x.mapped))


@batching_rule
@for_mapped
def tile(kernel: Callable, x: Array, repetitions: tuple[int, ...], /) -> Any:
    value = widened(x.value, max(len(repetitions), len(x.shape)))
    missing = value.ndim - 1 - len(repetitions)
    return kernel(value, (1, *(1,) * missing, *repetitions))


@batching_rule
def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Any:
    if type(repeats) is Batched and repeats.mapped:
        from tapegrad.arrays.batched.per_sample import looped

        return looped("repeat")(x, repeats, axis=axis)
    return _repeat(x, repeats, axis=axis)


def _repeated(kernel: Callable, x: Array, repeats: Any, /, *, axis: int | None) -> Any:
    if axis is None:
        x, axis = x.ravel(), 0
    return kernel(x.value, repeats, axis=shifted(axis, len(x.shape)))


_repeat = for_mapped(_repeated, "repeat")


@batching_rule
@for_mapped
def flip(kernel: Callable, x: Array, /, *, axis: Any = None) -> Any:
    return kernel(x.value, axis=shifted(axis, len(x.shape)))


@batching_rule
@for_mapped
def roll(kernel: Callable, x: Array, /, shift: Array, *, axis: Dim = None) -> Any:
    if axis is None:
        return roll(x.ravel(), shift, axis=0).reshape(x.shape).value
    return kernel(x.value, shift, axis=shifted(axis, len(x.shape)))


@batching_rule
def meshgrid(*arrays: Array, indexing: str = "xy") -> list:
    if top_level(arrays) is None:
        return list(plain("meshgrid")(*arrays, indexing=indexing))
    order = list(range(len(arrays)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    sizes = [arrays[i].size for i in order]
    found = []
    for i, x in enumerate(arrays):
        shape = [1] * len(arrays)
        shape[order.index(i)] = x.size
        found.append(broadcast_to(reshape(x, tuple(shape)), tuple(sizes)))
    return found


# --- parts and patterns --------------------------------------------------------------------------


@batching_rule
@for_mapped
def pad_select(kernel: Callable, x: Array, shape: Shape, axis: int, index: int) -> Any:
    return kernel(x.value, _whole(x, shape), axis + 1, index)


@batching_rule
@for_mapped
def pad_slice(
    kernel: Callable, x: Array, shape: Shape, axis: int, start: int, stop: int, step: int
) -> Any:
    return kernel(x.value, _whole(x, shape), axis + 1, start, stop, step)


@batching_rule
@for_mapped
def pad_diagonal(kernel: Callable, x: Array, shape: Shape, offset: int) -> Any:
    return kernel(x.value, _whole(x, shape), offset)


def _whole(x: Array, shape: Any) -> tuple[int, ...]:
    return (x.value.shape[0], *shape)


@batching_rule
@for_batch
def write_diagonal(level: LevelLike, x: Array, values: Array, offset: int) -> Any:
    _, (_, new), (_, mapped) = opened((x, values))
    (value,) = values_of(level, x)
    if mapped:
        new = widened(new, len(x.shape) - 1)
    function = namespace_of((value, new)).write_diagonal
    return closed(level, function(value, new, offset), True)


@batching_rule
@for_mapped
def windows(kernel: Callable, x: Array, axis: int, size: int, step: int) -> Any:
    if not x.shape:
        return x.value.reshape((x.value.shape[0], 1))[:, : 1 if size else 0]
    return kernel(x.value, axis + 1, size, step)


@batching_rule
@for_mapped
def sum_windows(kernel: Callable, g: Array, shape: Any, axis: int, size: int, step: int) -> Any:
    if not len(shape):
        return (g.reshape(()) if size else g.sum()).value
    return kernel(g.value, _whole(g, shape), axis + 1, size, step)


@batching_rule
@for_mapped
def strided(kernel: Callable, x: Array, shape: Any, strides: Any, offset: int, own: Any) -> Any:
    item, size = x.dtype.itemsize, x.value.shape[0]
    if any(
        n > 1 and s != item * o for n, s, o in zip(x.shape, x.value.strides[1:], own, strict=True)
    ):  # laid out anew: samples lie apart
        step = _apart(_extent(x.shape, own), _extent(shape, strides, offset))
    else:
        step = x.value.strides[0] // item if size > 1 else 0
    return kernel(x.value, (size, *shape), (step, *strides), offset, (step, *own))


@batching_rule
@for_mapped
def sum_strided(kernel: Callable, g: Array, shape: Any, strides: Any, offset: int, own: Any) -> Any:
    step = _apart(_extent(shape, own), _extent(g.shape, strides, offset))  # samples lie apart
    return kernel(g.value, _whole(g, shape), (step, *strides), offset, (step, *own))


def _apart(*extents: tuple[int, int]) -> int:
    """A step between samples so large that patterns of these extents have no place in common."""
    return max(e[1] for e in extents) - min(e[0] for e in extents) + 1


def _extent(shape: Any, strides: Any, offset: int = 0) -> tuple[int, int]:
    """The first and last place of a pattern in memory."""
    ends = [(n - 1) * s for n, s in zip(shape, strides, strict=True) if n]
    return offset + sum(min(e, 0) for e in ends), offset + sum(max(e, 0) for e in ends)
