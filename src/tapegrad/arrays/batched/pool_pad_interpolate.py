"""Pooling, padding and resampling of batches: kernels of the last axes, or of whole images."""

from tapegrad.arrays.batched.array import closed
from tapegrad.arrays.batched.below import for_batch, of_leading_axes, values_of
from tapegrad.arrays.batched.gather_scatter import apart, together
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array, Callable, LevelLike

pad_constant = batching_rule(of_leading_axes("pad_constant"))
pad_edges = batching_rule(of_leading_axes("pad_edges"))
resample = batching_rule(of_leading_axes("resample"))
unpad_edges = batching_rule(of_leading_axes("unpad_edges"))
window_maximum = batching_rule(of_leading_axes("window_maximum"))


@batching_rule
@for_batch
def take_places(level: LevelLike, x: Array, index: Array, n_axes: int) -> Any:
    values = values_of(level, x, index)
    return closed(level, namespace_of(values).take_places(*values, n_axes), True)


@batching_rule
@for_batch
def put_places(level: LevelLike, x: Array, index: Array, sizes: tuple[int, ...], add: bool) -> Any:
    values = values_of(level, x, index)
    return closed(level, namespace_of(values).put_places(*values, sizes, add), True)


def _of_images(name: str, n_arrays: int) -> Callable:
    """A kernel of images and points, the number of the image first."""

    def function(level: LevelLike, *args: object) -> Any:
        values = [together(v) for v in values_of(level, *args[:n_arrays])]
        out = getattr(namespace_of(values), name)(*values, *args[n_arrays:])
        return closed(level, apart(out, level.size), True)

    function.__name__ = name
    return for_batch(function)


blend_points = batching_rule(_of_images("blend_points", 3))
match_points = batching_rule(_of_images("match_points", 3))
spread_points = batching_rule(_of_images("spread_points", 3))
