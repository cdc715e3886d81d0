"""Products of matrices in groups."""

from itertools import pairwise

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array


@kernel
def multiply_groups(a: Array, b: Array, offs: Array) -> Any:
    """A product for each group; the groups are matrices, or slices that end at `offs`.

    (G, m, k) and (G, k, n) give (G, m, n); a matrix (T, k) has slices of rows, for (T, n), a second
    matrix (k, T) slices of columns, for (m, T). Of two matrices, (m, T) and (T, n), the slices are
    those of the dimension that the product sums over, for (G, m, n). What is behind the last slice
    takes no part, and is zero.

    Raises: RuntimeError where `offs` decrease or end behind the last slice.
    """
    if a.ndim == b.ndim == 3:
        return np.matmul(a, b)
    ends = offs.tolist()
    size = a.shape[0] if b.ndim == 3 else b.shape[-1] if a.ndim == 3 else min(a.shape[1], len(b))
    if any(j < i or j > size for i, j in pairwise([0, *ends])):
        raise errors.runtime_error(
            f"offs must not decrease, nor end behind the last of {size} slices, but is {ends}",
            "Each group begins where the one before it ends: torch.cumsum of their sizes.",
        )
    slices = [slice(i, j) for i, j in pairwise([0, *ends])]
    m, n = a.shape[-2], b.shape[-1]
    out = np.zeros((len(ends), m, n) if a.ndim == b.ndim else (m, n), np.result_type(a, b))
    for i, each in enumerate(slices):
        if a.ndim == b.ndim:
            np.matmul(a[:, each], b[each], out=out[i])
        elif a.ndim == 2:
            np.matmul(a[each], b[i], out=out[each])
        else:
            np.matmul(a[i], b[:, each], out=out[:, each])
    return out
