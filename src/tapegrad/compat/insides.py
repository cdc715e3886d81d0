"""PyTorch's insides that programs ask for by name: the modules of the folder `torch` here."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

_HOME = "tapegrad.compat.torch"


def module_of(name: str) -> ModuleType | None:
    """The module that stands for `torch.<name>`, or None.

    >>> from tapegrad.compat.insides import module_of
    >>> module_of("types").Number
    int | float | bool
    >>> module_of("typos") is None
    True
    """
    if name[:2] == "__":
        return None
    full = f"{_HOME}.{name}"
    return None if find_spec(full) is None else import_module(full)
