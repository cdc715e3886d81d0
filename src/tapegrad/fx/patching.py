"""Functions that are recorded as one call, and the patches that stand while a program is traced."""

import builtins
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from tapegrad.fx.proxy import Proxy

_ABSENT: Any = object()
_wrapped_fns_to_patch: dict[tuple[int, str], dict] = {}
_wrapped_methods_to_patch: list[tuple[type, str]] = []


def wrap(fn_or_name: str | Callable) -> str | Callable:
    """Let calls of a function of this module be recorded as they are, not what is inside.

    To be called, or used as a decorator, at the top of the module that defines the function or
    has it as a global; a function is given by itself or by its name, as `wrap("len")`.

    Raises: RuntimeError for what is neither; NotImplementedError within a function.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    name = fn_or_name.__name__ if callable(fn_or_name) else fn_or_name
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def _find_proxy(*values: Any) -> Proxy | None:
    for value in values:
        if isinstance(value, Proxy):
            return value
        inside: Any = ()
        if isinstance(value, (tuple, list)):
            inside = value
        elif isinstance(value, dict):
            inside = value.values()
        elif isinstance(value, slice):
            inside = (value.start, value.stop, value.step)
        found = _find_proxy(*inside) if inside else None
        if found is not None:
            return found
    return None


def _create_wrapped_func(original: Callable) -> Callable:
    @wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", original, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return wrapped


def _create_wrapped_method(cls: type, name: str) -> Callable:
    original = getattr(cls, name)

    @wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


class _Patcher:
    """A block in which attributes and globals are replaced; leaving it restores them."""

    def __init__(self) -> None:
        self.undo: list[Callable[[], None]] = []
        self.visited: set[int] = set()

    def patch(self, scope: dict, name: str, new: Any, deduplicate: bool = True) -> None:
        """Replace a global; one that is replaced twice is restored in two steps."""
        old = scope.get(name, _ABSENT)
        scope[name] = new
        self.undo.append(
            lambda: scope.pop(name) if old is _ABSENT else scope.__setitem__(name, old)
        )

    def patch_method(self, cls: Any, name: str, new: Any, deduplicate: bool = True) -> None:
        """Replace a method of a class; one that is replaced twice is restored in two steps."""
        old = vars(cls).get(name, _ABSENT)
        setattr(cls, name, new)
        self.undo.append(lambda: delattr(cls, name) if old is _ABSENT else setattr(cls, name, old))

    def visit_once(self, thing: Any) -> bool:
        """Whether this is the first time that it is asked for `thing`."""
        first = id(thing) not in self.visited
        self.visited.add(id(thing))
        return first

    def __enter__(self) -> "_Patcher":
        return self

    def __exit__(self, *error: object) -> None:
        while self.undo:
            self.undo.pop()()


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    """Put what was given to `wrap` behind functions that record the call."""
    for (_, name), scope in _wrapped_fns_to_patch.copy().items():
        if name not in scope and not hasattr(builtins, name):
            continue
        original = scope[name] if name in scope else getattr(builtins, name)
        patcher.patch(scope, name, _create_wrapped_func(original))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _create_wrapped_method(cls, name))


def _autowrap_check(patcher: _Patcher, scope: dict, function_ids: set[int]) -> None:
    """Put the functions of `autowrap_modules` in a module's globals behind recording ones."""
    if patcher.visit_once(scope):
        for name, value in list(scope.items()):
            if not name.startswith("_") and callable(value) and id(value) in function_ids:
                patcher.patch(scope, name, _create_wrapped_func(value))
