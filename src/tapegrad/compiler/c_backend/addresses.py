"""Where arrays have their memory, found without asking NumPy.

CPython and NumPy keep the address of an array's memory, the number of a float and the items of a
tuple at fixed places in these objects. `OFFSETS` are these places as they were found in this
process; None where they are elsewhere, and then `ctypes` is asked.
"""

import ctypes
import sys
from functools import cache
from typing import NamedTuple

import numpy as np

from tapegrad.core.annotations import Any, Array


class Offsets(NamedTuple):
    """Bytes from the start of an object: to an array's address, a float's number, tuple items."""

    array: int
    number: int
    items: int


@cache
def offsets() -> Offsets | None:
    """The places that a probe of this process has confirmed."""
    if sys.implementation.name != "cpython":
        return None
    word = ctypes.sizeof(ctypes.c_void_p)
    arrays = [np.empty(n, dtype)[k:] for n, dtype, k in ((3, "f4", 0), (5, "i8", 2), (1, "b", 0))]
    numbers = [0.1, -3.75e300]
    triples = [(arrays[0], numbers[0], arrays[1]), (numbers[1], arrays[2], arrays[0])]
    array = _first(word, lambda at: all(_word(x, at) == x.ctypes.data for x in arrays))
    number = _first(word, lambda at: all(_double(x, at) == x for x in numbers))
    items = _first(
        word, lambda at: all(_word(x, at + word * i) == id(x[i]) for x in triples for i in range(3))
    )
    if array is None or number is None or items is None:
        return None
    return Offsets(array, number, items)


def _first(word: int, holds: Any) -> int | None:
    """The first of the words after the counter of references for which something holds."""
    return next((at for at in (2 * word, 3 * word, 4 * word) if holds(at)), None)


def _word(x: Any, at: int) -> int | None:
    if at + 8 > sys.getsizeof(x):
        return None
    return ctypes.c_void_p.from_address(id(x) + at).value


def _double(x: Any, at: int) -> float | None:
    if at + 8 > sys.getsizeof(x):
        return None
    return ctypes.c_double.from_address(id(x) + at).value


def address(x: Array) -> int:
    """The address of an array's first element."""
    found = offsets()
    if found is None:
        return x.ctypes.data
    return ctypes.c_void_p.from_address(id(x) + found.array).value or 0
