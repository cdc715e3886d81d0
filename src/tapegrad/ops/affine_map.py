"""Grids of affine maps, for `grid_sample`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad.dtype import of
from tapegrad.op import linear
from tapegrad.ops.grid_sampling import warn_of_corners
from tapegrad.ops.pool_size import array_of
from tapegrad.tensor import wrap


def _points(size: tuple[int, ...], align: bool, dtype: Any) -> np.ndarray:
    """The points of an image before the map, (pixels, axes + 1): coordinates and a 1."""
    space = size[2:]
    axes = []
    for i, n in enumerate(space):
        line = np.linspace(-1, 1, n, dtype=dtype) if n > 1 else np.zeros(1, dtype)
        line = line if align or n == 1 else line * dtype.type((n - 1) / n)
        line = line.reshape((-1,) + (1,) * (len(space) - i - 1))
        axes.append(np.broadcast_to(line, space).reshape(-1))
    axes = [*axes[::-1], np.ones_like(axes[0])]  # the last axis is the first coordinate
    return np.stack(axes, axis=-1)


@linear(node="AffineGridGeneratorBackward0", hidden=("points",))
def affine_points(xp, theta, points, *, space):
    """Where the maps theta (N, axes, axes + 1) take points (pixels, axes + 1) of an image."""
    grid = xp.matmul(points, xp.matrix_transpose(theta))
    return xp.reshape(grid, (theta.shape[0], *space, len(space)))


def _affine_rule(xp, g, points):
    flat = xp.reshape(g, (g.shape[0], -1, g.shape[-1]))
    return xp.matmul(xp.matrix_transpose(flat), points)


affine_points.vjp(theta=_affine_rule)


def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Any:
    """`nn.functional.affine_grid`, unchecked.

    >>> torch.affine_grid_generator(torch.eye(2, 3)[None], (1, 1, 1, 2), True)
    tensor([[[[-1.,  0.],
              [ 1.,  0.]]]])
    """
    size = tuple(size)
    n = len(size) - 2
    shape = array_of("affine_grid_generator", theta).shape
    if n not in (2, 3):
        raise errors.advised(
            RuntimeError(
                f"AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs, got {len(size)}"
            ),
            "Sizes are (N, C, H, W) or (N, C, D, H, W).",
        )
    if shape[0] != size[0]:
        points = 1
        for each in size[2:]:
            points *= each
        raise errors.advised(
            RuntimeError(
                f"Expected size for first two dimensions of batch2 tensor to be: "
                f"[{size[0]}, {n + 1}] but got: [{shape[0]}, {n + 1}]."
            ),
            "There is a map for each image.",
        )
    dtype = theta._array.dtype
    points = wrap(_points(size, bool(align_corners), dtype))
    return affine_points(theta, points, space=size[2:])


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Grids (N, h, w, 2) of the maps theta (N, 2, 3), for `grid_sample`; (N, d, h, w, 3) in 3-D.

    `grid[h, w] = theta @ (x, y, 1)` for the coordinates (x, y), from -1 to 1, of pixel (h, w) of an
    image of `size` (N, C, h, w).

    Source: Jaderberg, Simonyan, Zisserman and Kavukcuoglu, "Spatial Transformer Networks", 2015,
    eq. 1.

    >>> theta = torch.tensor([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]])
    >>> torch.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=True)
    tensor([[[[-0.5000,  0.0000],
              [ 1.5000,  0.0000]]]])
    """
    dtype = of(array_of("affine_grid_generator", theta).dtype)
    if not dtype.is_floating_point:
        raise errors.advised(
            ValueError(f"Expected theta to have floating point type, but got {dtype}"),
            "Convert it first: theta.float().",
        )
    n = len(size) - 2
    if n not in (2, 3):
        raise errors.advised(
            NotImplementedError(
                "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
                f"respectively. Got size {size}."
            ),
            "Sizes are (N, C, H, W) or (N, C, D, H, W).",
        )
    shape = theta._array.shape
    if len(shape) != 3 or shape[1:] != (n, n + 1):
        raise errors.advised(
            ValueError(
                f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. "
                f"Got {theta.shape}."
            ),
            "A map is a matrix and, in the last column, a shift.",
        )
    if align_corners is None:
        warn_of_corners()
        align_corners = False
    if min(size) <= 0:
        raise errors.advised(
            ValueError(f"Expected non-zero, positive output size. Got {size}"),
            "An image has one pixel at least.",
        )
    return affine_grid_generator(theta, size, align_corners)
