"""Images read at points between pixels: the operators below `grid_sample`, and their derivatives.

Source: Jaderberg, Simonyan, Zisserman and Kavukcuoglu, "Spatial Transformer Networks", 2015,
eq. 3 (sampling), 6 (derivative in the image) and 7 (in the grid).
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from tapegrad.op import linear, primitive
from tapegrad.ops.grid_stencil import stencil

_KERNELS = ("read_points", "add_points")


# --- pixels that lie anywhere --------------------------------------------------------------------


@linear(hidden=("index",), kernels=_KERNELS)
def read_points(xp, x, index):
    """Pixels `index` (N, P) of images x (N, C, *space), as (N, C, P); 0 for a negative index."""
    return xp.read_points(x, index)


read_points.vjp(x=lambda xp, g, x_like, index: xp.add_points(g, index, x_like.shape[2:]))


@linear(hidden=("index",), kernels=_KERNELS)
def add_points(xp, x, index, *, space):
    """Images (N, C, *space): zeros with x (N, C, P) added at pixels `index` (N, P)."""
    return xp.add_points(x, index, space)


add_points.vjp(x=lambda xp, g, index: xp.read_points(g, index))


# --- sampling ------------------------------------------------------------------------------------


def _points(xp: Any, grid: Any, space: tuple, mode: int, padding: int, align: bool) -> list:
    """For each pixel around the points: its index (N, P), and for each axis (weight, slope)."""
    n, axes = grid.shape[0], len(space)
    flat = xp.reshape(grid, (n, prod(grid.shape[1:-1]), axes))
    found = [  # the grid's first coordinate is that of the last axis
        stencil(xp, flat[:, :, axes - 1 - a], space[a], mode, padding, align, axes == 2)
        for a in range(axes)
    ]
    points = []
    for corner in product(*found):
        index, inside = 0, None
        for size, (pixel, _, _) in zip(space, corner, strict=True):
            index = index * size + pixel
            inside = pixel >= 0 if inside is None else inside & (pixel >= 0)
        index = xp.where(inside, index, xp.full_like(index, -1))
        points.append((index, [(weight, slope) for _, weight, slope in corner]))
    return points


def _product(xp: Any, factors: list) -> Any:
    """The product of weights (N, P) as (N, 1, P); None where all are 1."""
    total = None
    for each in factors:
        if each is not None:
            total = each if total is None else total * each
    return None if total is None else xp.expand_dims(total, axis=1)


def _sample(xp, x, grid, *, mode, padding, align):
    total = None
    for index, factors in _points(xp, grid, x.shape[2:], mode, padding, align):
        weight = _product(xp, [w for w, _ in factors])
        part = xp.read_points(x, index)
        part = part if weight is None else part * weight
        total = part if total is None else total + part
    return xp.reshape(total, (*x.shape[:2], *grid.shape[1:-1]))


def _image_rule(xp, g, x_like, grid, mode, padding, align):
    g = xp.reshape(g, (*g.shape[:2], prod(g.shape[2:])))
    space = x_like.shape[2:]
    total = None
    for index, factors in _points(xp, grid, space, mode, padding, align):
        weight = _product(xp, [w for w, _ in factors])
        part = xp.add_points(g if weight is None else g * weight, index, space)
        total = part if total is None else total + part
    return total


def _slopes(xp, x, grid, mode, padding, align):
    """(index, for each axis the derivative of a pixel's weight in its coordinate, or None)."""
    for index, factors in _points(xp, grid, x.shape[2:], mode, padding, align):
        yield (
            index,
            [
                None
                if slope is None
                else _product(xp, [slope, *(w for b, (w, _) in enumerate(factors) if b != a)])
                for a, (_, slope) in enumerate(factors)
            ],
        )


def _grid_rule(xp, g, x, grid, mode, padding, align):
    g = xp.reshape(g, (*g.shape[:2], prod(g.shape[2:])))
    axes = len(x.shape) - 2
    totals: list[Any] = [None] * axes
    for index, slopes in _slopes(xp, x, grid, mode, padding, align):
        pulled = None
        for a, slope in enumerate(slopes):
            if slope is None:
                continue
            if pulled is None:
                pulled = xp.sum(xp.read_points(x, index) * g, axis=1)
            part = pulled * slope[:, 0, :]
            totals[a] = part if totals[a] is None else totals[a] + part
    if totals[0] is None:
        return xp.zeros_like(grid)
    return xp.reshape(xp.stack(totals[::-1], axis=-1), grid.shape)


def _grid_tangent(xp, t, x, grid, y, mode, padding, align):
    axes = len(x.shape) - 2
    t = xp.reshape(t, (t.shape[0], prod(t.shape[1:-1]), axes))
    total = None
    for index, slopes in _slopes(xp, x, grid, mode, padding, align):
        change = None
        for a, slope in enumerate(slopes):
            if slope is not None:
                part = slope * xp.expand_dims(t[:, :, axes - 1 - a], axis=1)
                change = part if change is None else change + part
        if change is not None:
            part = xp.read_points(x, index) * change
            total = part if total is None else total + part
    return xp.zeros_like(y) if total is None else xp.reshape(total, y.shape)


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
