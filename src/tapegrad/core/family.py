"""Families: functions of the same arguments that differ in a number, a name or a formula."""

import inspect
from collections.abc import Callable
from functools import update_wrapper

_GIVEN = ("__module__", "__name__", "__qualname__", "__doc__")


def family(make: Callable[..., Callable]) -> Callable[..., Callable]:
    """A decorator for the members of a family: `make(...)` is the function, the member names it.

    The docstring is the member's, or else the one that `make` has given.

    >>> @tapegrad.core.family.family
    ... def _power(n):
    ...     return lambda x: x**n
    >>> @_power(2)
    ... def square():
    ...     "The square of `x`."
    >>> square(3), square.__name__, square.__doc__
    (9, 'square', 'The square of `x`.')
    """

    def of(*args: object) -> Callable:
        def member(named: Callable) -> Callable:
            function = make(*args)
            signature = inspect.signature(function)
            text = function.__doc__
            update_wrapper(function, named, _GIVEN)  # `inspect.getsource` shows the member
            function.__doc__ = named.__doc__ or text
            function.__signature__ = signature  # type: ignore[attr-defined]
            return function

        return member

    return of
