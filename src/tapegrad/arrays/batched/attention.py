"""Attention of batches: the batch is one more leading axis of all inputs."""

from tapegrad.arrays.batched.array import Batched, closed, opened, widened
from tapegrad.arrays.batched.below import for_batch, values_of
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array


def _opened(level: Any, inputs: Any) -> list:
    q, k, v, *masks = inputs
    values = values_of(level, q, k, v)
    for mask in masks:
        is_own = type(mask) is Batched and mask.level is level and mask.mapped
        value = opened((mask,))[1][0] if not is_own else widened(mask.value, len(q.shape))
        if type(mask) is Batched and mask.level is not level:
            value = mask
        values.append(value)
    return values


@batching_rule
@for_batch
def attend(level: Any, inputs: Any, scale: float, causal: bool) -> Any:
    values = _opened(level, inputs)
    return closed(level, namespace_of(values).attend(values, scale, causal), True)


@batching_rule
@for_batch
def attend_back(
    level: Any, g: Array, inputs: Any, y: Array, total: Any, scale: float, causal: bool
) -> Any:
    values = _opened(level, inputs)
    g, y, total = values_of(level, g, y, total)
    kernel = namespace_of((g, *values)).attend_back
    return closed(level, kernel(g, values, y, total, scale, causal), True)
