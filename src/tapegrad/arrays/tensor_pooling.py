"""Kernels of pooling and interpolation in the Tensor namespace, for second derivatives."""

from __future__ import annotations

from typing import Any

from tapegrad.ops import image_place, mapping, point_sampling


def resample(x: Any, through: Any) -> Any:
    return mapping.resample(x, through=through)


def take_places(x: Any, index: Any, n_axes: int) -> Any:
    return image_place.take_places(x, index, n_axes=n_axes)


def put_places(x: Any, index: Any, sizes: Any, add: bool) -> Any:
    return image_place.put_places(x, index, sizes=tuple(sizes), add=add)


def blend_points(x: Any, index: Any, weight: Any) -> Any:
    return point_sampling.blend_points(x, weight, index)


def spread_points(y: Any, index: Any, weight: Any, space: Any) -> Any:
    return point_sampling.spread_points(y, weight, index, space=tuple(space))


def match_points(y: Any, x: Any, index: Any) -> Any:
    return point_sampling.match_points(y, x, index)
