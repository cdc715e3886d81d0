"""Interpolation: images of another size."""

import math
from functools import lru_cache

from tapegrad.arrays.numpy.interpolate import Separable
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Number, Shape, Tensor
from tapegrad.core.dtype import float64, of, uint8
from tapegrad.core.overridable import overridable
from tapegrad.core.shape import countable_bytes
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.nn import interpolate_stencil
from tapegrad.operators.nn.adaptive_pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)
from tapegrad.operators.nn.interpolate_stencil import mapping


def resized(
    input: Tensor, n: int, size: Any, scale_factor: Any, recompute: Any
) -> tuple[tuple, tuple]:
    """The output sizes, and the scale factors to compute with, or None for each."""
    spatial = list(input.shape[2:])
    if size is not None and scale_factor is not None:
        text = "only one of size or scale_factor should be defined"
        raise errors.value_error(text, "Pass one of them.")
    if size is None and scale_factor is None:
        text = "either size or scale_factor should be defined"
        raise errors.value_error(text, "Pass one of them.")
    if size is not None:
        if recompute:
            text = "recompute_scale_factor is not meaningful with an explicit size."
            raise errors.value_error(text, "Leave it out.")
        several = isinstance(size, (list, tuple))
        if several and len(size) != n:
            raise errors.value_error(
                "Input and output must have the same number of spatial dimensions, but got "
                f"input with spatial dimensions of {spatial} and output size of {size}. "
                "Please provide input tensor in (N, C, d1, d2, ...,dK) format and output "
                "size in (o1, o2, ...,oK) format.",
                "Pass a size for each spatial dimension.",
            )
        sizes = tuple(size) if several else (size,)
        if not all(isinstance(each, int) for each in sizes):
            raise errors.type_error(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                f"Tuple[int, int, int], but got size with types {[type(each) for each in sizes]}",
                "Sizes are whole numbers; scale_factor takes others.",
            )
        return sizes if several else sizes * n, (None,) * n
    if isinstance(scale_factor, str):
        raise errors.must_be("interpolate", "scale_factor", 0, "float", scale_factor)
    several = isinstance(scale_factor, (list, tuple))
    factors = tuple(map(float, scale_factor)) if several else (float(scale_factor),) * n
    if len(factors) != n:
        raise errors.value_error(
            "Input and scale_factor must have the same number of spatial dimensions, but "
            f"got input with spatial dimensions of {spatial} and scale_factor of shape "
            f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
            "and scale_factor in (s1, s2, ...,sK) format.",
            "Pass a factor for each spatial dimension.",
        )
    sizes = tuple(math.floor(float(m * f)) for m, f in zip(spatial, factors, strict=True))
    return sizes, (None,) * n if recompute else factors


_nearest = {n: mapping(f"upsample_nearest{n}d", f"UpsampleNearest{n}DBackward0") for n in (1, 2, 3)}
_nearest_exact = {
    n: mapping(f"upsample_nearest_exact{n}d", f"UpsampleNearestExact{n}DBackward0")
    for n in (1, 2, 3)
}
_linear = {
    1: mapping("upsample_linear1d", "UpsampleLinear1DBackward0"),
    2: mapping("upsample_bilinear2d", "UpsampleBilinear2DBackward0"),
    3: mapping("upsample_trilinear3d", "UpsampleTrilinear3DBackward0"),
}
_cubic = mapping("upsample_bicubic2d", "UpsampleBicubic2DBackward0")
_smooth = {
    "bilinear": mapping("upsample_bilinear2d_aa", "UpsampleBilinear2DAaBackward0"),
    "bicubic": mapping("upsample_bicubic2d_aa", "UpsampleBicubic2DAaBackward0"),
    "lanczos": mapping("upsample_lanczos2d_aa", "UpsampleLanczos2DAaBackward0"),
}
_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}
_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
_CURVED = ("linear", "bilinear", "bicubic", "trilinear")


