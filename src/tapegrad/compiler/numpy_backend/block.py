"""`Block`: the instructions of a program while passes rewrite them.

A program's own instructions and values are never changed: another backend may have them, too. What
a pass finds equal is substituted in the arguments of later instructions; whose memory a value is a
part of is asked of the block, which knows what became of a root.
"""

from collections.abc import Iterator

import numpy as np

from tapegrad.arrays.traced.program import Constant, Instruction, Program, Scalar, Value
from tapegrad.core.annotations import Any, Sequence

_SMALL = 1 << 12  # bytes: constants up to here are compared with those that are there


class Block:
    """A program to be rewritten.

    Attributes:
        inputs: Values and Scalars, as of the program
        outputs: Values or Constants; several may have become one
        instructions: copies of the program's
        functions, constants: of the program, and what passes add
        kept: inputs that are written before the last check: a copy puts them back
    """

    def __init__(self, program: Program, outputs: Sequence[Value]):
        self.inputs = list(program.inputs)
        self.outputs: list[Any] = list(outputs)
        self.instructions = [
            Instruction(x.text, x.args, _without_none(x.kwargs), x.result, x.line)
            for x in program.instructions
        ]
        self.functions = dict(program.functions)
        for each in self.instructions:
            function = self.functions.get(each.text)
            if isinstance(function, np.ufunc):  # the namespace has NumPy's under other names
                each.text = f"np.{function.__name__}"
                self.functions[each.text] = function
        self.constants = list(program.constants)
        self.kept: list[Value] = []
        self._moved: dict[Value, tuple[Value, int]] = {}
        self._known: dict[Any, int] = {}
        self._n = 1 + max(
            [x.number for each in self.instructions for x in _numbered(each.result)]
            + [x.number for x in self.inputs],
            default=-1,
        )

    def root(self, value: Value) -> Value:
        """The value whose memory this one is a part of."""
        return self.place(value)[0]

    def place(self, value: Value) -> tuple[Value, int]:
        """The root of a value, and its offset there in bytes."""
        root, offset = value.root, value.offset
        while root in self._moved:
            root, more = self._moved[root]
            offset += more
        return root, offset

    def move(self, value: Value, other: Value) -> None:
        """Say that `value`, a root, is the memory of another value."""
        self._moved[value] = other.root, other.offset

    def new_number(self) -> int:
        """A number for a value that the program does not have."""
        self._n += 1
        return self._n - 1

    def constant(self, x: Any) -> Constant:
        """The place of an object that never changes."""
        key: Any = id(x)
        if isinstance(x, (np.ndarray, np.generic)) and x.nbytes <= _SMALL:
            key = type(x), x.dtype.str, x.shape, x.strides, x.tobytes()
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self.constants)
            self.constants.append(x)
        return Constant(number)


def _without_none(kwargs: dict) -> dict:
    return {k: x for k, x in kwargs.items() if not (k == "out" and x is None)}


def _numbered(result: Any) -> list[Any]:
    if type(result) is tuple:
        return [x for each in result for x in _numbered(each)]
    return [result] if isinstance(result, (Value, Scalar)) else []


def substituted(x: Any, table: dict[Any, Any]) -> Any:
    """An argument in which values are replaced."""
    if isinstance(x, (Value, Scalar)):
        return table.get(x, x)
    if type(x) is tuple or type(x) is list:
        return type(x)([substituted(each, table) for each in x])
    if type(x) is slice:
        return slice(*[substituted(each, table) for each in (x.start, x.stop, x.step)])
    return x


def values_in(x: Any) -> Iterator[Value]:
    """The values in an argument or a result."""
    if isinstance(x, Value):
        yield x
    elif type(x) is tuple or type(x) is list:
        for each in x:
            yield from values_in(each)
    elif type(x) is slice:
        yield from values_in((x.start, x.stop, x.step))


def arguments(instruction: Instruction) -> list[Value]:
    """The values that an instruction is given, those that it writes among them."""
    return [*values_in(instruction.args), *values_in(tuple(instruction.kwargs.values()))]
