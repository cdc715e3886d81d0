"""The place where whoever records a computation hears of what Python brings into it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

RECORDERS: list[Any] = []
"""Those who record: each has `draw(name, function, args, kwargs)`, which calls the function, and
`as_constant(array)` for an array that numbers of Python were made into."""


def recorded(function: Callable) -> Any:
    """A function that draws from a stream, its first argument; what is drawn can be recorded."""

    @wraps(function)
    def draw(*args: Any, **kwargs: Any) -> Any:
        if RECORDERS:
            return RECORDERS[-1].draw(function.__name__, function, args, kwargs)
        return function(*args, **kwargs)

    return draw
