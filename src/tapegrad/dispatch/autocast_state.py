"""The place where `torch.amp.autocast` takes part in calls.

A function that a block of autocast runs in another precision says so, by `@autocast` or, where
every nanosecond counts, by a line of its own:

    if IN_USE:
        input, mat2 = lowered(input, mat2)

`IN_USE` is empty until a program switches autocast on for the first time. Which function runs in
which precision is the table of `tapegrad.amp.cast`.
"""

from contextvars import ContextVar
from functools import update_wrapper

from tapegrad.core.annotations import Any, Callable, DTypeLike, Sequence
from tapegrad.core.argument_check import respelled, with_method
from tapegrad.core.dtype import float32
from tapegrad.core.registration import AUTOCAST

IN_USE: list[bool] = []
"""Not empty once a program has switched autocast on."""

STATE: ContextVar[Any] = ContextVar("tapegrad_autocast", default=None)
"""The state of autocast in the current context, None for PyTorch's defaults."""


def autocast(function: Callable | None = None, *, name: str | None = None) -> Any:
    """Let a block of autocast run `function` in the precision that the table has for `name`."""
    if function is None:
        return lambda function: autocast(function, name=name)
    key = name or function.__name__

    def make(method: bool) -> Callable:
        def call(*args: object, **kwargs: object) -> Any:
            try:
                if IN_USE:
                    return AUTOCAST().call_in_precision(key, function, args, kwargs)
                return function(*args, **kwargs)
            except Exception as error:
                again = respelled(call, args, kwargs, error, method=method)
                if again is None:
                    raise
            return again()

        return update_wrapper(call, function)

    return with_method(make)


def is_on() -> bool:
    """Whether autocast is on here, for any device."""
    state = STATE.get()
    return state is not None and bool(state.enabled)


def lower_dtype() -> Any:
    """The dtype of functions that run in lower precision here; None where autocast is off."""
    state = STATE.get()
    return state.dtypes["cpu"] if state is not None and "cpu" in state.enabled else None


def lowered(*values: Any) -> tuple:
    """Tensors, and tensors in lists, in the lower precision, where autocast is on."""
    return _cast(values, lower_dtype())


def widened(*values: Any) -> tuple:
    """Tensors, and tensors in lists, of 16 bits in float32, where autocast is on."""
    return _cast(values, None if lower_dtype() is None else float32)


def widest(tensors: Sequence) -> Any:
    """Tensors in a list in the widest dtype among them, where autocast is on."""
    lower = lower_dtype()
    if lower is None:
        return tensors

    return AUTOCAST().cast_value(tensors, AUTOCAST().widest_dtype((tensors,), lower))


def _cast(values: tuple, dtype: DTypeLike) -> tuple:
    if dtype is None:
        return values

    cast_value = AUTOCAST().cast_value
    return tuple([cast_value(x, dtype) for x in values])


def without_autocast(function: Callable) -> Callable:
    """`function` as it is outside of autocast: the form that is behind a write in place."""

    def call(*args: object, **kwargs: object) -> Any:
        if IN_USE:
            with AUTOCAST().switched_off():
                return function(*args, **kwargs)
        return function(*args, **kwargs)

    return update_wrapper(call, function)
