"""Whose code something is, and which names it looks up.

What tapegrad, NumPy, SciPy and Python's library have is not looked at for what a call reads: it
reads nothing of the user's but what it is given.
"""

import dis
import sys
import types

from tapegrad.core.annotations import Any

_OURS = ("tapegrad", "torch")


def globals_of(code: Any) -> list[str]:
    """The global names that code and the functions in it look up, and the modules they import."""
    found = {x.argval: None for x in dis.get_instructions(code) if x.opname in _OF_GLOBALS}
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            found.update(dict.fromkeys(globals_of(x)))
    return list(found)


_OF_GLOBALS = frozenset(
    "LOAD_GLOBAL LOAD_NAME STORE_GLOBAL DELETE_GLOBAL IMPORT_NAME LOAD_FROM_DICT_OR_GLOBALS".split()
)


def names_of(code: Any) -> list[str]:
    """The names that code and the functions in it look up, those of attributes among them."""
    names = dict.fromkeys(code.co_names)
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            names.update(dict.fromkeys(names_of(x)))
    return list(names)


def is_library(x: Any) -> bool:
    """Whether a class or function is part of tapegrad, of NumPy or of Python's library."""
    return is_library_module(getattr(x, "__module__", None) or "builtins")


def is_library_module(name: str) -> bool:
    """Whether a module is part of tapegrad, of NumPy, of SciPy or of Python's library."""
    root = name.partition(".")[0]
    return root in (*_OURS, "numpy", "scipy", "builtins") or root in _STDLIB


def is_named_by_library(function: Any) -> bool:
    """Whether a function is one that a module of a library has under its name."""
    if not is_library(function):
        return False
    module = sys.modules.get(function.__module__)
    return getattr(module, function.__name__, None) is function


_STDLIB = sys.stdlib_module_names - {"__main__"}


_HOLDERS = frozenset(
    [
        ("types", "SimpleNamespace"), ("argparse", "Namespace"), ("_thread", "_local"),
        ("weakref", "WeakKeyDictionary"), ("collections", "UserDict"), ("collections", "UserList"),
        ("collections", "ChainMap"),
    ]
)  # fmt: skip
"""Classes of Python's whose objects have whatever the user puts in them."""


def is_foreign(kind: type) -> bool:
    """Whether objects of a class are Python's own or NumPy's, and nothing is looked for in them."""
    module = kind.__module__ or ""
    root = module.partition(".")[0]
    if root in ("numpy", "builtins"):
        return True
    return root in _STDLIB and (module, kind.__name__) not in _HOLDERS
