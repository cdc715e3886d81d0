"""The arguments of a custom function's call, all by position."""

import inspect
from collections.abc import Callable
from types import FunctionType

from tapegrad.core import errors


def with_defaults(forward: Callable, args: tuple, kwargs: dict) -> tuple:
    """All arguments by position, defaults among them."""
    if not kwargs and type(forward) is FunctionType and not forward.__dict__:
        code = forward.__code__  # bind() costs ten times as much as all the rest of a call
        if len(args) == code.co_argcount and not code.co_kwonlyargcount:
            return args
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise _unexpected(next(iter(bound.kwargs)))
    return bound.args


def in_order(forward: Callable, args: tuple, kwargs: dict) -> tuple:
    """All arguments that are given, by position: those behind `ctx` and `args` by their names."""
    parameters = list(inspect.signature(forward).parameters.values())[1:]
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    for name in kwargs:
        if name not in names:
            raise _unexpected(name)
    found = list(args)
    for i, name in enumerate(names[len(args) :], len(args)):
        if name in kwargs:
            if len(found) < i:
                raise errors.type_error(
                    f"forward() missing required argument: '{names[len(found)]}' (position "
                    f"{len(found)})",
                    "Give the arguments before it, too.",
                )
            found.append(kwargs[name])
    given_twice = [name for name in names[: len(args)] if name in kwargs]
    if given_twice:
        raise TypeError(f"forward() got multiple values for argument '{given_twice[0]}'")
    return tuple(found)


def _unexpected(name: str) -> TypeError:
    return errors.type_error(
        f"forward() got an unexpected keyword argument '{name}'",
        "Arguments of a custom function have a position.",
    )
