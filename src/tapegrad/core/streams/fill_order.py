"""The order in which an array is filled: that of its memory, not of its indices."""

from collections.abc import Callable

import numpy as np

from tapegrad.core.memory_format import axes_by_stride


def laid_out_like(array: np.ndarray, draw: Callable) -> np.ndarray:
    """`draw(shape)`, called with the axes of `array` in the order of its memory, turned back.

    >>> import numpy as np
    >>> from tapegrad.core.streams.fill_order import laid_out_like
    >>> laid_out_like(np.empty((2, 3)).T, lambda shape: np.arange(6).reshape(shape))
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    axes = axes_by_stride(array)
    drawn = draw(tuple(array.shape[axis] for axis in axes))
    return drawn if array.flags.c_contiguous else drawn.transpose(np.argsort(axes))
