"""The size of an interpolated image, said as a size or as a factor."""

from __future__ import annotations

import math
from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import Shape, TensorLike


def resized(
    input: TensorLike, n: int, size: Shape | None, scale_factor: Any, recompute: Any
) -> tuple[tuple, tuple]:
    """The output sizes, and the scale factors to compute with, or None for each."""
    spatial = list(input.shape[2:])
    if size is not None and scale_factor is not None:
        raise errors.value_error(
            "only one of size or scale_factor should be defined", "Pass one of them."
        )
    if size is None and scale_factor is None:
        raise errors.value_error(
            "either size or scale_factor should be defined", "Pass one of them."
        )
    if size is not None:
        if recompute:
            raise errors.value_error(
                "recompute_scale_factor is not meaningful with an explicit size.", "Leave it out."
            )
        if isinstance(size, (list, tuple)):
            if len(size) != n:
                raise errors.value_error(
                    "Input and output must have the same number of spatial dimensions, but got "
                    f"input with spatial dimensions of {spatial} and output size of {size}. "
                    "Please provide input tensor in (N, C, d1, d2, ...,dK) format and output "
                    "size in (o1, o2, ...,oK) format.",
                    "Pass a size for each spatial dimension.",
                )
            if not all(isinstance(each, int) for each in size):
                raise errors.type_error(
                    "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                    "Tuple[int, int, int], but got size with types "
                    f"{[type(each) for each in size]}",
                    "Sizes are whole numbers; scale_factor takes others.",
                )
            return tuple(size), (None,) * n
        if not isinstance(size, int):
            raise errors.type_error(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                f"Tuple[int, int, int], but got size with types {[type(size)]}",
                "Sizes are whole numbers; scale_factor takes others.",
            )
        return (size,) * n, (None,) * n
    if isinstance(scale_factor, str):
        raise errors.must_be("interpolate", "scale_factor", 0, "float", scale_factor)
    if isinstance(scale_factor, (list, tuple)):
        if len(scale_factor) != n:
            raise errors.value_error(
                "Input and scale_factor must have the same number of spatial dimensions, but "
                f"got input with spatial dimensions of {spatial} and scale_factor of shape "
                f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
                "and scale_factor in (s1, s2, ...,sK) format.",
                "Pass a factor for each spatial dimension.",
            )
        factors = tuple(float(each) for each in scale_factor)
    else:
        factors = (float(scale_factor),) * n
    sizes = tuple(math.floor(m * f) for m, f in zip(spatial, factors, strict=True))
    return sizes, (None,) * n if recompute else factors
