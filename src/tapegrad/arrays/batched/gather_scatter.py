"""Places along one axis, of batched arrays: the batch is one more axis before it."""

from tapegrad.arrays.batched.array import closed, opened
from tapegrad.arrays.batched.below import for_batch, for_mapped, values_of
from tapegrad.arrays.batched.reshape import broadcast_to
from tapegrad.arrays.batched.sum_sort import shifted
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array, Callable, LevelLike


def _lines(level: LevelLike, *arrays: Array) -> list:
    """Values with the batch first, and at least one axis after it."""
    found = values_of(level, *arrays)
    return [v.reshape((v.shape[0], 1)) if v.ndim == 1 else v for v in found]


@batching_rule
@for_batch
def gather_along(level: LevelLike, x: Array, index: Array, axis: int) -> Any:
    value, where = _lines(level, x, index)
    function = namespace_of((value, where)).gather_along
    return closed(level, function(value, where, axis + 1), True).reshape(index.shape)


@batching_rule
@for_batch
def take_along_axis(level: LevelLike, x: Array, indices: Array, /, *, axis: int = -1) -> Any:
    axis = axis % max(len(x.shape), 1)
    value, where = values_of(level, x, indices)
    function = namespace_of((value, where)).take_along_axis
    return closed(level, function(value, where, axis=axis + 1), True)


@batching_rule
@for_batch
def scatter_along(
    level: LevelLike, x: Array, index: Array, values: Array, axis: int, how: str
) -> Any:
    if not values.shape:
        values = broadcast_to(values, index.shape)
    value, where, new = _lines(level, x, index, values)
    function = namespace_of((value, where, new)).scatter_along
    return closed(level, function(value, where, new, axis + 1, how), True).reshape(x.shape)


@batching_rule
@for_batch
def add_along(level: Any, g: Array, shape: Any, index: Array, axis: int) -> Any:
    value, where = _lines(level, g, index)
    function = namespace_of((value, where)).add_along
    whole = (level.size, *(shape or (1,)))
    return closed(level, function(value, whole, where, axis + 1), True).reshape(tuple(shape))


@batching_rule
@for_batch
def put_along(level: LevelLike, x: Array, indices: Array, shape: tuple[int, ...], axis: int) -> Any:
    value, where = values_of(level, x, indices)
    axis = axis % len(shape)
    function = namespace_of((value, where)).put_along
    return closed(level, function(value, where, (level.size, *shape), axis + 1), True)


def _along(name: str, place: int) -> Callable:
    """A function of one array, `axis` the argument at `place` after it."""

    def function(kernel: Callable, x: Array, *args: Any) -> Any:
        whole = list(args)
        whole[place] = shifted(args[place], max(len(x.shape), 1))
        value = x.value if x.shape else x.value.reshape((x.value.shape[0], 1))
        out = kernel(value, *whole)
        return out if x.shape else out.reshape(x.value.shape)

    return for_mapped(function, name)


kth_index = batching_rule(_along("kth_index", 1))
log_running_sum = batching_rule(_along("log_running_sum", 0))
median_index = batching_rule(_along("median_index", 0))
mode_index = batching_rule(_along("mode_index", 0))
running_extremum = batching_rule(_along("running_extremum", 0))
top_indices = batching_rule(_along("top_indices", 1))


@batching_rule
@for_batch
def spread_rows(
    level: LevelLike, g: Array, indices: Array, n: int, padding: int, by_frequency: bool
) -> Any:
    _, (_, where), (_, mapped) = opened((g, indices))
    (value,) = values_of(level, g)
    size, width = level.size, value.shape[-1]
    xp = namespace_of((value, where))
    if not mapped:  # the samples side by side in rows of one table
        rows = xp.moveaxis(value, 0, -2)
        rows = rows.reshape((*rows.shape[:-2], size * width))
        out = xp.spread_rows(rows, where, n, padding, by_frequency)
        return closed(level, xp.moveaxis(out.reshape((n, size, width)), 1, 0), True)
    if padding >= 0:  # tables one after the other have no common padding
        value = xp.where((where == padding)[..., None], xp.zeros_like(value), value)
    first = xp.arange(size).reshape((size,) + (1,) * (where.ndim - 1)) * n
    out = xp.spread_rows(value, where + first, size * n, -1, by_frequency)
    return closed(level, out.reshape((size, n, width)), True)


def together(value: Array) -> Any:
    """A value (batch, N, ...) as (batch * N, ...)."""
    return value.reshape((value.shape[0] * value.shape[1], *value.shape[2:]))


def apart(value: Array, size: int) -> Any:
    """(batch * N, ...) as (batch, N, ...)."""
    n = value.shape[0] // size if size else 0
    return value.reshape((size, n, *value.shape[1:]))


@batching_rule
@for_batch
def pick(level: LevelLike, x: Array, target: Array) -> Any:
    value, where = values_of(level, x, target)
    out = namespace_of((value, where)).pick(together(value), together(where))
    return closed(level, out.reshape(where.shape), True)


@batching_rule
@for_batch
def unpick(level: LevelLike, g: Array, target: Array, shape: tuple[int, ...]) -> Any:
    value, where = values_of(level, g, target)
    whole = (level.size * shape[0], *shape[1:])
    out = namespace_of((value, where)).unpick(together(value), together(where), whole)
    return closed(level, out.reshape((level.size, *shape)), True)
