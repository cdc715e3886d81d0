"""The order of the axes of pictures, and several pictures in a grid."""

import numpy as np

from tapegrad.core.errors import value_error

_COLUMNS = 8


def to_hwc(pixels: np.ndarray, dataformats: str) -> np.ndarray:
    """Pictures of any order of axes as (height, width, channels); a batch becomes a grid.

    Args:
        dataformats: a letter for each axis: H, W and, where there are such, C and N.

    >>> from tapegrad.utils.tensorboard.layout import to_hwc
    >>> to_hwc(np.zeros((3, 8, 6)), "CHW").shape, to_hwc(np.zeros((10, 3, 8, 6)), "NCHW").shape
    ((8, 6, 3), (16, 48, 3))
    """
    if len(set(dataformats)) != len(dataformats):
        raise AssertionError(
            "You can not use the same dimension shorthand twice. "
            f"            input_format: {dataformats}"
        )
    if pixels.ndim != len(dataformats):
        raise AssertionError(
            "size of input tensor and input format are different. "
            f"        tensor shape: {pixels.shape}, input_format: {dataformats}"
        )
    axes = dataformats.upper()
    if set(axes) not in ({*"NCHW"}, {*"CHW"}, {*"HW"}):
        raise value_error(
            f"unknown dataformats: {dataformats!r}",
            "Give a letter for each axis: NCHW, CHW or HW in any order.",
        )
    if len(axes) == 4:
        return grid(pixels.transpose([axes.index(axis) for axis in "NCHW"])).transpose(1, 2, 0)
    if len(axes) == 3:
        pixels = pixels.transpose([axes.index(axis) for axis in "HWC"])
    else:
        pixels = pixels.transpose([axes.index(axis) for axis in "HW"])[..., None]
    return pixels.repeat(3, axis=2) if pixels.shape[2] == 1 else pixels


def grid(pictures: np.ndarray, n_columns: int = _COLUMNS) -> np.ndarray:
    """(N, C, H, W) as one picture (3, rows H, columns W), in lines from left to right.

    >>> from tapegrad.utils.tensorboard.layout import grid
    >>> grid(np.ones((3, 1, 8, 6)), 2).shape
    (3, 16, 12)
    """
    if pictures.shape[1] == 1:
        pictures = pictures.repeat(3, axis=1)
    count, channels, height, width = pictures.shape
    n_columns = min(count, n_columns)
    n_rows = -(-count // n_columns)
    empty = np.zeros((n_rows * n_columns - count, channels, height, width), pictures.dtype)
    cells = np.concatenate([pictures, empty]).reshape(n_rows, n_columns, channels, height, width)
    cells = cells.transpose(2, 0, 3, 1, 4)  # (channels, row, height, column, width)
    return cells.reshape(channels, n_rows * height, n_columns * width)
