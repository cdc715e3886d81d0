"""Kernels of pooling and interpolation in the Tensor namespace, for second derivatives."""

from __future__ import annotations

from typing import Any

from tapegrad.core.annotations import Array
from tapegrad.operators.nn import grid_sample_rules, interpolate_rules, max_pool_gather


def resample(x: Array, through: Any) -> Any:
    return interpolate_rules.resample(x, through=through)


def take_places(x: Array, index: Array, n_axes: int) -> Any:
    return max_pool_gather.take_places(x, index, n_axes=n_axes)


def put_places(x: Array, index: Array, sizes: Any, add: bool) -> Any:
    return max_pool_gather.put_places(x, index, sizes=tuple(sizes), add=add)


def blend_points(x: Array, index: Array, weight: Array) -> Any:
    return grid_sample_rules.blend_points(x, weight, index)


def spread_points(y: Array, index: Array, weight: Array, space: Any) -> Any:
    return grid_sample_rules.spread_points(y, weight, index, space=tuple(space))


def match_points(y: Array, x: Array, index: Array) -> Any:
    return grid_sample_rules.match_points(y, x, index)
