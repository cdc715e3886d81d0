"""Context managers that decorate functions, generators among them."""

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from tapegrad.core.missing import refuses as _refuses


def _wrap_generator(ctx_factory: Callable[[], Any], func: Callable) -> Callable:
    """A generator function whose body runs inside the context, and its caller outside."""

    @functools.wraps(func)
    def generator_context(*args: Any, **kwargs: Any) -> Any:
        gen = func(*args, **kwargs)
        step: Callable[[], Any] = functools.partial(gen.send, None)
        while True:
            try:
                with ctx_factory():
                    response = step()
            except StopIteration as end:
                return end.value
            try:
                request = yield response
            except GeneratorExit:
                with ctx_factory():
                    gen.close()
                raise
            except BaseException:
                error = sys.exc_info()[1]
                step = functools.partial(gen.throw, error)
            else:
                step = functools.partial(gen.send, request)

    return generator_context


def context_decorator(ctx: Any, func: Any) -> Any:
    """`func` inside a context, entered anew for each call.

    `ctx` is a context manager, or a function that makes one.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise RuntimeError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), "
            "making it ambiguous which interface to use.  If you intended to pass a context "
            "manager factory, rewrite your call as context_decorator(lambda: ctx()); if you "
            "intended to pass a context manager directly, rewrite your call as "
            "context_decorator(lambda: ctx)"
        )
    make = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the constructor or all "
            "methods should have the context manager applied; additionally, decorating a class at "
            "definition-site will prevent use of the identifier as a conventional type.  To "
            "specify which methods to decorate, decorate each of them individually."
        )
    if inspect.isgeneratorfunction(func):
        return _wrap_generator(make, func)

    @functools.wraps(func)
    def decorate_context(*args: Any, **kwargs: Any) -> Any:
        with make():
            return func(*args, **kwargs)

    return decorate_context


class _DecoratorContextManager:
    """A context manager that is a decorator, too: `@C()`."""

    def __call__(self, orig_func: Callable) -> Callable:
        return context_decorator(self.clone, orig_func)

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        raise NotImplementedError

    def clone(self) -> Any:
        """Another one, for each call; override it in a class that takes arguments."""
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """The same, also without parentheses: `@C`."""

    def __new__(cls, orig_func: Callable | None = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)


__getattr__ = _refuses(__name__)
