"""Kernels of sliding blocks: reading them out of images, and adding them up in images."""

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.conv_columns import Grid, add_all, read_all
from tapegrad.core.annotations import Any, Array


@kernel
def read_blocks(x: Array, kernel: Any, stride: Any, padding: Any, dilation: Any, size: Any) -> Any:
    """The blocks of images (N, C, *image) as columns (N, C * offsets, P)."""
    grid = Grid(kernel, stride, padding, dilation, 1, size)
    return read_all(grid, x[:, None])[:, 0]


@kernel
def sum_blocks(
    columns: Array, image: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, size: Any
) -> Any:
    """The gradient of `read_blocks`: columns added up in images (N, C, *image)."""
    grid = Grid(kernel, stride, padding, dilation, 1, size)
    return add_all(grid, columns[:, None], image)[:, 0]
