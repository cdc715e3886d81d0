"""Functions that look at values: inside `vmap` they run once for each member."""

import functools
from collections.abc import Callable
from typing import Any

from tapegrad.autograd.mode import MODE
from tapegrad.core.argument_check import refused
from tapegrad.core.registration import PER_SAMPLE

__all__: list[str] = []


def per_sample(function: Callable | None = None, *, name: str = "") -> Any:
    """A function that a batch of members calls one after the other; a warning says so once."""
    if function is None:
        return lambda function: per_sample(function, name=name)
    called = function

    @functools.wraps(called)
    def wrapper(*args: object, **kwargs: object) -> Any:
        if type(MODE.get()) is bool:
            try:
                return called(*args, **kwargs)
            except AttributeError as error:
                refusal = refused(called, args, kwargs, error)
                if refusal is None:
                    raise
                raise refusal from None
        return PER_SAMPLE().called_in_turn(wrapper, called, name or called.__name__, args, kwargs)

    return wrapper