@overridable
def interpolate(
    input: Tensor,
    size: Shape | None = None,
    scale_factor: Number | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Images (N, C, L), (N, C, H, W) or (N, C, D, H, W) brought to another size.

    The spatial sizes become `size`, or `floor(scale_factor * size)`. Modes:

    - `nearest`: each pixel is the one below its left upper corner;
    - `nearest-exact`: each pixel is the one below its middle;
    - `linear`, `bilinear`, `trilinear`: on straight lines between neighbours, in 1 to 3 dimensions;
    - `bicubic`: on cubic curves through four neighbours each way;
    - `area`: the mean of the pixels it covers, as `adaptive_avg_pool`;
    - `lanczos`: a windowed sinc, with `antialias` only.

    With `align_corners` the middles of the corner pixels stay where they are, else their outer
    corners. `antialias` smooths images that shrink. A given scale factor is the one that is
    computed with, unless `recompute_scale_factor` derives it from the sizes.

    Shape: (N, C, ...), and so the result, with `size` behind the channels.
    Raises: ValueError for an option that the mode lacks; NotImplementedError for other dimensions.

    >>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> torch.nn.functional.interpolate(x, scale_factor=2)
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.],
              [3., 3., 4., 4.],
              [3., 3., 4., 4.]]]])
    """
    shape = input.shape
    n = len(shape) - 2
    if mode == "lanczos" and align_corners:
        text = "Lanczos mode does not support align_corners=True"
        raise errors.value_error(text, "Leave it out.")
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise errors.value_error(
            "align_corners option can only be set with the interpolating modes: linear | "
            "bilinear | bicubic | trilinear",
            "Leave it out.",
        )
    align = bool(align_corners)
    sizes, scales = resized(input, n, size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and n == 2):
        raise errors.value_error(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and "
            "requires a 4-D tensor as input",
            "Leave it out.",
        )
    if mode == "lanczos" and not antialias:
        raise errors.value_error("Lanczos mode requires antialias=True", "Pass antialias=True.")
    if n in (1, 2, 3) and mode == "area":
        pools = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)
        return pools[n - 1](input, sizes)
    if n in (1, 2, 3) and mode in _LINEAR and _LINEAR[mode] != n:
        text = f"Got {n + 2}D input, but {mode} mode needs {_LINEAR[mode] + 2}D input"
        advice = "Inputs are (N, C, ...) with the dimensions of the mode."
        raise errors.not_implemented(text, advice)
    flat_only = mode in ("bicubic", "lanczos") and n != 2
    known = mode in (*_CURVED, "nearest", "nearest-exact", "lanczos")
    if n not in (1, 2, 3) or flat_only or not known:
        raise errors.not_implemented(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {n + 2}D) for the "
            f"modes: {_MODES} (got {mode})",
            "Inputs are (N, C, ...); unsqueeze(0) adds a dimension for the batch.",
        )
    _check(input, n, sizes)
    return _resized(input, n, sizes, scales, mode, align, antialias)


def _check(input: Tensor, n: int, sizes: tuple[int, ...]) -> None:
    shape = input._array.shape
    if min((*shape[2:], *sizes)) <= 0:
        names = ("D", "H", "W")[3 - n :]
        before, after = (
            ", ".join(f"{a}: {m}" for a, m in zip(names, each, strict=True))
            for each in (shape[2:], sizes)
        )
        joint = " and output" if n == 1 else " output"
        raise errors.runtime_error(
            f"Input and output sizes should be greater than 0, but got input ({before}){joint} "
            f"({after})",
            "An image has one pixel at least.",
        )
    if 0 in shape[1:]:
        text = f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(shape)}"
        raise errors.runtime_error(text, "Only the batch may be empty.")
    countable_bytes((*shape[:2], *sizes), input._array.dtype.itemsize)


def _resized(
    input: Tensor, n: int, sizes: tuple, scales: tuple, mode: str, align: bool, antialias: bool
) -> Any:
    dtype = of(input._array.dtype)
    _check_dtype(dtype, n, mode, antialias)
    double = dtype is float64 or dtype is uint8
    through = _through(input._array.shape[2:], sizes, scales, mode, align, antialias, double)
    if antialias:
        return _smooth[mode](input, through=through)
    if mode == "bicubic":
        return _cubic(input, through=through)
    if mode in _LINEAR:
        return _linear[n](input, through=through)
    return (_nearest_exact if mode == "nearest-exact" else _nearest)[n](input, through=through)


@lru_cache(maxsize=256)
def _through(
    before: tuple,
    after: tuple,
    scales: tuple,
    mode: str,
    align: bool,
    antialias: bool,
    double: bool,
) -> Separable:
    """The map of images of sizes `before` to sizes `after`."""
    axes = zip(before, after, scales, strict=True)
    if antialias:
        taps = [interpolate_stencil.smoothed(*axis, align, double, mode) for axis in axes]
    elif mode == "bicubic":
        taps = [interpolate_stencil.cubic(*axis, align, double) for axis in axes]
    elif mode in _LINEAR:
        taps = [interpolate_stencil.straight(*axis, align, double) for axis in axes]
    else:
        exact = mode == "nearest-exact"
        taps = [interpolate_stencil.nearest(*axis, exact, len(before) == 2) for axis in axes]
    return Separable(tuple(taps))


def _check_dtype(dtype: Any, n: int, mode: str, antialias: bool) -> None:
    if dtype.is_floating_point:
        return
    near = mode in ("nearest", "nearest-exact")
    if dtype is uint8 and (near or n == 2):
        return
    kernel = "compute_indices_weights_linear"
    if antialias:
        kernel = "compute_index_ranges_weights"
    elif near:
        kernel = "upsample_nearest2d_channels_last" if n == 2 else "compute_indices_weights_nearest"
    elif mode == "bicubic":
        kernel = "compute_indices_weights_cubic"
    elif n == 2:
        kernel = "upsample_bilinear2d_channels_last"
    raise no_kernel(kernel, dtype)
