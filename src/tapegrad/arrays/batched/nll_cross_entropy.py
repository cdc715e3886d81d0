"""Class numbers of batched arrays: the batch goes along with the first axis."""

from tapegrad.arrays.batched.array import closed
from tapegrad.arrays.batched.below import for_batch, values_of
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array


def together(value: Array) -> Any:
    """A value (batch, N, ...) as (batch * N, ...)."""
    return value.reshape((value.shape[0] * value.shape[1], *value.shape[2:]))


def apart(value: Array, size: int) -> Any:
    """(batch * N, ...) as (batch, N, ...)."""
    n = value.shape[0] // size if size else 0
    return value.reshape((size, n, *value.shape[1:]))


@batching_rule
@for_batch
def pick(level: Any, x: Array, target: Array) -> Any:
    value, where = values_of(level, x, target)
    out = namespace_of((value, where)).pick(together(value), together(where))
    return closed(level, out.reshape(where.shape), True)


@batching_rule
@for_batch
def unpick(level: Any, g: Array, target: Array, shape: tuple[int, ...]) -> Any:
    value, where = values_of(level, g, target)
    whole = (level.size * shape[0], *shape[1:])
    out = namespace_of((value, where)).unpick(together(value), together(where), whole)
    return closed(level, out.reshape((level.size, *shape)), True)
