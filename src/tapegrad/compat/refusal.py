"""Modules of which tapegrad has the names: what is imported resolves, what is called refuses."""

import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from tapegrad.core.errors import not_implemented
from tapegrad.core.missing import missing, torch_name

_ADVICE: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def advice_of(x: Any) -> str | None:
    """What to do instead of calling a function or class that `refusing` has made; None of others.

    >>> from tapegrad.compat.refusal import advice_of
    >>> from tapegrad.compat.torch import onnx
    >>> advice_of(onnx.export) is None, advice_of(torch.tanh) is None
    (False, True)
    """
    return _ADVICE.get(x) if isinstance(x, type | FunctionType) else None


def refusing(
    module: str, advice: str, *, functions: str = "", classes: str = "", submodules: str = ""
) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose functions and classes refuse when they are called.

    Nothing is an instance of such a class, which may be asked for.

    >>> from tapegrad.compat.refusal import refusing
    >>> found = refusing("tapegrad.compat.torch.onnx", "Save weights.", functions="export")
    >>> found("export")()
    Traceback (most recent call last):
    NotImplementedError: torch.onnx.export is not supported in tapegrad
    Save weights.
    """
    home = torch_name(module)
    made: dict[str, Any] = {}
    known = {
        **dict.fromkeys(functions.split(), _function),
        **dict.fromkeys(classes.split(), _class),
    }

    def __getattr__(name: str) -> Any:
        if name in submodules.split():
            return importlib.import_module(f"{module}.{name}")
        if name not in known:
            raise missing(module, name)
        if name not in made:
            made[name] = known[name](home, name, advice)
            _ADVICE[made[name]] = advice
        return made[name]

    return __getattr__


def _function(home: str, name: str, advice: str) -> Callable:
    def refused(*args: Any, **kwargs: Any) -> Any:
        raise not_implemented(f"{home}.{name} is not supported in tapegrad", advice)

    refused.__name__ = refused.__qualname__ = name
    refused.__module__ = home
    return refused


def _class(home: str, name: str, advice: str) -> type:
    def refused(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise not_implemented(f"{home}.{cls.__name__} is not supported in tapegrad", advice)

    return type(name, (), {"__new__": refused, "__module__": home})
