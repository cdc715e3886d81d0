"""Where random functions ask whether they run inside `vmap`; outside it costs one look."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapegrad.autograd.mode import MODE
from tapegrad.core.annotations import TensorLike
from tapegrad.core.registration import RANDOMNESS


def level_mode() -> Any:
    """The innermost level of `vmap` of the current context; None outside of all of them."""
    mode = MODE.get()
    while type(mode) is not bool and mode is not None:
        if mode.maps:
            return mode
        mode = mode.under
    return None


def of_tensors(function: Callable, like: bool = False) -> Callable:
    """A random function of tensors; `like`: only the shape of its first argument counts."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        mode = MODE.get()
        if type(mode) is bool or level_mode() is None:
            return function(*args, **kwargs)
        if not any(hasattr(x, "_array") for x in (*args, *kwargs.values())):
            return function(*args, **kwargs)  # of numbers: it makes a tensor, as `rand` does

        return RANDOMNESS().drawn_of(wrapper, like, level_mode().level, args, kwargs)

    return wrapper


def in_place(function: Callable) -> Callable:
    """A random function that fills its first argument."""

    @functools.wraps(function)
    def wrapper(x: TensorLike, *args: Any, **kwargs: Any) -> Any:
        mode = MODE.get()
        if type(mode) is bool or level_mode() is None:
            return function(x, *args, **kwargs)

        return RANDOMNESS().filled_in(wrapper, level_mode().level, x, args, kwargs)

    return wrapper
