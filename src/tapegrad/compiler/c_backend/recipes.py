"""Recipes on disk: a program that was compiled before is neither lowered nor written as C again.

A recipe is found by what was recorded: instructions, shapes, dtypes, places in memory, constants,
names, and all that decides what is made of them. The library has its own place (see `cache`). It
begins with a digest of itself, as several processes may write at once.
"""

import contextlib
import hashlib
import io
import os
import pickle
from functools import cache as once

import numpy as np

from tapegrad.arrays.signature import Like
from tapegrad.arrays.traced.program import Constant, Program, Scalar, Value
from tapegrad.arrays.traced.record import Read
from tapegrad.compiler.c_backend import blas
from tapegrad.compiler.c_backend.addresses import offsets
from tapegrad.compiler.c_backend.folder import folder, write
from tapegrad.compiler.c_backend.recipe import Recipe
from tapegrad.compiler.c_backend.surroundings import surroundings
from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.streams.mersenne_twister import Twister

MOST = 2**24  # bytes of a recipe that is kept
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice)


def key_of(
    program: Program, outputs: Sequence[Value], names: dict[int, str], compiler: str
) -> str | None:
    """What a program is found by; None where it has constants of which nothing is known.

    Two programs of one key are lowered to the same C by the compiler of that identity.
    """
    said = _Saying(program)
    try:
        lines = [said.place(x) for x in program.inputs]
        for each in program.instructions:
            given = [said.argument(x) for x in each.args]
            given += [f"{k}={said.argument(x)}" for k, x in each.kwargs.items()]
            lines.append(f"{said.function(each.text)}({','.join(given)}) {each.line}")
            lines.append(said.argument(each.result))
        lines += [said.place(x) for x in outputs]
    except _Unknown:
        return None
    lines.append(repr(sorted((k, v) for k, v in names.items())))
    lines += [compiler, surroundings(), f"{blas.found().convention} {offsets()}"]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


class _Unknown(Exception):
    """A constant that no text stands for."""


class _Saying:
    """Writes what the parts of a program are, each value and constant once in full."""

    def __init__(self, program: Program):
        self._constants, self._functions = program.constants, program.functions
        self._said: set[int] = set()
        self._digests: set[int] = set()

    def function(self, text: str) -> str:
        """What an instruction calls: lowering knows some functions by what they are."""
        x = self._functions.get(text)
        name = getattr(x, "__qualname__", None) or getattr(x, "__name__", "")
        return f"{text} {type(x).__name__} {getattr(x, '__module__', '')}.{name}"

    def place(self, x: Any) -> str:
        """A value with all that was recorded of it, and the memory that it is a part of."""
        if not isinstance(x, Value) or x.number in self._said:
            return repr(x)
        self._said.add(x.number)
        root = f"v{x.root.number}" if x.root is x else self.place(x.root)
        return f"v{x.number}:{x.shape}{x.strides}{_dtype(x.dtype)}@{x.offset}[{root}]"

    def argument(self, x: Any) -> str:
        kind = type(x)
        if kind is Value or kind is Scalar:
            return self.place(x)
        if kind is tuple or kind is list:
            return f"{'(' if kind is tuple else '['}{','.join([self.argument(y) for y in x])})"
        if kind is Constant:
            return self._constant(x)
        if kind is slice:
            return f"slice{self.argument((x.start, x.stop, x.step))}"
        if kind is Read:
            return f"read {self.object(x.number)}"
        if kind in _PLAIN:
            return repr(x)
        raise _Unknown

    def _constant(self, x: Constant) -> str:
        if x.number in self._digests:
            return repr(x)
        self._digests.add(x.number)
        return f"{x!r}={self.object(self._constants[x.number])}"

    def object(self, x: Any) -> str:
        """Something that no instruction made."""
        kind = type(x)
        if kind is np.ndarray and x.dtype.kind != "O":
            digest = hashlib.sha256(x.tobytes()).hexdigest()
            return f"array{x.shape}{x.strides}{_dtype(x.dtype)}{digest}"
        if isinstance(x, np.generic) and x.dtype.kind != "O":
            return f"number{_dtype(x.dtype)}{x.tobytes()!r}"
        if isinstance(x, np.dtype):
            return _dtype(x)
        if kind is Like:
            return f"like{x.shape}{_dtype(x.dtype)}"
        if kind is Twister:
            return "generator"
        if kind is tuple or kind is list:
            return f"{kind.__name__}[{','.join([self.object(y) for y in x])}]"
        if kind is dict:
            return f"dict[{','.join([f'{k!r}:{self.object(y)}' for k, y in x.items()])}]"
        if kind in _PLAIN:
            return repr(x)
        if isinstance(x, type):
            return f"type {x.__module__}.{x.__qualname__}"
        raise _Unknown


@once
def _dtype(x: np.dtype) -> str:
    return f"{x.str}{x.name}" if x.fields is None else repr(x)


@once
def find(key: str, program: Program) -> Recipe | None:
    """The recipe of a program; None where there is none that is whole."""
    path = os.path.join(folder(), "recipes", key)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return None
    digest, rest = content[:32], content[32:]
    if hashlib.sha256(rest).digest() != digest:
        return None
    with contextlib.suppress(OSError):  # not ours: whoever's it is knows what was used
        os.utime(path)
    return _Reader(io.BytesIO(rest), program.constants).load()


def keep(key: str, recipe: Recipe, constants: list) -> None:
    """Write a recipe where others find it; `constants` are those that the recording had.

    Where it cannot be written, or is large, programs are lowered again.
    """
    buffer = io.BytesIO()
    _Writer(buffer, constants).dump(recipe)
    content = buffer.getvalue()
    if len(content) > MOST:
        return
    write("recipes", key, hashlib.sha256(content).digest() + content)


class _Writer(pickle.Pickler):
    """Leaves away the arrays that a recording has as constants: they are there again."""

    def __init__(self, file: Any, constants: list):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._numbers = {id(x): i for i, x in enumerate(constants) if type(x) is np.ndarray}

    def persistent_id(self, x: Any) -> int | None:
        return self._numbers.get(id(x))

    def reducer_override(self, x: Any) -> Any:
        if isinstance(x, np.dtype) and x.isbuiltin == 1:
            return np.dtype, (x.str,)  # NumPy's own way gives a copy, which is not the same object
        return NotImplemented


class _Reader(pickle.Unpickler):
    def __init__(self, file: Any, constants: list):
        super().__init__(file)
        self._constants = constants

    def persistent_load(self, number: int) -> Any:
        return self._constants[number]
