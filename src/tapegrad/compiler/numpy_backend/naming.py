"""Names in the source of a program: of its values, its functions and its constants."""

import keyword
import re

import numpy as np

from tapegrad.arrays.traced.program import Constant, Scalar, Value
from tapegrad.arrays.traced.source import index_of, text_of
from tapegrad.compiler.numpy_backend.block import Block
from tapegrad.core.annotations import Any, Callable

_TAKEN = frozenset("dtype references inf memory nan ndarray program workspace".split())


class Names:
    """The names of a source, and what they stand for outside of it (`scope`)."""

    def __init__(self, block: Block, given: dict[int, str] | None = None):
        self.scope: dict[str, Any] = {"inf": np.inf, "nan": np.nan, "dtype": np.dtype}
        self._block = block
        self._given = given or {}
        self._used = set(_TAKEN) | set(keyword.kwlist)
        self._values: dict[Any, str] = {}
        self._constants: dict[int, str] = {}

    def value(self, x: Any, kind: str = "") -> str:
        """The name of a Value or Scalar, or of another form of it."""
        found = self._values.get((x, kind))
        if found is None:
            first = self._given.get(x.number)
            first = repr(x) if first is None else re.sub(r"\W", "_", first)
            found = self._values[x, kind] = self.new(first + kind)
        return found

    def new(self, name: str) -> str:
        """A name that is not used yet."""
        found, n = name if name.isidentifier() else f"_{name}", 2
        while found in self._used:
            found, n = f"{name}_{n}", n + 1
        self._used.add(found)
        return found

    def function(self, text: str, function: Callable) -> str:
        """The name of a function: the last part of its text, or more where that is taken."""
        parts = text.split(".")
        for n in range(1, len(parts) + 1):
            name = "_".join(parts[-n:])
            if self.scope.get(name) == function:  # methods are made anew
                return name
            if name not in self._used and name.isidentifier():
                break
        else:
            name = self.new("_".join(parts))
        self._used.add(name)
        self.scope[name] = function
        return name

    def constant(self, x: Constant) -> str:
        """The name of a constant; a dtype is written as what it is."""
        found = self._constants.get(x.number)
        if found is None:
            thing = self._block.constants[x.number]
            if isinstance(thing, np.dtype) and thing.isbuiltin == 1:
                found = f"dtype({thing.str!r})"
            else:
                found = self.new(f"c{x.number}")
                self.scope[found] = thing
            self._constants[x.number] = found
        return found

    def constants(self) -> list[tuple[str, Any]]:
        """The constants that were named, with what they are."""
        named = [(name, self._block.constants[i]) for i, name in self._constants.items()]
        return [(name, x) for name, x in named if name in self.scope]

    def text(self, x: Any) -> str:
        """An argument as source."""
        return text_of(x, self._named)

    def key(self, key: Any) -> str:
        """What stands in the brackets of an index."""
        return index_of(key, self._named)

    def _named(self, x: Any) -> str:
        if isinstance(x, Constant):
            return self.constant(x)
        if isinstance(x, (Value, Scalar)):
            return self.value(x)
        return f"dtype({np.dtype(x).str!r})"
