"""What a template says of an instruction: which C function to call, and with what.

The C function is called as

    f(result pointers..., arguments..., scratch pointer if there is scratch)

A `Value` or `Constant` among the arguments is the pointer to its first element, in row-major order
(the caller copies what is not); `Strided(value)` is the pointer to an array as it lies in memory.
An int is an int64_t, a float a double. Results are row-major, and overlap nothing.

Long work is shared by threads: the function is then `shared`, and gets their number after all else;
each part of it has scratch memory of its own.

With `status` the function returns an int: if it is not 0, an index was out of range; results are
then undefined, and the kernel itself is to be called, which raises the error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tapegrad.arrays.signature import Like
from tapegrad.arrays.traced.program import Constant, Instruction, Value
from tapegrad.compiler.c_backend.templates.shared import MOST_PARTS
from tapegrad.core.annotations import Any, NativeDType

_LONG = 2**15  # numbers that are computed: some tens of microseconds
_SUFFIXES = {"f": "f32", "d": "f64"}


@dataclass(frozen=True)
class Strided:
    """An array that is handed over as it lies in memory."""

    value: Value | Constant


@dataclass(frozen=True)
class Call:
    """A call of a C function in place of an instruction."""

    function: str
    arguments: tuple
    results: tuple[Value, ...]
    scratch: int = 0  # bytes
    status: bool = False
    shared: str = ""


Template = Callable[["Instance"], Call | None]
TEMPLATES: dict[str, Template] = {}


def template(text: str) -> Callable[[Template], Template]:
    """Register what stands for the instructions of a text."""

    def register(function: Template) -> Template:
        TEMPLATES[text] = function
        return function

    return register


class Uncovered(Exception):
    """This instance of an instruction has no template."""


class Instance:
    """An instruction, and what its template asks of it."""

    def __init__(self, instruction: Instruction, constants: list):
        self.args, self.kwargs = instruction.args, instruction.kwargs
        self.result, self.constants = instruction.result, constants

    def argument(self, i: int, name: str, default: Any = None) -> Any:
        """An argument by place or name; a constant object as itself."""
        found = self.args[i] if i < len(self.args) else self.kwargs.get(name, default)
        return self.of(found) if isinstance(found, Constant) else found

    def of(self, x: Any) -> Any:
        """What has the shape, dtype and strides of an array: a Value, or the constant itself."""
        return self.constants[x.number] if isinstance(x, Constant) else x

    def shape(self, x: Any) -> tuple[int, ...]:
        return self.of(x).shape

    def strides(self, x: Any) -> tuple[int, ...]:
        """In elements."""
        have = self.of(x)
        return tuple([s // have.dtype.itemsize for s in have.strides])

    def strided(self, x: Any) -> Strided:
        return Strided(x)

    def real(self, *arrays: Any) -> str:
        """The suffix of the dtype that all arrays have: float32 or float64."""
        dtypes = {self.dtype(x) for x in arrays}
        require(len(dtypes) == 1)
        suffix = _SUFFIXES.get(dtypes.pop().char)
        require(suffix is not None)
        return suffix  # type: ignore[return-value]

    def table(self, numbers: np.ndarray) -> Constant:
        """An array that never changes as an argument: a new constant of the program."""
        self.constants.append(np.ascontiguousarray(numbers))
        return Constant(len(self.constants) - 1)

    def dtype(self, x: Any) -> NativeDType:
        have = self.of(x)
        require(isinstance(have, (Value, np.ndarray, Like)))
        require(have.dtype.isnative)
        return have.dtype

    def index(self, *arrays: Any) -> None:
        """Require arrays of int64."""
        for x in arrays:
            require(self.dtype(x) == np.int64)

    def results(self) -> tuple[Value, ...]:
        """The arrays that it gives."""
        found = self.result if type(self.result) is tuple else (self.result,)
        return tuple([x for x in found if x is not None])

    def call(
        self, function: str, arguments: list, *, scratch: int = 0, status: bool = False,
        work: int = 0, part_scratch: int = 0,
    ) -> Call:  # fmt: skip
        """A call of a function; `work` is about how many numbers are computed by what threads can
        share, with `part_scratch` for each part in place of `scratch`."""
        results = self.results()
        for x in results:
            require(isinstance(x, Value) and x.root is x)
        for x in arguments:
            if type(x) is int:
                require(-(2**63) <= x < 2**63)
        shared = ""
        if work >= _LONG:
            shared = shared_name(function)
            part_scratch *= MOST_PARTS
        return Call(function, tuple(arguments), results, scratch + part_scratch, status, shared)


def shared_name(function: str) -> str:
    """The function that threads share in place of another."""
    return re.sub(r"(_f32|_f64)?$", r"_shared\1", function, count=1)


def require(condition: Any) -> None:
    """Raise `Uncovered` where a template does not hold."""
    if not condition:
        raise Uncovered


def is_row_major(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    step = itemsize
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1 and s != step and 0 not in shape:
            return False
        step *= n
    return True
