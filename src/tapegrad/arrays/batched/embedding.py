"""Rows of tables, for batches."""

from tapegrad.arrays.batched.array import closed, opened
from tapegrad.arrays.batched.below import for_batch, values_of
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array


@batching_rule
@for_batch
def spread_rows(
    level: Any, g: Array, indices: Array, n: int, padding: int, by_frequency: bool
) -> Any:
    _, (_, where), (_, mapped) = opened((g, indices))
    (value,) = values_of(level, g)
    size, width = level.size, value.shape[-1]
    xp = namespace_of((value, where))
    if not mapped:  # the members side by side in rows of one table
        rows = xp.moveaxis(value, 0, -2)
        rows = rows.reshape((*rows.shape[:-2], size * width))
        out = xp.spread_rows(rows, where, n, padding, by_frequency)
        return closed(level, xp.moveaxis(out.reshape((n, size, width)), 1, 0), True)
    if padding >= 0:  # tables one after the other have no common padding
        value = xp.where((where == padding)[..., None], xp.zeros_like(value), value)
    first = xp.arange(size).reshape((size,) + (1,) * (where.ndim - 1)) * n
    out = xp.spread_rows(value, where + first, size * n, -1, by_frequency)
    return closed(level, out.reshape((size, n, width)), True)
