"""A recorded computation: instructions in the order in which they ran, and what they ran on.

While a program is recorded its instructions really run, so Python's control flow sees true numbers.
Views and writes are instructions like any other, so a program that runs again shares and overwrites
memory as the recorded computation did.
"""

import sys
from contextvars import ContextVar, Token
from weakref import ref

import numpy as np

from tapegrad.arrays.numpy.memory_pool import watch
from tapegrad.core.annotations import Any, Array, Callable
from tapegrad.core.storage import owner_of
from tapegrad.core.streams.mersenne_twister import DRAWS
from tapegrad.core.streams.recorded import RECORDERS

RECORDING: ContextVar[Any] = ContextVar("tapegrad_recording", default=None)
"""The program that is being recorded in the current context; None where none is."""


class Changed(Exception):
    """A number that the recorded computation read is another one now: it has to run anew."""


class Value:
    """What an instruction gave, or an input: an array with a number in its program.

    Attributes:
        number: counts the values of a program
        shape, dtype, strides: of the array when it was recorded; strides in bytes
        root: the value whose memory this one is a part of: itself, or what it is a view of
        offset: bytes from the first element of `root` to the first of this one
    """

    __slots__ = ("dtype", "number", "offset", "root", "shape", "strides")

    def __init__(self, number: int, array: Array):
        self.number, self.shape, self.dtype = number, array.shape, array.dtype
        self.strides = array.strides
        self.root, self.offset = self, 0

    def __repr__(self) -> str:
        return f"v{self.number}"


class Scalar:
    """A Python number in a program: an input, or computed from such."""

    __slots__ = ("number",)

    def __init__(self, number: int):
        self.number = number

    def __repr__(self) -> str:
        return f"s{self.number}"


