"""Floats among the arguments of a compiled function, such as a rate that its caller computes.

One that has had several values is an input of the program, as tensors are, as long as what is done
with it can be recorded; else each value is a condition.
"""

from tapegrad.core.annotations import Any


class Given(dict):
    """The floats that were inputs of a recorded call, by their places."""


class Floats:
    """Which arguments of a function are floats, and have had several values."""

    def __init__(self) -> None:
        self._first: dict[int | str, float] = {}
        self._several: set[int | str] = set()
        self._stay = False

    def note(self, args: tuple, kwargs: dict) -> None:
        """Take note of the arguments of a call."""
        for place, x in (*enumerate(args), *kwargs.items()):
            if type(x) is float and self._first.setdefault(place, x) != x:
                self._several.add(place)

    def stay(self) -> None:
        """Have each value be a condition of its program from now on."""
        self._stay = True

    def places(self, args: tuple, kwargs: dict) -> tuple:
        """Where the arguments have floats that are inputs: positions and names."""
        if self._stay or not self._several:
            return ()
        given = (*enumerate(args), *kwargs.items())
        return tuple([at for at, x in given if type(x) is float and at in self._several])

    def rest(self, args: tuple, kwargs: dict) -> tuple[list, dict]:
        """The other arguments, with None in their places."""
        given: tuple[Any, Any] = list(args), dict(kwargs)
        for at in self.places(args, kwargs):
            given[isinstance(at, str)][at] = None
        return given
