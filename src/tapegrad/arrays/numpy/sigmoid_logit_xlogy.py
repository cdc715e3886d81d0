"""The logistic function on NumPy arrays, in one buffer."""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array


@kernel(elementwise=True)
def sigmoid(x: Array, /) -> Any:
    """1 / (1 + exp(-x)); where exp overflows, 1 / inf is the 0 it should be."""
    if x.dtype.kind not in "fc" or not x.ndim:
        return 1 / (1 + np.exp(-x))
    y = np.negative(x)
    np.exp(y, y)
    y += 1
    return np.reciprocal(y, y)
