"""Finding the namespace of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.arrays import numpy as numpy_namespace


def namespace_of(arrays: Any) -> Any:
    """The namespace of the first array among `arrays`: NumPy's unless another library made it.

    >>> import numpy as np
    >>> tapegrad.arrays.find.namespace_of([2.0, np.ones(3)]).__name__
    'tapegrad.arrays.numpy'
    """
    for x in arrays:
        kind = type(x)
        if kind is np.ndarray or kind is float or kind is int:
            continue
        if hasattr(kind, "__array_namespace__") and not isinstance(x, np.generic):
            return x.__array_namespace__()
    return numpy_namespace


def native_dtype(xp: Any, dtype: Any) -> Any:
    """What the namespace calls one of our dtypes."""
    return dtype.numpy if xp is numpy_namespace else getattr(xp, dtype.name)


def elements(array: Any) -> Any:
    """All elements of an array, of every member where it is batched: for checks of values."""
    while hasattr(array, "mapped"):
        array = array.value
    return array


def anywhere(xp: Any, condition: Any) -> bool:
    """Whether a condition holds for any element, of any member where it is batched."""
    array = getattr(condition, "_array", condition)
    if hasattr(array, "mapped"):
        return bool(elements(array).any())
    return bool(xp.any(condition))
