"""Kernels of pooling and interpolation in the Tensor namespace, for second derivatives."""

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core.annotations import Any, Array
from tapegrad.dispatch.op import by_place
from tapegrad.operators.nn import grid_sample, interpolate_stencil, max_pool

resample = tensor_kernel(by_place(interpolate_stencil.resample))
take_places = tensor_kernel(by_place(max_pool.take_places))
put_places = tensor_kernel(by_place(max_pool.put_places))
match_points = tensor_kernel(grid_sample.match_points)


@tensor_kernel
def blend_points(x: Array, index: Array, weight: Array) -> Any:
    return grid_sample.blend_points(x, weight, index)


@tensor_kernel
def spread_points(y: Array, index: Array, weight: Array, space: Any) -> Any:
    return grid_sample.spread_points(y, weight, index, space=tuple(space))
