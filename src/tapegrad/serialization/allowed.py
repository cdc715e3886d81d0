"""Permissions of a file: the lists of what it may name and do, applied."""

import sys
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from types import FunctionType
from typing import Any

from tapegrad.core.errors import type_error
from tapegrad.core.size import Size
from tapegrad.serialization import rebuild
from tapegrad.serialization.message import blocked_global, lacking, malformed, refused_global
from tapegrad.serialization.names import BLOCKED, CALLS, GLOBALS, LACKING, REBUILDING

_lock = Lock()
_added: list[Any] = []


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let files name these classes and functions, which `load` then calls as the file says.

    Each is a class or function, or a pair of it and the name that files have for it. Those that
    run code of a file's choice, such as `eval`, must never be among them.

    >>> class Options:
    ...     pass
    >>> torch.serialization.add_safe_globals([Options])
    >>> torch.serialization.clear_safe_globals()
    """
    given = list(safe_globals)
    for each in given:
        name_of(each)
    with _lock:
        _added.extend(each for each in given if each not in _added)


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has added.

    >>> torch.serialization.get_safe_globals()
    []
    """
    return list(_added)


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` has added.

    >>> torch.serialization.clear_safe_globals()
    """
    with _lock:
        _added.clear()


class safe_globals:
    """While it lasts, files may name these classes and functions: see `add_safe_globals`.

    >>> class Options:
    ...     pass
    >>> with torch.serialization.safe_globals([Options]):
    ...     len(torch.serialization.get_safe_globals())
    1
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self._given = list(safe_globals)

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._given)

    def __exit__(self, *exception: Any) -> None:
        with _lock:
            _added[:] = self._before


def name_of(given: object) -> str:
    """What files call a safe global."""
    if isinstance(given, tuple) and len(given) == 2 and type(given[1]) is str:
        return given[1]
    if not callable(given) or not hasattr(given, "__qualname__"):
        raise type_error(
            f"a safe global is a class or function, not {type(given).__name__}",
            "For another name than its own, pass the pair (object, 'module.name').",
        )
    return f"{given.__module__}.{given.__qualname__}"


def object_of(given: object) -> Any:
    """The class or function of a safe global."""
    return given[0] if isinstance(given, tuple) else given


_LONGEST = 1000  # letters of a name
_TENSOR, _MODULE, _OTHER = 300, 2500, 140  # bytes of what a call makes, at first
_COPIED = {OrderedDict: 100, set: 100, Size: 8}  # of each item that goes into it
_ENTRY = 100  # of each in a dict


def cost_of_call(function: Any, args: tuple) -> int:
    """How much memory `function(*args)` may take at most, if `function` is on our lists."""
    n = _TENSOR if function in REBUILDING else _OTHER
    each = _COPIED.get(function, 0)
    for x in args:
        if isinstance(x, (str, bytes, bytearray)):
            n += 2 * len(x)
        elif isinstance(x, (tuple, list)):
            n += each * len(x)
        elif isinstance(x, dict):
            n += _ENTRY * len(x)
    if function is rebuild.rebuild_from_type and len(args) == 4 and type(args[2]) is tuple:
        n += cost_of_call(args[0], args[2]) if args[0] in REBUILDING else 0
    return n


class Allowed:
    """What one call of `load` lets a file name and do."""

    def __init__(self) -> None:
        self.spend: Callable[[int], None] = lambda n: None  # raises where that is too much memory
        added = get_safe_globals()
        self._added = {name_of(each): object_of(each) for each in added}
        self._callable = [each for each in self._added.values() if callable(each)]
        self._modules: set[type] = set()

    def find(self, module: str, name: str) -> Any:
        """What a file means by `name` of `module`."""
        module, name = NAME_MAPPING.get((module, name), (module, name))  # of Python 2
        module = IMPORT_MAPPING.get(module, module)
        full = f"{module}.{name}"
        if len(full) > _LONGEST:
            raise malformed("the file names something by more than a thousand letters")
        if module.partition(".")[0] in BLOCKED:
            raise blocked_global(module, name)
        if full in self._added:
            return self._added[full]
        if full in GLOBALS:
            return GLOBALS[full]
        if full in LACKING:
            raise lacking(LACKING[full], full)
        found = _layer(module, name)
        if found is not None and found in self._callable:
            self._modules.add(found)
            return found
        if module in ("torch.nn.functional", "torch._C._nn"):
            found = _function(name)
            if found is not None and found in self._callable:
                return found
        raise refused_global(name if module == "builtins" else full)

    def call(self, function: Callable, args: tuple, new: bool = False) -> Any:
        """`function(*args)`, if it may be called; with `new` an object without its state."""
        if isinstance(function, type) and function in self._modules:
            self.spend(_MODULE)
            made: Any = function
            return made.__new__(made)
        for each in self._callable:
            if function is each:
                return function.__new__(function, *args) if new else function(*args)
        is_known = callable(function) and getattr(type(function), "__hash__", None) is not None
        if not is_known or function not in CALLS:
            raise malformed(f"the file calls what cannot be called: {_short(function)}")
        self.spend(cost_of_call(function, args))
        try:
            return CALLS[function](*args)
        except (TypeError, ValueError, OverflowError) as error:
            raise malformed(f"the file calls {_short(function)} wrongly: {error}") from error

    def build(self, found: Any, state: Any) -> None:
        """Give `found` the state that a file has for it."""
        kind = type(found)
        parts = state if type(state) is tuple else (state,)
        self.spend(cost_of_call(None, parts))
        if kind is OrderedDict:
            rebuild.with_metadata(found, state)
        elif kind in self._modules:
            from tapegrad.nn import Module

            if type(state) is not dict:
                raise malformed("the state of a module is no dict")
            Module.__init__(found)  # a file of an older version may lack a table
            try:
                _restore(found, state)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise malformed(
                    f"the file gives a {kind.__name__} the state of something else"
                ) from error
        elif any(kind is each for each in self._callable):
            _restore(found, state)
        else:
            raise malformed(f"the file gives a {kind.__name__} a state, which has none")


def _layer(module: str, name: str) -> Any:
    """The class of `tapegrad.nn` of that name, wherever PyTorch has it."""
    if not (module == "torch.nn" or module.startswith("torch.nn.modules.")):
        return None
    from tapegrad import nn

    home = sys.modules.get(f"tapegrad{module.removeprefix('torch')}", nn)
    found = vars(nn).get(name) or vars(home).get(name)
    return found if isinstance(found, type) and issubclass(found, nn.Module) else None


def _function(name: str) -> Any:
    """The function of `nn.functional` of that name, which layers hold."""
    from tapegrad.nn import functional

    found = vars(functional).get(name)
    return found if isinstance(found, FunctionType) and name[0] != "_" else None


def _restore(found: object, state: dict) -> None:
    restore = getattr(type(found), "__setstate__", None)
    if restore is None:
        rebuild.with_metadata(found, state)
    else:
        restore(found, state)


def _short(x: object) -> str:
    name = getattr(x, "__name__", None)
    return name if isinstance(name, str) else type(x).__name__
