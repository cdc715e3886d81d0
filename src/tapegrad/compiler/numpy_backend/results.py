"""Memory of results: used again when nobody but us refers to it."""

import sys

import numpy as np

from tapegrad.core.annotations import Any, Callable

_MOST = 3  # sets of memory that are kept for a result


references: Callable[[Any], Any] = getattr(sys, "getrefcount", lambda x: object())
"""How many refer to an object; where nobody counts, each answer is another: no memory is free."""


def _references(arrays: tuple) -> list[Any]:
    return [references(x) for x in arrays]


class ResultMemory:
    """Sets of arrays, each set one piece of memory and views of it.

    `make` gives a new one. The current set belongs to the program's variables; `other` finds one
    that nobody refers to when somebody has kept the current one.
    """

    def __init__(self, make: Callable[[], tuple]):
        self._make = make
        self._sets: list[tuple] = []
        self._free: list[Any] = []
        self._next = 0

    def forget(self) -> None:
        """Let go of the sets."""
        self._sets = []

    def other(self) -> tuple:
        """A set that nobody uses."""
        for arrays in self._sets:
            if _references(arrays) == self._free:
                return arrays
        arrays = self._make()
        self._free = _references(arrays)
        if len(self._sets) < _MOST:
            self._sets.append(arrays)
        else:
            self._sets[self._next] = arrays
            self._next = (self._next + 1) % _MOST
        return arrays


def laid_out(shape: tuple, dtype: Any, order: tuple[int, ...]) -> np.ndarray:
    """A new array, whose axes lie in memory in `order`, the slowest first."""
    found = np.empty([shape[i] for i in order], dtype)
    if order == tuple(range(len(shape))):
        return found
    return found.transpose(np.argsort(order))
