"""Kernels of single elements that are told which arrays there are."""

from tapegrad.arrays.batched.array import closed, opened, widened
from tapegrad.arrays.batched.below import for_batch, plain, values_of
from tapegrad.arrays.batched.per_sample import looped
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array, Callable, LevelLike

_loop_over_sets = looped("members")


@batching_rule
@for_batch
def pointwise(level: LevelLike, function: Callable, arrays: tuple) -> Any:
    ndim = max(len(x.shape) for x in arrays if hasattr(x, "shape"))
    values = [widened(v, ndim) if hasattr(v, "shape") else v for v in values_of(level, *arrays)]
    return closed(level, namespace_of(values).pointwise(function, tuple(values)), True)


@batching_rule
def members(x: Array, among: Any, unique: bool, invert: bool) -> Any:
    level, (value, those), (is_mapped, own) = opened((x, among))
    if level is None:
        return plain("members")(x, among, unique, invert)
    if own:
        return _loop_over_sets(x, among, unique, invert)
    kernel = namespace_of((value, those)).members
    return closed(level, kernel(value, those, unique, invert), is_mapped)
