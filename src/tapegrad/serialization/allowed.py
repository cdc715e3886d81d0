"""What one file may name and do: the lists, applied."""

from __future__ import annotations

from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import OrderedDict
from typing import Any

import numpy as np

from tapegrad.serialization import numpy_value, rebuild
from tapegrad.serialization.construct import CALLS, PLAIN_CALLS
from tapegrad.serialization.message import blocked_global, lacking, malformed, refused_global
from tapegrad.serialization.names import BLOCKED, GLOBALS, LACKING, PLAIN
from tapegrad.serialization.safe import get_safe_globals, name_of, object_of


class Allowed:
    """What one call of `load` lets a file name and do.

    Args:
        plain: also classes of `tapegrad.nn`, Python and NumPy that hold data (weights_only=False)
    """

    def __init__(self, plain: bool = False) -> None:
        self._plain = plain
        added = get_safe_globals()
        self._added = {name_of(each): object_of(each) for each in added}
        self._callable = [each for each in self._added.values() if callable(each)]
        self._modules: set[type] = set()

    def find(self, module: str, name: str) -> Any:
        """What a file means by `name` of `module`."""
        module, name = NAME_MAPPING.get((module, name), (module, name))  # of Python 2
        module = IMPORT_MAPPING.get(module, module)
        full = f"{module}.{name}"
        if full in self._added:
            return self._added[full]
        if full in GLOBALS:
            return GLOBALS[full]
        if module.partition(".")[0] in BLOCKED:
            raise blocked_global(module, name)
        if full in LACKING:
            raise lacking(LACKING[full], full)
        if self._plain and full in PLAIN:
            return PLAIN[full]
        found = _layer(module, name)
        if found is not None and (self._plain or found in self._callable):
            self._modules.add(found)
            return found
        raise refused_global(name if module == "builtins" else full)

    def call(self, function: Any, args: tuple, new: bool = False) -> Any:
        """`function(*args)`, if it may be called; with `new` an object without its state."""
        if isinstance(function, type) and function in self._modules:
            made: Any = function
            return made.__new__(made)
        for each in self._callable:
            if function is each:
                return function.__new__(function, *args) if new else function(*args)
        table = CALLS
        is_known = callable(function) and getattr(type(function), "__hash__", None) is not None
        if self._plain and is_known and function in PLAIN_CALLS:
            table = PLAIN_CALLS
        if not is_known or function not in table:
            raise malformed(f"the file calls what cannot be called: {_short(function)}")
        try:
            return table[function](*args)
        except TypeError as error:
            raise malformed(f"the file calls {_short(function)} wrongly: {error}") from error

    def build(self, found: Any, state: Any) -> None:
        """Give `found` the state that a file has for it."""
        kind = type(found)
        if kind is OrderedDict:
            rebuild.with_metadata(found, state)
        elif self._plain and kind is np.ndarray:
            numpy_value.fill_array(found, state)
        elif self._plain and isinstance(found, np.dtype):
            numpy_value.check_dtype(found, state)
        elif kind in self._modules:
            from tapegrad.nn import Module

            if type(state) is not dict:
                raise malformed("the state of a module is no dict")
            Module.__init__(found)  # a file of an older version may lack a table
            _restore(found, state)
        elif any(kind is each for each in self._callable):
            _restore(found, state)
        else:
            raise malformed(f"the file gives a {kind.__name__} a state, which has none")


def _layer(module: str, name: str) -> Any:
    """The class of `tapegrad.nn` of that name, wherever PyTorch has it."""
    if not (module == "torch.nn" or module.startswith("torch.nn.modules.")):
        return None
    from tapegrad import nn

    found = vars(nn).get(name)
    return found if isinstance(found, type) and issubclass(found, nn.Module) else None


def _restore(found: Any, state: Any) -> None:
    restore = getattr(type(found), "__setstate__", None)
    if restore is None:
        rebuild.with_metadata(found, state)
    else:
        restore(found, state)


def _short(x: Any) -> str:
    name = getattr(x, "__name__", None)
    return name if isinstance(name, str) else type(x).__name__
