"""Indexing of batched arrays.

Where only the array is mapped its axes are shifted; where an index is mapped, the number of the
sample becomes one more index.
"""

from itertools import pairwise

import numpy as np

from tapegrad.arrays.batched.array import Batched, closed, opened, top_level, widened
from tapegrad.arrays.batched.below import below, for_batch, plain, values_of
from tapegrad.arrays.batched.reshape import broadcast_to
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, LevelLike


def read(x: Array, key: Array) -> Any:
    """`x[key]` for numbers, slices, None, an ellipsis, and a mask or index that is not mapped."""
    keys = key if type(key) is tuple else (key,)
    arrays = [k for k in keys if hasattr(k, "shape")]
    level, _, mapped = opened(arrays)
    if level is not None and level.number >= x.level.number and True in mapped:
        if len(keys) == 1 and level is x.level and keys[0].dtype.kind in "iu":
            return read_at(x, keys[0], (0,))
        raise _dynamic_mask()
    if arrays and not all(type(k) is slice and k == slice(None) for k in keys[:-1]):
        raise NotImplementedError("an index of several arrays and slices, of a batched array")
    keys = tuple([k.value if type(k) is Batched and k.level is x.level else k for k in keys])
    if x.mapped:
        keys = (slice(None), *keys)
    return closed(x.level, x.value[keys], x.mapped)


def _dynamic_mask() -> RuntimeError:
    return errors.runtime_error(
        "vmap: We do not support batching operators that can support dynamic shape. Attempting "
        "to batch over indexing with a boolean mask.",
        "Each sample would have another number of elements: use torch.where(mask, x, 0).",
    )


# --- index arrays on axes -------------------------------------------------------------------------


def _are_apart(axes: tuple[int, ...]) -> bool:
    return any(b - a != 1 for a, b in pairwise(axes))


def _n_index_axes(index: Array, axes: tuple[int, ...]) -> int:
    return len(index.shape) - (len(axes) > 1)


def _with_members(index: Array, axes: tuple[int, ...]) -> Any:
    """A mapped index as one with the number of the sample first: (1 + n axes, batch, ...)."""
    value = index.value
    xp = namespace_of((value,))
    size = value.shape[0]
    parts = [value] if len(axes) == 1 else [value[:, i] for i in range(len(axes))]
    member = np.arange(size).reshape((size,) + (1,) * (parts[0].ndim - 1))
    whole = np.broadcast_to(member, (size, *parts[0].shape[1:]))
    return xp.stack([xp.asarray(whole), *[xp.astype(p, np.int64) for p in parts]], axis=0)


def _to_front(x: Array, axes: tuple[int, ...]) -> Any:
    """The indexed axes of a value, moved to follow the batch."""
    xp = namespace_of((x,))
    return xp.moveaxis(x, tuple([a + 1 for a in axes]), tuple(range(1, len(axes) + 1)))


def _from_front(x: Array, axes: tuple[int, ...]) -> Any:
    xp = namespace_of((x,))
    return xp.moveaxis(x, tuple(range(1, len(axes) + 1)), tuple([a + 1 for a in axes]))


@batching_rule
@for_batch
def read_at(level: LevelLike, x: Array, index: Array, axes: tuple[int, ...]) -> Any:
    _, (value, index_value), (_, mapped) = opened((x, index))
    n = _n_index_axes(index, axes)
    apart = _are_apart(axes)
    if not mapped:
        function = namespace_of((value, index_value)).read_at
        out = function(value, index_value, tuple([a + 1 for a in axes]))
        if apart:
            out = namespace_of((out,)).moveaxis(out, n, 0)
        return closed(level, out, True)
    (value,) = values_of(level, x)
    front = _to_front(value, axes)
    whole = _with_members(index, axes)
    out = namespace_of((front, whole)).read_at(front, whole, tuple(range(len(axes) + 1)))
    if not apart and axes[0]:
        before = axes[0]
        source = tuple(range(1, n + 1))
        out = namespace_of((out,)).moveaxis(out, source, tuple([s + before for s in source]))
    return closed(level, out, True)


@batching_rule
def take(x: Array, indices: Array, /, *, axis: int = 0) -> Any:
    if top_level((x, indices)) is None:
        return plain("take")(x, indices, axis=axis)
    return read_at(x, indices, (axis % len(x.shape),))


def _index_first(value: Array, n: int, axes: tuple[int, ...]) -> Any:
    """What was read, with the axes of the index moved to follow the batch."""
    if _are_apart(axes) or not axes[0] or not n:
        return value
    source = tuple(range(axes[0] + 1, axes[0] + n + 1))
    return namespace_of((value,)).moveaxis(value, source, tuple(range(1, n + 1)))


