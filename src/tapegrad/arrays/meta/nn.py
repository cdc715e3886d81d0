"""Convolution, normalisation, softmax, pooling and padding of arrays without elements."""

from math import prod
from typing import Any

import numpy as np

from tapegrad.arrays.kernel import meta_rule
from tapegrad.core.meta_array import nowhere


@meta_rule
def convolve(
    x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Any:
    return nowhere((x.shape[0], w.shape[0], *size), np.result_type(x.dtype, w.dtype))


@meta_rule
def convolve_transposed(
    y: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Any:
    return nowhere((y.shape[0], groups * w.shape[1], *size), np.result_type(y.dtype, w.dtype))


@meta_rule
def convolve_weights(
    x: Any, y: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Any:
    return nowhere((y.shape[1], x.shape[1] // groups, *size), np.result_type(x.dtype, y.dtype))


@meta_rule
def read_blocks(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, size: Any) -> Any:
    return nowhere((x.shape[0], x.shape[1] * prod(kernel), prod(size)), x.dtype)


@meta_rule
def sum_blocks(
    columns: Any, image: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, size: Any
) -> Any:
    n, rows = columns.shape[:2]
    return nowhere((n, rows // prod(kernel), *image), columns.dtype)


# --- softmax ----------------------------------------------------------------------------------


@meta_rule
def softmax_along(x: Any, axis: int) -> Any:
    return nowhere(x.shape, x.dtype)


log_softmax_along = meta_rule(softmax_along)


@meta_rule
def softmax_back(g: Any, y: Any, axis: int) -> Any:
    return nowhere(y.shape, y.dtype)


log_softmax_back = meta_rule(softmax_back)


# --- normalisation ------------------------------------------------------------------------------


@meta_rule
def standardize_rows(x: Any, weight: Any, bias: Any, n_axes: int, eps: float) -> Any:
    rows = (*x.shape[: x.ndim - n_axes], *(1,) * n_axes)
    return nowhere(x.shape, x.dtype), nowhere(rows, x.dtype), nowhere(rows, x.dtype)


@meta_rule
def standardize_rows_back(g: Any, x: Any, *_: Any) -> Any:
    return nowhere(x.shape, x.dtype)


@meta_rule
def standardize_rows_weight_back(
    g: Any, x: Any, mean: Any, scale: Any, like: Any, eps: float
) -> Any:
    return nowhere(like.shape, like.dtype)


@meta_rule
def sum_rows(g: Any, like: Any) -> Any:
    return nowhere(like.shape, like.dtype)


@meta_rule
def standardize_channels(x: Any, *_: Any) -> Any:
    return nowhere(x.shape, x.dtype)


@meta_rule
def standardize_channels_back(g: Any, x: Any, *_: Any) -> Any:
    return nowhere(x.shape, x.dtype)


@meta_rule
def channel_moments(x: Any, groups: int | None) -> Any:
    shape = (x.shape[1],) if groups is None else (x.shape[0], groups)
    return nowhere(shape, x.dtype), nowhere(shape, x.dtype)


@meta_rule
def standardize_channels_weight_back(
    g: Any, x: Any, mean: Any, variance: Any, like: Any, groups: int | None, eps: float
) -> Any:
    return nowhere(like.shape, like.dtype)


@meta_rule
def standardize_given_weight_back(
    g: Any, x: Any, mean: Any, variance: Any, like: Any, eps: float
) -> Any:
    return nowhere(like.shape, like.dtype)


@meta_rule
def scale_channels(g: Any, *_: Any) -> Any:
    return nowhere(g.shape, g.dtype)


@meta_rule
def sum_channels(g: Any, like: Any) -> Any:
    return nowhere(like.shape, like.dtype)


# --- pooling and padding ----------------------------------------------------------------------


@meta_rule
def take_places(x: Any, index: Any, n_axes: int) -> Any:
    return nowhere(index.shape, x.dtype)


@meta_rule
def put_places(x: Any, index: Any, sizes: Any, add: bool) -> Any:
    return nowhere((*x.shape[: x.ndim - len(sizes)], *sizes), x.dtype)


def _bordered(shape: Any, padding: Any, sign: int) -> tuple[int, ...]:
    """Sizes with (before, after) of each of the last axes, the last one first, added or taken."""
    found = list(shape)
    for i in range(len(padding) // 2):
        found[-1 - i] += sign * (padding[2 * i] + padding[2 * i + 1])
    return tuple(found)


@meta_rule
def pad_constant(x: Any, padding: Any, value: Any) -> Any:
    return nowhere(_bordered(x.shape, padding, 1), x.dtype)


@meta_rule
def pad_edges(x: Any, padding: Any, mode: str) -> Any:
    return nowhere(_bordered(x.shape, padding, 1), x.dtype)


@meta_rule
def unpad_edges(g: Any, padding: Any, mode: str) -> Any:
    return nowhere(_bordered(g.shape, padding, -1), g.dtype)


@meta_rule
def resample(x: Any, through: Any) -> Any:
    return nowhere((*x.shape[: x.ndim - len(through.axes)], *through.sizes), x.dtype)


@meta_rule
def window_maximum(x: Any, windows: Any) -> Any:
    shape = (*x.shape[: x.ndim - len(windows)], *[window.n_out for window in windows])
    return nowhere(shape, x.dtype), nowhere(shape, np.int64)


@meta_rule
def shifted_maximum(x: Any, samples: Any, kernel: Any, sizes: Any) -> Any:
    shape = (*x.shape[: x.ndim - len(sizes)], *sizes)
    return nowhere(shape, x.dtype), nowhere(shape, np.int64)
