"""Modules that have no file."""

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def made_module(path: str, text: str, getattr: Callable[[str], Any]) -> Any:
    """A module with a docstring and a `__getattr__`, which `import` finds from now on.

    >>> from tapegrad.core.made_module import made_module
    >>> from tapegrad.core.missing import refuses
    >>> made_module("tapegrad.here", "A text.", refuses("tapegrad.here")).__doc__
    'A text.'
    """
    module: Any = ModuleType(path, text)
    module.__spec__, module.__getattr__ = ModuleSpec(path, None), getattr
    sys.modules[path] = module
    return module
