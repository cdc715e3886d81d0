"""Calling below: the function of the same name on the values of a batched array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.arrays import numpy as numpy_namespace
from tapegrad.arrays.batched.array import Batched, closed, spread, top_level
from tapegrad.arrays.find import namespace_of


def below(name: str, x: Any) -> Callable:
    """The function `name` for the values of `x`."""
    value = x.value
    return getattr(namespace_of((value,)) if type(value) is Batched else numpy_namespace, name)


def plain(name: str) -> Callable:
    """The function `name` of NumPy arrays."""
    return getattr(numpy_namespace, name)


def values_of(level: Any, *arrays: Any) -> list:
    """What lies below arrays, the batch as the first axis of all; None and numbers as is."""
    found = []
    for x in arrays:
        if type(x) is Batched and x.level is level:
            found.append(x.value if x.mapped else spread(x.value, level.size))
        else:
            found.append(spread(x, level.size) if hasattr(x, "shape") else x)
    return found


def all_mapped(name: str, arrays: Any, call: Callable) -> Any:
    """`call(function below, *values)`, with the batch as first axis of every value."""
    level = top_level(arrays)
    if level is None:
        return None
    values = values_of(level, *arrays)
    function = getattr(namespace_of([v for v in values if hasattr(v, "shape")]), name)
    return closed(level, call(function, *values), True)
