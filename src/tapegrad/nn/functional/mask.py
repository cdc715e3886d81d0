"""Masks of attention as numbers that are added to scores."""

from __future__ import annotations

import math
from warnings import warn

from tapegrad.core.annotations import DTypeLike
from tapegrad.core.errors import assertion_error
from tapegrad.tensors.tensor import Tensor


def additive(
    mask: Tensor | None,
    name: str,
    dtype: DTypeLike,
    other: Tensor | None = None,
    other_name: str = "",
) -> Tensor | None:
    """A mask that is added to scores: 0, and minus infinity where a boolean one is true.

    Warns if `other`, a mask of the same call, has another dtype.
    """
    if mask is None:
        return None
    is_bool = mask.dtype.name == "bool"
    if not (is_bool or mask.dtype.is_floating_point):
        raise assertion_error(
            f"only bool and floating types of {name} are supported",
            "Masks are bool (True: left out), or numbers that are added to the scores.",
        )
    if other is not None and other.dtype is not mask.dtype:
        warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both "
            "instead.",
            stacklevel=4,
        )
    if not is_bool:
        return mask
    return mask.new_zeros(mask.shape, dtype=dtype).masked_fill_(mask, -math.inf)
