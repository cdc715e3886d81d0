"""PyTorch's insides that programs ask for by name: the modules of the folder `torch` here."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from tapegrad.core.missing import missing

_HOME = "tapegrad.compat.torch"


def module_of(name: str) -> ModuleType | None:
    """The module that stands for `torch.<name>`, or None.

    >>> from tapegrad.compat.insides import module_of
    >>> module_of("types").Number
    int | float | bool
    >>> module_of("typos") is None
    True
    """
    if name.rpartition(".")[2][:2] == "__" and name not in ("__config__", "__future__"):
        return None
    full = f"{_HOME}.{name}"
    return None if find_spec(full) is None else import_module(full)


def with_submodules(module: str, names: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose modules `names` are loaded on their first use."""
    found = frozenset(names.split())

    def __getattr__(name: str) -> Any:
        if name in found:
            return import_module(f"{module}.{name}")
        raise missing(module, name)

    return __getattr__
