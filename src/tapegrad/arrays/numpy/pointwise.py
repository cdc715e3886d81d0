"""Part of an operator that is elementwise, on large arrays block by block."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blocks import LARGE, blockwise


@kernel
def pointwise(function: Callable, arrays: tuple) -> Any:
    """`function(*arrays)`; arrays of one shape, numbers, and None for what is not there."""
    for x in arrays:
        if type(x) is np.ndarray and x.size > LARGE:
            found = blockwise(function, arrays)
            return function(*arrays) if found is None else found
    return function(*arrays)
