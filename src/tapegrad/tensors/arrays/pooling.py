"""Kernels of pooling and interpolation in the Tensor namespace, for second derivatives."""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core.annotations import Array
from tapegrad.operators.nn import grid_sample, interpolate_stencil, max_pool


@tensor_kernel
def resample(x: Array, through: Any) -> Any:
    return interpolate_stencil.resample(x, through=through)


@tensor_kernel
def take_places(x: Array, index: Array, n_axes: int) -> Any:
    return max_pool.take_places(x, index, n_axes=n_axes)


@tensor_kernel
def put_places(x: Array, index: Array, sizes: Any, add: bool) -> Any:
    return max_pool.put_places(x, index, sizes=tuple(sizes), add=add)


@tensor_kernel
def blend_points(x: Array, index: Array, weight: Array) -> Any:
    return grid_sample.blend_points(x, weight, index)


@tensor_kernel
def spread_points(y: Array, index: Array, weight: Array, space: Any) -> Any:
    return grid_sample.spread_points(y, weight, index, space=tuple(space))


@tensor_kernel
def match_points(y: Array, x: Array, index: Array) -> Any:
    return grid_sample.match_points(y, x, index)
