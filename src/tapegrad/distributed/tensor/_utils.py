"""Where in a whole tensor the part of a rank lies."""

from collections.abc import Sequence
from typing import Any

from tapegrad.distributed.tensor.placement_types import Placement, Shard


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: Any, placements: Sequence[Placement]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of this rank's part, and where in the whole it begins.

    A dimension is cut as `torch.chunk` cuts it, by the dimensions of the mesh one after another.

    >>> from tapegrad.distributed.tensor._utils import *
    >>> from tapegrad.distributed.tensor.placement_types import Shard
    >>> class Mesh:
    ...     shape = (2,)
    ...     def get_coordinate(self):
    ...         return [1]
    >>> compute_local_shape_and_global_offset((5, 3), Mesh(), [Shard(0)])
    ((2, 3), (3, 0))
    """
    coordinate = mesh.get_coordinate()
    if coordinate is None:  # this rank is not in the mesh
        return (0,), ()
    shape, offset = list(global_shape), [0] * len(global_shape)
    for n, place, placement in zip(mesh.shape, coordinate, placements, strict=True):
        if isinstance(placement, Shard):
            dim = placement.dim
            step = -(-shape[dim] // n)
            start = min(step * place, shape[dim])
            offset[dim] += start
            shape[dim] = min(step, shape[dim] - start)
    return tuple(shape), tuple(offset)
