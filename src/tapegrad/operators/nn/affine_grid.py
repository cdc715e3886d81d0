"""Grids of affine maps, for `grid_sample`."""

from math import prod
from typing import Any

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core import errors
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import of
from tapegrad.core.overridable import overridable
from tapegrad.core.shape import existing_axis, ints_of
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.dispatch.autocast_state import IN_USE, lowered
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.nn.grid_sample import warn_of_corners
from tapegrad.operators.nn.pool_size import array_of

__torch__ = "affine_grid_generator"


def _points(like: Any, space: tuple[int, ...], align: bool) -> Any:
    """The points of an image before the map, (pixels, axes + 1): coordinates and a 1."""
    array = like._array if isinstance(like, TensorBase) else like
    xp = namespace_of((array,))
    dtype = xp.float32 if getattr(array.dtype, "itemsize", 4) == 2 else array.dtype
    axes = []
    for i, n in enumerate(space):
        line = xp.linspace(-1, 1, n, dtype=dtype) if n > 1 else xp.zeros((1,), dtype=dtype)
        line = line if align or n == 1 else line * ((n - 1) / n)
        line = xp.reshape(line, (-1,) + (1,) * (len(space) - i - 1))
        axes.append(xp.reshape(xp.broadcast_to(line, space), (-1,)))
    axes = [*axes[::-1], xp.ones_like(axes[0])]  # the last axis is the first coordinate
    points = xp.astype(xp.stack(axes, axis=-1), array.dtype, copy=False)
    return points if array is like else wrap(points)


def _affine_rule(xp, g, space, align):
    flat = xp.reshape(g, (g.shape[0], -1, g.shape[-1]))
    return xp.matmul(xp.matrix_transpose(flat), _points(g, space, align))


@vjp(theta=_affine_rule)
@linear(node="AffineGridGeneratorBackward0")
def affine_points(xp, theta, *, space, align):
    """Where the maps theta (N, axes, axes + 1) take the points of an image of size `space`."""
    grid = xp.matmul(_points(theta, space, align), xp.matrix_transpose(theta))
    return xp.reshape(grid, (theta.shape[0], *space, len(space)))


@require_tensors
def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Any:
    """`nn.functional.affine_grid`, unchecked.

    Shapes: theta (N, 2, 3) and size (N, C, h, w) to (N, h, w, 2); so in 3-D.
    Raises: RuntimeError where they do not fit.

    >>> torch.affine_grid_generator(torch.eye(2, 3)[None], (1, 1, 1, 2), True)
    tensor([[[[-1.,  0.],
              [ 1.,  0.]]]])
    """
    size = ints_of("affine_grid_generator", "size", tuple(size), 2)
    n = len(size) - 2
    shape = array_of("affine_grid_generator", theta).shape
    if n not in (2, 3):
        text = "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs."
        raise errors.runtime_error(text, "Sizes are (N, C, H, W) or (N, C, D, H, W).")
    _check_maps(shape, size)
    if IN_USE:
        (theta,) = lowered(theta)
    return affine_points(theta, space=size[2:], align=bool(align_corners))


def _check_maps(shape: tuple[int, ...], size: tuple[int, ...]) -> None:
    """Raise, as a product of the points with the maps does, where they do not fit."""
    n = len(size) - 2
    if any(each < 0 for each in size[2:]):
        negative = next(each for each in size[2:] if each < 0)
        raise errors.negative_size(negative, [size[0], *size[2:], n + 1])
    advice = f"There is a map for each image, a matrix of {n} rows and {n + 1} columns."
    for axis in (1, 2):
        existing_axis(axis, max(len(shape), 1), advice)
    if len(shape) != 3:
        raise errors.runtime_error("batch2 must be a 3D tensor", advice)
    if (shape[0], shape[2]) != (size[0], n + 1):
        raise errors.runtime_error(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{size[0]}, {n + 1}] but got: [{shape[0]}, {shape[2]}].",
            advice,
        )
    points = prod((size[0], *size[2:]))
    if shape[1] != n and points:
        found = [size[0], *size[2:], n]
        text = f"shape '{found}' is invalid for input of size {points * shape[1]}"
        raise errors.runtime_error(text, advice)


@overridable
def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Grids (N, h, w, 2) of the maps theta (N, 2, 3), for `grid_sample`; (N, d, h, w, 3) in 3-D.

    `grid[h, w] = theta @ (x, y, 1)` for the coordinates (x, y), from -1 to 1, of pixel (h, w) of an
    image of `size` (N, C, h, w).

    Shapes: theta (N, 2, 3) to (N, h, w, 2), or in 3-D (N, 3, 4) to (N, d, h, w, 3).
    Raises: ValueError where `theta` and `size` do not fit; NotImplementedError for other sizes.

    Source: Jaderberg, Simonyan, Zisserman and Kavukcuoglu, "Spatial Transformer Networks", 2015,
    eq. 1.

    >>> theta = torch.tensor([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]])
    >>> torch.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=True)
    tensor([[[[-0.5000,  0.0000],
              [ 1.5000,  0.0000]]]])
    """
    dtype = of(array_of("affine_grid_generator", theta).dtype)
    if not dtype.is_floating_point:
        text = f"Expected theta to have floating point type, but got {dtype}"
        raise errors.value_error(text, "Convert it first: theta.float().")
    n = len(size) - 2
    if n not in (2, 3):
        raise errors.not_implemented(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}.",
            "Sizes are (N, C, H, W) or (N, C, D, H, W).",
        )
    shape = theta._array.shape
    if len(shape) != 3 or shape[1:] != (n, n + 1):
        raise errors.value_error(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. "
            f"Got {theta.shape}.",
            "A map is a matrix and, in the last column, a shift.",
        )
    if align_corners is None:
        warn_of_corners()
        align_corners = False
    if min(size) <= 0:
        text = f"Expected non-zero, positive output size. Got {size}"
        raise errors.value_error(text, "An image has one pixel at least.")
    return affine_grid_generator(theta, size, align_corners)
