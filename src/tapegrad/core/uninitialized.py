"""Memory that nothing is written to: filled where results are to be the same in each run."""

from typing import Any

import numpy as np

from tapegrad.core import memory_format

DETERMINISTIC = [False]  # torch.use_deterministic_algorithms
FILLS = [True]  # torch.utils.deterministic.fill_uninitialized_memory


def filled(array: np.ndarray) -> np.ndarray:
    """`array`: with nan, True or the largest number where `DETERMINISTIC` asks for it.

    >>> from tapegrad.core import uninitialized
    >>> uninitialized.DETERMINISTIC[0] = True
    >>> torch.empty(2), torch.empty(2, dtype=torch.uint8)
    (tensor([nan, nan]), tensor([255, 255], dtype=torch.uint8))
    >>> uninitialized.DETERMINISTIC[0] = False
    """
    if DETERMINISTIC[0] and FILLS[0]:
        kind = array.dtype.kind
        array.fill(np.iinfo(array.dtype).max if kind in "iu" else kind == "b" or np.nan)
    return array


def empty(shape: Any, dtype: Any) -> np.ndarray:
    """An array of such memory."""
    return filled(np.empty(shape, dtype))


def arranged(shape: Any, dtype: Any, format: Any) -> np.ndarray:
    """The same in a memory format."""
    return filled(memory_format.empty(shape, dtype, format))
