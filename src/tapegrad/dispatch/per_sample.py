"""Functions that look at values: inside `vmap` they run once for each member."""

import functools
from collections.abc import Callable
from typing import Any

from tapegrad.autograd.mode import MODE
from tapegrad.core.argument_check import respelled, with_method
from tapegrad.core.registration import PER_SAMPLE

__all__: list[str] = []


def per_sample(function: Callable | None = None, *, name: str = "") -> Any:
    """A function that a batch of members calls one after the other; a warning says so once."""
    if function is None:
        return lambda function: per_sample(function, name=name)
    called = function

    def make(method: bool) -> Callable:
        @functools.wraps(called)
        def wrapper(*args: object, **kwargs: object) -> Any:
            try:
                if type(MODE.get()) is bool:
                    return called(*args, **kwargs)
                of_name = name or called.__name__
                return PER_SAMPLE().called_in_turn(wrapper, called, of_name, args, kwargs)
            except Exception as error:
                again = respelled(wrapper, args, kwargs, error, method=method)
                if again is None:
                    raise
            return again()

        return wrapper

    return with_method(make)