@batching_rule
@for_batch
def add_at(level: Any, g: Array, shape: Any, index: Array, axes: tuple[int, ...]) -> Any:
    _, (value, index_value), (_, mapped) = opened((g, index))
    n = _n_index_axes(index, axes)
    if not mapped:
        function = namespace_of((value, index_value)).add_at
        if _are_apart(axes):
            value = namespace_of((value,)).moveaxis(value, 0, n)
        whole = (level.size, *shape)
        out = function(value, whole, index_value, tuple([a + 1 for a in axes]))
        return closed(level, out, True)
    (value,) = values_of(level, g)
    front = _index_first(value, n, axes)
    indexed = [shape[a] for a in axes]
    rest = [m for i, m in enumerate(shape) if i not in axes]
    whole = _with_members(index, axes)
    function = namespace_of((front, whole)).add_at
    out = function(front, (level.size, *indexed, *rest), whole, tuple(range(len(axes) + 1)))
    return closed(level, _from_front(out, axes), True)


def _read_shape(shape: Any, index: Array, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what is read at an index."""
    own = tuple(index.shape[len(axes) > 1 :])
    if _are_apart(axes):
        return (*own, *[m for i, m in enumerate(shape) if i not in axes])
    return (*shape[: axes[0]], *own, *shape[axes[-1] + 1 :])


@batching_rule
@for_batch
def write_at(
    level: LevelLike, x: Array, values: Array, index: Array, axes: tuple[int, ...], add: bool
) -> Any:
    _, (_, _, index_value), (_, _, mapped) = opened((x, values, index))
    n = _n_index_axes(index, axes)
    shape = _read_shape(x.shape, index, axes)
    values = broadcast_to(_trimmed(values, len(shape)), shape)
    value, new = values_of(level, x, values)
    if not mapped:
        if _are_apart(axes):
            new = namespace_of((new,)).moveaxis(new, 0, n)
        function = namespace_of((value, new, index_value)).write_at
        out = function(value, new, index_value, tuple([a + 1 for a in axes]), add)
        return closed(level, out, True)
    front, new = _to_front(value, axes), _index_first(new, n, axes)
    whole = _with_members(index, axes)
    function = namespace_of((front, new, whole)).write_at
    out = function(front, new, whole, tuple(range(len(axes) + 1)), add)
    return closed(level, _from_front(out, axes), True)


def _trimmed(values: Array, ndim: int) -> Any:
    """`values` without leading axes of one element that the target does not have."""
    while len(values.shape) > ndim:
        values = values[0]
    return values


# --- masks ----------------------------------------------------------------------------------------


def _batch_last(value: Array) -> Any:
    return namespace_of((value,)).moveaxis(value, 0, -1)


def _batch_first(value: Array) -> Any:
    return namespace_of((value,)).moveaxis(value, -1, 0)


@batching_rule
@for_batch
def spread_mask(level: Any, g: Array, shape: Any, mask: Array) -> Any:
    _, (value, where), (_, mapped) = opened((g, mask))
    if mapped:
        raise _dynamic_mask()
    function = namespace_of((value, where)).spread_mask
    out = function(_batch_last(value), (*shape, level.size), where)
    return closed(level, _batch_first(out), True)


@batching_rule
@for_batch
def write_mask(level: LevelLike, x: Array, values: Array, mask: Array) -> Any:
    _, (_, new, where), mapped = opened((x, values, mask))
    if mapped[2]:
        if values.size != 1:
            raise _dynamic_mask()
        xp = mask.__array_namespace__()
        own = mask.reshape((*mask.shape, *(1,) * (len(x.shape) - len(mask.shape))))
        return xp.where(own, values.reshape(()), x)
    (value,) = values_of(level, x)
    if mapped[1]:
        new = _batch_last(widened(new, len(values.shape)))
    else:
        new = new[..., None] if new.ndim else new
    function = namespace_of((value, new, where)).write_mask
    return closed(level, _batch_first(function(_batch_last(value), new, where)), True)


@batching_rule
def count(mask: Array) -> int:
    if type(mask) is not Batched:
        return plain("count")(mask)
    if mask.mapped:
        raise _dynamic_mask()
    return below("count", mask)(mask.value)


@batching_rule
@for_batch
def write_part(level: LevelLike, x: Array, values: Array, axis: int, key: Array) -> Any:
    _, (_, new), (_, mapped) = opened((x, values))
    (value,) = values_of(level, x)
    if mapped:
        ndim = len(x.shape) - (not isinstance(key, slice))
        new = widened(_trimmed(values, ndim).value, ndim)
    function = namespace_of((value, new)).write_part
    return closed(level, function(value, new, axis + 1, key), True)
