"""Images read at points between pixels: the operators below `grid_sample`, and their derivatives.

Source: Jaderberg, Simonyan, Zisserman and Kavukcuoglu, "Spatial Transformer Networks", 2015,
eq. 3 (sampling), 6 (derivative in the image) and 7 (in the grid).
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from tapegrad.core.annotations import Namespace
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.nn.grid_sample_stencil import stencil

_KERNELS = ("blend_points", "match_points", "spread_points")


# --- the form that is linear in images, points and weights: see the kernels --------------------


@jvp(
    x=lambda xp, t, weight, index: xp.blend_points(t, index, weight),
    weight=lambda xp, t, x, index: xp.blend_points(x, index, t),
)
@vjp(
    x=lambda xp, g, x_like, weight, index: xp.spread_points(g, index, weight, x_like.shape[2:]),
    weight=lambda xp, g, x, index: xp.match_points(g, x, index),
)
@primitive(hidden=("index",), kernels=_KERNELS)
def blend_points(xp, x, weight, index):
    """Points (N, C, P): sums of pixels `index` (N, K, P) of x (N, C, *space) times weights."""
    return xp.blend_points(x, index, weight)


@jvp(
    y=lambda xp, t, weight, index, space: xp.spread_points(t, index, weight, space),
    weight=lambda xp, t, y, index, space: xp.spread_points(y, index, t, space),
)
@vjp(
    y=lambda xp, g, weight, index: xp.blend_points(g, index, weight),
    weight=lambda xp, g, y, index: xp.match_points(y, g, index),
)
@primitive(hidden=("index",), kernels=_KERNELS)
def spread_points(xp, y, weight, index, *, space):
    """Images (N, C, *space): points (N, C, P) times weights (N, K, P), added up at `index`."""
    return xp.spread_points(y, index, weight, space)


@jvp(
    y=lambda xp, t, x, index: xp.match_points(t, x, index),
    x=lambda xp, t, y, index: xp.match_points(y, t, index),
)
@vjp(
    y=lambda xp, g, x, index: xp.blend_points(x, index, g),
    x=lambda xp, g, y, x_like, index: xp.spread_points(y, index, g, x_like.shape[2:]),
)
@primitive(hidden=("index",), kernels=_KERNELS)
def match_points(xp, y, x, index):
    """Weights (N, K, P): points (N, C, P) times pixels `index` of x, summed over channels."""
    return xp.match_points(y, x, index)


# --- sampling ----------------------------------------------------------------------------------


def _axes(xp: Namespace, grid: Any, space: tuple, mode: int, padding: int, align: bool) -> list:
    """The pixels around the points along each axis: (index, weight, slope), each (N, P)."""
    n = len(space)
    flat = xp.reshape(grid, (grid.shape[0], prod(grid.shape[1:-1]), n))
    return [  # the grid's first coordinate is that of the last axis
        stencil(xp, flat[:, :, n - 1 - a], space[a], mode, padding, align, n == 2) for a in range(n)
    ]


def _index(xp: Namespace, axes: list, space: tuple) -> Any:
    """The pixels around the points, (N, K, P), for K combinations of those along each axis."""
    found = []
    for corner in product(*axes):
        index, inside = 0, None
        for size, (pixel, _, _) in zip(space, corner, strict=True):
            index = index * size + pixel
            inside = pixel >= 0 if inside is None else inside & (pixel >= 0)
        found.append(xp.where(inside, index, xp.full_like(index, -1)))
    return xp.stack(found, axis=1)


def _weights(xp: Namespace, axes: list, slope_of: int | None = None) -> Any:
    """The weights of those pixels, (N, K, P), or their derivatives in the place along one axis."""
    found = []
    for corner in product(*axes):
        total = None
        for a, (_, weight, slope) in enumerate(corner):
            factor = slope if a == slope_of else weight
            total = factor if total is None else total * factor
        found.append(total)
    return xp.stack(found, axis=1)


_POINTS = 1 << 14  # of so many at a time what is in between stays in the cache


def _in_parts(xp: Namespace, function: Any, *arrays: Any) -> Any:
    """`function` of arrays, the last one a grid, for some of the images at a time."""
    n, *points, _ = arrays[-1].shape
    step = max(1, _POINTS // max(prod(points), 1))
    if step >= n:
        return function(*arrays)
    parts = [function(*[x[i : i + step, ...] for x in arrays]) for i in range(0, n, step)]
    return xp.concat(parts, axis=0)


def _sample(xp, x, grid, *, mode, padding, align):
    return _in_parts(xp, lambda x, grid: _sampled(xp, x, grid, mode, padding, align), x, grid)


def _sampled(xp, x, grid, mode, padding, align):
    axes = _axes(xp, grid, x.shape[2:], mode, padding, align)
    y = xp.blend_points(x, _index(xp, axes, x.shape[2:]), _weights(xp, axes))
    return xp.reshape(y, (*x.shape[:2], *grid.shape[1:-1]))


def _flat(xp, y):
    return xp.reshape(y, (*y.shape[:2], prod(y.shape[2:])))


def _image_rule(xp, g, x_like, grid, mode, padding, align):
    space = x_like.shape[2:]

    def spread(g, grid):
        axes = _axes(xp, grid, space, mode, padding, align)
        return xp.spread_points(_flat(xp, g), _index(xp, axes, space), _weights(xp, axes), space)

    return _in_parts(xp, spread, g, grid)


def _grid_rule(xp, g, x, grid, mode, padding, align):
    space = x.shape[2:]

    def match(g, x, grid):
        axes = _axes(xp, grid, space, mode, padding, align)
        pulled = xp.match_points(_flat(xp, g), x, _index(xp, axes, space))
        found = [xp.sum(pulled * _weights(xp, axes, a), axis=1) for a in range(len(space))]
        return xp.reshape(xp.stack(found[::-1], axis=-1), grid.shape)

    return _in_parts(xp, match, g, x, grid)


def _grid_tangent(xp, t, x, grid, y, mode, padding, align):
    space = x.shape[2:]
    n = len(space)
    axes = _axes(xp, grid, space, mode, padding, align)
    t = xp.reshape(t, (t.shape[0], 1, prod(t.shape[1:-1]), n))
    change = sum(_weights(xp, axes, a) * t[:, :, :, n - 1 - a] for a in range(n))
    return xp.reshape(xp.blend_points(x, _index(xp, axes, space), change), y.shape)


def _sampler(name: str, node: str) -> Any:
    @primitive(name=name, node=node, kernels=_KERNELS)
    def sample(xp, x, grid, *, mode, padding, align):
        """Images x (N, C, *space) at the points of grid (N, *, axes): sums over pixels around."""
        return _sample(xp, x, grid, mode=mode, padding=padding, align=align)

    sample.vjp(x=_image_rule, grid=_grid_rule)
    sample.jvp(
        x=lambda xp, t, grid, mode, padding, align: _sample(
            xp, t, grid, mode=mode, padding=padding, align=align
        ),
        grid=_grid_tangent,
    )
    return sample


sample_plane = _sampler("grid_sampler_2d", "GridSampler2DBackward0")
sample_volume = _sampler("grid_sampler_3d", "GridSampler3DBackward0")
