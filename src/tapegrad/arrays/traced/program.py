"""A recorded computation: instructions in the order in which they ran, and what they ran on.

While a program is recorded its instructions really run, so Python's control flow sees true numbers.
Views and writes are instructions like any other, so a program that runs again shares and overwrites
memory as the recorded computation did.
"""

from contextvars import ContextVar, Token

from tapegrad.core.annotations import Any, Array, Callable

RECORDING: ContextVar[Any] = ContextVar("tapegrad_recording", default=None)
"""The program that is being recorded in the current context; None where none is."""


class Changed(Exception):
    """A number that the recorded computation read is another one now: it has to run anew."""


class Value:
    """What an instruction gave, or an input: a shape, a dtype and a number in its program."""

    __slots__ = ("dtype", "number", "shape")

    def __init__(self, number: int, array: Array):
        self.number, self.shape, self.dtype = number, array.shape, array.dtype

    def __repr__(self) -> str:
        return f"v{self.number}"


class Instruction:
    """One call: how it is written, its arguments with a `Value` in the place of each array, and
    what it gave: a Value, a tuple with one for each array, or None."""

    __slots__ = ("args", "kwargs", "result", "text")

    def __init__(self, text: str, args: tuple, kwargs: dict, result: Any):
        self.text, self.args, self.kwargs, self.result = text, args, kwargs, result


class Program:
    """A block in which a computation is recorded, and afterwards what was.

    >>> import numpy as np
    >>> from tapegrad.arrays.traced.program import Program
    >>> with Program() as program:
    ...     x = program.input(np.array([1.0, 2.0]))
    ...     y = x * x + 1.0
    >>> print(program.source([y]))
    def program(v0):
        v1 = np.multiply(v0, v0)
        v2 = np.add(v1, 1.0)
        return (v2,)
    >>> program.function([y])(np.array([3.0, 4.0]))
    (array([10., 17.]),)
    """

    def __init__(self) -> None:
        self.inputs: list[Value] = []
        self.instructions: list[Instruction] = []
        self.functions: dict[str, Callable] = {}  # what the texts of instructions call
        self.constants: list[Any] = []  # arrays and objects that instructions were handed
        self._n = 0
        self._constants: dict[int, int] = {}
        self._token: Token | None = None

    def __enter__(self) -> "Program":
        self._token = RECORDING.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            RECORDING.reset(self._token)

    def place(self, array: Array) -> Value:
        """A new value, of the shape and dtype of an array."""
        self._n += 1
        return Value(self._n - 1, array)

    def input(self, array: Array) -> Any:
        """An array as an input of the program: it stands for what is given in its place."""
        from tapegrad.arrays.traced.array import Traced

        value = self.place(array)
        self.inputs.append(value)
        return Traced(self, array, value)

    def constant(self, x: Any) -> "Constant":
        """The place of an array or object that no instruction made and that never changes."""
        number = self._constants.get(id(x))
        if number is None:
            number = self._constants[id(x)] = len(self.constants)
            self.constants.append(x)  # which keeps its id
        return Constant(number)

    def note(
        self, text: str, function: Callable | None, args: tuple, kwargs: dict, out: Any
    ) -> None:
        """Append an instruction; `function` is what its text calls, where that is no method."""
        if function is not None:
            self.functions[text] = function
        self.instructions.append(Instruction(text, args, kwargs, out))

    def source(self, outputs: Any) -> str:
        """The program as Python source: a function of its inputs that gives `outputs`."""
        from tapegrad.arrays.traced.source import source_of

        return source_of(self, [x.place for x in outputs])

    def function(self, outputs: Any) -> Callable:
        """The program as a function of arrays in the places of its inputs: a tuple of arrays.

        Raises `Changed` where a number that was read while it was recorded is another one.
        """
        from tapegrad.arrays.traced.source import compiled

        return compiled(self, [x.place for x in outputs])


class Constant:
    """The place of a constant of a program."""

    __slots__ = ("number",)

    def __init__(self, number: int):
        self.number = number

    def __repr__(self) -> str:
        return f"c{self.number}"