class Instruction:
    """One call: how it is written, its arguments with a `Value` in the place of each array and a
    `Scalar` in that of each number that is one of the program, what it gave (a Value, a Scalar, a
    tuple with one for each array, or None), and the line of Python that it ran for."""

    __slots__ = ("args", "kwargs", "line", "result", "text")

    def __init__(
        self, text: str, args: tuple, kwargs: dict, result: Any, line: tuple[str, int] | None
    ):
        self.text, self.args, self.kwargs, self.result = text, args, kwargs, result
        self.line = line

    def __repr__(self) -> str:
        given = [repr(x) for x in self.args]
        given += [f"{k}={x!r}" for k, x in self.kwargs.items()]
        return f"{self.result!r} = {self.text}({', '.join(given)})"


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
        from tapegrad.arrays.traced.array import Traced

        self._kind = Traced
        self.inputs: list[Any] = []  # Values and Scalars
        self.instructions: list[Instruction] = []
        self.functions: dict[str, Callable] = {}  # what the texts of instructions call
        self.constants: list[Any] = []  # arrays and objects that instructions were handed
        self.owner: Any = None  # who records it, for those who ask about more than arrays
        self.watcher: Any = None  # a function of `sys.setprofile`, which rests in kernels
        self.rests = False  # whether it does
        self._line: tuple[str, int] | None = None  # that of the operator that runs
        self.drawn = 0  # how often words were drawn by its instructions
        self._n = 0
        self._constants: dict[int, int] = {}
        self._memory: dict[int, tuple] = {}  # of each array that owns memory: the first value in it
        self._made: list[ref] = []
        self.numbers: list[ref] = []  # that Python was given
        self._token: Token | None = None

    def __enter__(self) -> "Program":
        self._token = RECORDING.set(self)
        RECORDERS.append(self)
        watch(self)  # memory that is used again would belong to two values
        return self

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            watch(self, on=False)
            RECORDERS.remove(self)
            RECORDING.reset(self._token)

    def place(self, array: Array) -> Value:
        """A new value, of the shape and dtype of an array."""
        self._n += 1
        value = Value(self._n - 1, array)
        if isinstance(array, np.ndarray):
            self._find_root(value, array)
        return value

    def _find_root(self, value: Value, array: Any) -> None:
        owner = array
        if array.base is not None:
            owner = owner_of(array)
            owner = owner if owner.base is None else owner.base
        found = self._memory.get(id(owner))
        if found is not None and found[0]() is owner:
            start = _address(owner) if found[2] is None else found[2]
            value.root, value.offset = found[1], _address(array) - start
            return
        reference: Callable
        try:
            reference = ref(owner)
        except TypeError:  # what has no weak references is kept
            reference = lambda kept=owner: kept  # noqa: E731
        # the address of an array that has its memory alone is asked for with the first view of it
        self._memory[id(owner)] = reference, value, None if owner is array else _address(array)

    def scalar(self) -> Scalar:
        """A new place for a Python number."""
        self._n += 1
        return Scalar(self._n - 1)

    def input(self, array: Array) -> Any:
        """An array as an input of the program: it stands for what is given in its place."""
        value = self.place(array)
        self.inputs.append(value)
        return self.array(array, value)

    def number(self, x: float) -> Any:
        """A float as an input of the program; arithmetic with it is recorded."""
        from tapegrad.arrays.traced.number import TracedNumber

        place = self.scalar()
        self.inputs.append(place)
        return TracedNumber(self, x, place)

    def array(self, array: Array, value: Value) -> Any:
        """A recorded array."""
        found = self._kind(self, array, value)
        self._made.append(ref(found))
        return found

    def forget_arrays(self) -> None:
        """Let go of what only recording asks for."""
        self._memory, self._constants, self._made, self.numbers = {}, {}, [], []

    def kept_numbers(self) -> list[Any]:
        """The recorded numbers that somebody still has."""
        return [x for x in (each() for each in self.numbers) if x is not None]

    def alive(self) -> list[Any]:
        """The recorded arrays that somebody still has."""
        return [x for x in (each() for each in self._made) if x is not None]

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
            name, n = text, 2
            while self.functions.setdefault(text, function) != function:  # another of that name
                text, n = f"{name}_{n}", n + 1
        self.instructions.append(Instruction(text, args, kwargs, out, self._line or _line()))

    def run_for_line(self, function: Callable, args: tuple) -> Any:
        """`function(*args)`, which runs no line of the user's: what it records is of the current
        one. Python's profiling sees nothing of it."""
        if self._line is not None:
            return function(*args)
        self._line = _line()
        try:
            return unwatched(self, function, args)
        finally:
            self._line = None

    def draw(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Random numbers, drawn now; the program draws as many each time."""
        from tapegrad.arrays.traced.record import record

        if RECORDING.get() is not self:
            return function(*args, **kwargs)

        def alone(*args: Any, **kwargs: Any) -> Any:
            token = RECORDING.set(None)  # one function may draw by another
            try:
                return function(*args, **kwargs)
            finally:
                RECORDING.reset(token)

        before = DRAWS[0]
        found = record(f"draw.{name}", function, args, kwargs, alone)
        self.drawn += DRAWS[0] - before
        return found

    def as_constant(self, array: Any) -> Any:
        """An array that Python's numbers were made into, as one of what is recorded here."""
        program = RECORDING.get()
        if program is None or program.owner is None or type(array) is not np.ndarray:
            return array
        value = program.place(array)
        program.note("np.array", np.array, (program.constant(array.copy("K")),), {}, value)
        return program.array(array, value)

    def part(self, inputs: list[Any], instructions: list[Instruction]) -> "Program":
        """Some instructions as a program of other inputs."""
        found = Program()
        found.inputs, found.instructions = inputs, instructions
        found.functions, found.constants = self.functions, self.constants
        return found

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


def unwatched(program: Any, function: Callable, args: tuple) -> Any:
    """`function(*args)`, which calls nothing of the user's: there is much to see in it.

    Whoever watches the recording of `program` by Python's profiling sees nothing of the call.
    """
    watcher = program.watcher
    if watcher is None or sys.getprofile() is not watcher:
        return function(*args)
    sys.setprofile(None)
    program.rests = True
    try:
        return function(*args)
    finally:
        program.rests = False
        sys.setprofile(watcher)


def _address(array: Array) -> int:
    return array.__array_interface__["data"][0]


class Constant:
    """The place of a constant of a program."""

    __slots__ = ("number",)

    def __init__(self, number: int):
        self.number = number

    def __repr__(self) -> str:
        return f"c{self.number}"


def _line() -> tuple[str, int] | None:
    """The line of the user's code that runs."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file not in _OURS:
            name = frame.f_globals.get("__name__", "")
            _OURS[file] = name.startswith("tapegrad.") or file.startswith("<")
        if not _OURS[file]:
            return file, frame.f_lineno
        frame = frame.f_back
    return None


_OURS: dict[str, bool] = {}
"""Of files whose functions ran while programs were recorded: whether no user wrote them."""
