"""Shapes of batched arrays: the batch stays the first axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapegrad.arrays.batched.array import Batched, closed, opened, top_level, widened
from tapegrad.arrays.batched.below import below, for_batch, plain, values_of
from tapegrad.arrays.batched.sum_sort import shifted
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Array


@batching_rule
def reshape(x: Array, /, shape: tuple[int, ...], *, copy: Any = None) -> Any:
    if type(x) is not Batched:
        return plain("reshape")(x, shape)
    return x.reshape(tuple(shape))


@batching_rule
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Any:
    if type(x) is not Batched:
        return plain("permute_dims")(x, axes)
    return x.transpose(tuple(axes))


@batching_rule
def expand_dims(x: Array, /, *, axis: int | tuple[int, ...] = 0) -> Any:
    if type(x) is not Batched:
        return plain("expand_dims")(x, axis=axis)
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = len(x.shape) + len(axes)
    moved = tuple([a % ndim + x.mapped for a in axes])
    return closed(x.level, below("expand_dims", x)(x.value, axis=moved), x.mapped)


@batching_rule
def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Any:
    if type(x) is not Batched:
        return plain("squeeze")(x, axis)
    moved = shifted(axis, len(x.shape)) if x.mapped else axis
    return closed(x.level, below("squeeze", x)(x.value, moved), x.mapped)


@batching_rule
def moveaxis(x: Array, source: Array, destination: Any, /) -> Any:
    if type(x) is not Batched:
        return plain("moveaxis")(x, source, destination)
    if x.mapped:
        source, destination = shifted(source, len(x.shape)), shifted(destination, len(x.shape))
    return closed(x.level, below("moveaxis", x)(x.value, source, destination), x.mapped)


def _broadcast(name: str) -> Callable:
    def function(x: Array, /, shape: tuple[int, ...]) -> Any:
        if type(x) is not Batched:
            return plain(name)(x, shape)
        if not x.mapped:
            return closed(x.level, below(name, x)(x.value, shape), False)
        value = widened(x.value, len(shape))
        return closed(x.level, below(name, x)(value, (value.shape[0], *shape)), True)

    function.__name__ = name
    return function


broadcast_to = batching_rule(_broadcast("broadcast_to"))
view_to = batching_rule(_broadcast("view_to"))


@batching_rule
def broadcast_arrays(*arrays: Any) -> list:
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return [broadcast_to(x, shape) for x in arrays]


@batching_rule
@for_batch
def concat(level: Any, arrays: Sequence[Array], /, *, axis: int | None = 0) -> Any:
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
def tile(x: Array, repetitions: tuple[int, ...], /) -> Any:
    if type(x) is not Batched:
        return plain("tile")(x, repetitions)
    if not x.mapped:
        return closed(x.level, below("tile", x)(x.value, repetitions), False)
    repetitions = tuple(repetitions)
    value = widened(x.value, max(len(repetitions), len(x.shape)))
    missing = value.ndim - 1 - len(repetitions)
    whole = (1, *(1,) * missing, *repetitions)
    return closed(x.level, below("tile", x)(value, whole), True)


@batching_rule
def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Any:
    if type(repeats) is Batched and repeats.mapped:
        from tapegrad.arrays.batched.per_sample import looped

        return looped("repeat")(x, repeats, axis=axis)
    if type(x) is not Batched:
        return plain("repeat")(x, repeats, axis=axis)
    if not x.mapped:
        return closed(x.level, below("repeat", x)(x.value, repeats, axis=axis), False)
    if axis is None:
        x, axis = x.ravel(), 0
    moved = shifted(axis, len(x.shape))
    return closed(x.level, below("repeat", x)(x.value, repeats, axis=moved), True)


@batching_rule
def flip(x: Array, /, *, axis: Any = None) -> Any:
    if type(x) is not Batched:
        return plain("flip")(x, axis=axis)
    moved = shifted(axis, len(x.shape)) if x.mapped else axis
    return closed(x.level, below("flip", x)(x.value, axis=moved), x.mapped)


@batching_rule
def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Any:
    if type(x) is not Batched:
        return plain("roll")(x, shift, axis=axis)
    if not x.mapped:
        return closed(x.level, below("roll", x)(x.value, shift, axis=axis), False)
    if axis is None:
        return roll(x.ravel(), shift, axis=0).reshape(x.shape)
    moved = shifted(axis, len(x.shape))
    return closed(x.level, below("roll", x)(x.value, shift, axis=moved), True)


@batching_rule
def meshgrid(*arrays: Any, indexing: str = "xy") -> list:
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
def pad_select(x: Array, shape: Any, axis: int, index: int) -> Any:
    if type(x) is not Batched:
        return plain("pad_select")(x, shape, axis, index)
    shape, axis = _whole(x, shape), axis + x.mapped
    return closed(x.level, below("pad_select", x)(x.value, shape, axis, index), x.mapped)


@batching_rule
def pad_slice(x: Array, shape: Any, axis: int, start: int, stop: int, step: int) -> Any:
    if type(x) is not Batched:
        return plain("pad_slice")(x, shape, axis, start, stop, step)
    shape, axis = _whole(x, shape), axis + x.mapped
    out = below("pad_slice", x)(x.value, shape, axis, start, stop, step)
    return closed(x.level, out, x.mapped)


@batching_rule
def pad_diagonal(x: Array, shape: Any, offset: int) -> Any:
    if type(x) is not Batched:
        return plain("pad_diagonal")(x, shape, offset)
    out = below("pad_diagonal", x)(x.value, _whole(x, shape), offset)
    return closed(x.level, out, x.mapped)


def _whole(x: Array, shape: Any) -> tuple[int, ...]:
    return (x.value.shape[0], *shape) if x.mapped else tuple(shape)


@batching_rule
def write_diagonal(x: Array, values: Array, offset: int) -> Any:
    level, below_them, mapped = opened((x, values))
    if level is None:
        return plain("write_diagonal")(x, values, offset)
    x_value, value = below_them
    if True in mapped:
        x_value = values_of(level, x)[0]
    if mapped[1]:
        value = widened(value, len(x.shape) - 1)
    function = namespace_of((x_value, value)).write_diagonal
    return closed(level, function(x_value, value, offset), True in mapped)


@batching_rule
def windows(x: Array, axis: int, size: int, step: int) -> Any:
    if type(x) is not Batched:
        return plain("windows")(x, axis, size, step)
    if not x.mapped:
        return closed(x.level, below("windows", x)(x.value, axis, size, step), False)
    if not x.shape:
        whole = x.reshape((1,))
        return whole if size else whole[:0]
    return closed(x.level, below("windows", x)(x.value, axis + 1, size, step), True)


@batching_rule
def sum_windows(g: Array, shape: Any, axis: int, size: int, step: int) -> Any:
    if type(g) is not Batched:
        return plain("sum_windows")(g, shape, axis, size, step)
    if g.mapped and not len(shape):
        return g.reshape(()) if size else g.sum()
    whole, axis = _whole(g, shape), axis + g.mapped
    return closed(g.level, below("sum_windows", g)(g.value, whole, axis, size, step), g.mapped)


@batching_rule
def strided(x: Array, shape: Any, strides: Any, offset: int, own: Any) -> Any:
    if type(x) is not Batched:
        return plain("strided")(x, shape, strides, offset, own)
    if not x.mapped:
        out = below("strided", x)(x.value, shape, strides, offset, own)
        return closed(x.level, out, False)
    item, size = x.dtype.itemsize, x.value.shape[0]
    if any(
        n > 1 and s != item * o for n, s, o in zip(x.shape, x.value.strides[1:], own, strict=True)
    ):  # laid out anew: members lie apart
        step = _apart(_extent(x.shape, own), _extent(shape, strides, offset))
    else:
        step = x.value.strides[0] // item if size > 1 else 0
    out = below("strided", x)(x.value, (size, *shape), (step, *strides), offset, (step, *own))
    return closed(x.level, out, True)


@batching_rule
def sum_strided(g: Array, shape: Any, strides: Any, offset: int, own: Any) -> Any:
    if type(g) is not Batched:
        return plain("sum_strided")(g, shape, strides, offset, own)
    function = below("sum_strided", g)
    if not g.mapped:
        return closed(g.level, function(g.value, shape, strides, offset, own), False)
    step = _apart(_extent(shape, own), _extent(g.shape, strides, offset))  # members lie apart
    size = g.value.shape[0]
    out = function(g.value, (size, *shape), (step, *strides), offset, (step, *own))
    return closed(g.level, out, True)


def _apart(*extents: tuple[int, int]) -> int:
    """A step between members so large that patterns of these extents have no place in common."""
    return max(e[1] for e in extents) - min(e[0] for e in extents) + 1


def _extent(shape: Any, strides: Any, offset: int = 0) -> tuple[int, int]:
    """The first and last place of a pattern in memory."""
    ends = [(n - 1) * s for n, s in zip(shape, strides, strict=True) if n]
    return offset + sum(min(e, 0) for e in ends), offset + sum(max(e, 0) for e in ends)
