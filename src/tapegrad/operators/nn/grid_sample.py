"""Sampling images at the points of a grid: what is accepted and refused."""

from __future__ import annotations

import warnings
from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import TensorLike
from tapegrad.core.argument_check import takes_tensors
from tapegrad.core.dtype import of
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.nn.grid_sample_rules import sample_plane, sample_volume
from tapegrad.operators.nn.grid_sample_stencil import BICUBIC
from tapegrad.operators.nn.pool_size import array_of

__torch__ = "grid_sampler grid_sampler_2d grid_sampler_3d"


@autocast(name="grid_sampler")
def _sampled(
    n: int | None, input: TensorLike, grid: Any, mode: int, padding: int, align: bool
) -> Any:
    shape, points = array_of("grid_sampler", input).shape, grid._array.shape
    if shape[0] != points[0]:
        raise errors.runtime_error(
            "grid_sampler(): expected grid and input to have same batch size, but got input "
            f"with sizes {list(shape)} and grid with sizes {list(points)}",
            "There is a grid for each image.",
        )
    if points[-1] != len(shape) - 2:
        raise errors.runtime_error(
            f"grid_sampler(): expected grid to have size {len(shape) - 2} in last dimension, "
            f"but got grid with sizes {list(points)}",
            "A point has a coordinate for each dimension of the image, the last one first.",
        )
    for i in range(2, len(shape)):
        if shape[i] == 0:
            raise errors.runtime_error(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but "
                f"input has sizes {list(shape)} with dimension {i} being empty",
                "There is nothing to sample.",
            )
    wanted = (len(shape) if len(shape) == 4 else 5) if n is None else n + 2
    if len(shape) != wanted or len(points) != len(shape):
        raise errors.runtime_error(
            f"grid_sampler(): expected {wanted}D input and grid with same number of "
            f"dimensions, but got input with sizes {list(shape)} and grid with sizes "
            f"{list(points)}",
            "Inputs are (N, C, H, W) or (N, C, D, H, W), grids (N, h, w, 2) or (N, d, h, w, 3).",
        )
    if len(shape) == 5 and mode == BICUBIC:
        raise errors.runtime_error(
            "grid_sampler(): bicubic interpolation only supports 4D input",
            "Use bilinear interpolation.",
        )
    dtype, other = of(input._array.dtype), of(grid._array.dtype)
    if dtype is not other:
        raise errors.runtime_error(
            f"expected scalar type {dtype.scalar_name} but found {other.scalar_name}",
            f"Convert the grid: grid.to({dtype}).",
        )
    if not dtype.is_floating_point:
        kernel = "grid_sampler_2d_cpu_kernel_impl" if len(shape) == 4 else "grid_sampler3d_cpu"
        raise no_kernel(kernel, dtype)
    operator = sample_plane if len(shape) == 4 else sample_volume
    return operator(input, grid, mode=mode, padding=padding, align=bool(align))


def grid_sampler(
    input: TensorLike, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`nn.functional.grid_sample` with numbers for the modes, in the order they are listed there.

    >>> x, grid = torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2)
    >>> torch.grid_sampler(x, grid, 0, 0, False)
    tensor([[[[1.]]]])
    """
    return _sampled(None, input, grid, interpolation_mode, padding_mode, align_corners)


@takes_tensors
def grid_sampler_2d(
    input: TensorLike, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`grid_sampler` of images (N, C, H, W).

    >>> image = torch.arange(4.0).reshape(1, 1, 2, 2)
    >>> torch.grid_sampler_2d(image, torch.zeros(1, 1, 1, 2), 0, 0, False)
    tensor([[[[1.5000]]]])
    """
    return _sampled(2, input, grid, interpolation_mode, padding_mode, align_corners)


@takes_tensors
def grid_sampler_3d(
    input: TensorLike, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`grid_sampler` of images (N, C, D, H, W).

    >>> image = torch.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> torch.grid_sampler_3d(image, torch.zeros(1, 1, 1, 1, 3), 0, 0, False).item()
    3.5
    """
    return _sampled(3, input, grid, interpolation_mode, padding_mode, align_corners)


_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def warn_of_corners() -> None:
    """What `align_corners` is when it is not given changed once."""
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        "documentation of grid_sample for details.",
        UserWarning,
        stacklevel=3,
    )


def grid_sample(
    input: TensorLike,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """Images (N, C, H, W) read at the points of grids (N, h, w, 2), as (N, C, h, w); also in 3-D.

    A point is (x, y) (or (x, y, z)), -1 to 1 from edge to edge: `y[p] = sum over the pixels around
    p of weight * pixel`, with weights by `mode`: `bilinear`, `nearest`, or `bicubic` (in two
    dimensions). Points outside see `zeros`, the `border`, or the image's `reflection`.

    Source: Jaderberg, Simonyan, Zisserman and Kavukcuoglu, "Spatial Transformer Networks", 2015,
    eq. 3.

    >>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> grid = torch.zeros(1, 1, 1, 2)
    >>> torch.nn.functional.grid_sample(x, grid, align_corners=False)
    tensor([[[[2.5000]]]])
    """
    if mode not in _MODES:
        raise errors.value_error(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or "
            f"'bicubic', but got: '{mode}'",
            "Pass one of them.",
        )
    if padding_mode not in _PADDINGS:
        raise errors.value_error(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'",
            "Pass one of them.",
        )
    if align_corners is None:
        warn_of_corners()
        align_corners = False
    kinds = _MODES.index(mode), _PADDINGS.index(padding_mode)
    return _sampled(None, input, grid, *kinds, align_corners)
