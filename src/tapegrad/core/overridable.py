"""`@overridable`: a public function that hands its call over where somebody overrides it.

The function that it makes has the parameters of the one it is made of, so that a call costs 20 ns
more instead of 100. What is quicker than two microseconds has a `try` of its own instead:
`core.torch_function.overridden` says how.
"""

import inspect
import sys
from collections.abc import Callable
from functools import cache, update_wrapper
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any, TypeVar

from tapegrad.core.torch_function import is_written_in_python, overridden

F = TypeVar("F", bound=Callable)

_LINE = 2 + sys._getframe().f_lineno  # where the text below begins: tracebacks show it
_SOURCE = """
def made(function, hand_over):
    def call({names}):
        try:
            return function({names})
        except Exception:
            again = hand_over(({names},))
            if again is None:
                raise
        return again()
    return call
"""


@cache
def _template(n: int) -> Any:
    """What makes the calling function of `n` parameters."""
    scope: dict[str, Any] = {"__name__": __name__}
    names = ", ".join(f"x{i}" for i in range(n))
    source = "\n" * (_LINE - 2) + _SOURCE.format(names=names)
    exec(compile(source, __file__, "exec"), scope)
    return scope["made"]


def _of_any_arguments(function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception:
            again = overridden(call, args, kwargs)
            if again is None:
                raise
        return again()

    return update_wrapper(call, function)


def overridable(function: F) -> F:
    """A public function of named parameters that somebody may override.

    What has no default is handed over by place, the rest by name, as PyTorch's functions do that
    are written in Python; of a native one all is by place, up to the last that is no default.
    """
    code = function.__code__
    n = code.co_argcount
    if code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        return _of_any_arguments(function)
    names = code.co_varnames[:n]
    defaults = function.__defaults__ or ()
    placed = n - len(defaults)

    def hand_over(given: tuple) -> Callable | None:
        if not is_written_in_python(call):
            end = n
            while end > placed and given[end - 1] is defaults[end - 1 - placed]:
                end -= 1
            return overridden(call, given[:end], above=3)
        named = dict(zip(names[placed:], given[placed:], strict=True))
        return overridden(call, given[:placed], named, above=3)

    made = _template(n)(function, hand_over)
    own = made.__code__
    varnames = (*names, *own.co_varnames[n:])
    renamed = own.replace(
        co_varnames=varnames, co_name=function.__name__, co_qualname=function.__qualname__
    )
    call: Any = FunctionType(
        renamed, function.__globals__, function.__name__, defaults, made.__closure__
    )
    update_wrapper(call, function)
    call.__signature__ = inspect.signature(function)
    return call
