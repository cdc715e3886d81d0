"""NumPy's arrays and numbers in a file, made without letting NumPy read a pickle's state."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tapegrad.serialization.message import malformed


def make_dtype(name: Any, *flags: Any) -> np.dtype:
    """A dtype of numbers."""
    if type(name) is not str or name[:1] not in "biufc" or not name[1:].isdigit():
        raise malformed(f"the file has a NumPy dtype that is no number: {name!r:.40}")
    try:
        return np.dtype(name)
    except TypeError as error:
        raise malformed(f"the file has a NumPy dtype that is no number: {name!r:.40}") from error


def make_scalar(dtype: Any, data: Any) -> Any:
    """A number of a dtype from its bytes."""
    if not isinstance(dtype, np.dtype) or type(data) is not bytes or len(data) != dtype.itemsize:
        raise malformed("a NumPy number does not have the bytes of its dtype")
    return np.frombuffer(data, dtype)[0]


def make_array(cls: Any, shape: Any, kind: Any) -> np.ndarray:
    """An empty array, to be filled by `fill_array`."""
    if cls is not np.ndarray:
        raise malformed("a NumPy array is of a class of its own")
    return np.empty(0, "b")


def check_dtype(dtype: np.dtype, state: Any) -> None:
    """The state of a dtype says its byte order, and nothing else that numbers have."""
    if type(state) is not tuple or len(state) < 2 or state[1] not in ("<", "|", "="):
        raise malformed("a NumPy dtype is not little-endian")


def fill_array(array: np.ndarray, state: Any) -> None:
    """Give an array its shape, dtype and bytes."""
    if type(state) is not tuple or len(state) != 5:
        raise malformed("the state of a NumPy array has five parts")
    _, shape, dtype, is_fortran, data = state
    fits = (
        not array.size  # once only
        and type(shape) is tuple
        and len(shape) <= 64
        and all(type(n) is int and 0 <= n < 2**63 for n in shape)
        and isinstance(dtype, np.dtype)
        and type(is_fortran) is bool
        and type(data) is bytes
        and prod(shape) * dtype.itemsize == len(data)
        and prod(n or 1 for n in shape) * dtype.itemsize < 2**63
    )
    if not fits:
        raise malformed("a NumPy array does not have the bytes of its shape")
    array.__setstate__((1, shape, dtype, is_fortran, data))
