"""What a recorded program is lowered to: statements that read and write strided parts of buffers.

A `Buffer` is memory; an `Access` is a strided part of one. Statements keep the order in which the
computation was recorded; two of them depend on each other where they touch the same bytes and one
of them writes. Writes are therefore in place from the start, and what may move is decided by
`schedule` from these dependences alone.
"""

from collections import Counter

import numpy as np

from tapegrad.arrays.traced.record import Read, is_sized_by_data
from tapegrad.core.annotations import Any, Callable, NativeDType, Sequence

Sizes = tuple[int, ...]
"""Of a shape, or its strides."""


class Unsupported(Exception):
    """This program cannot be compiled to C; another backend can run it."""


class Buffer:
    """Memory that a program reads or writes.

    Attributes:
        kind: "input", "constant", "made" (by a call of Python) or "memory", which is ours
        name: what it is called in C
        low, high: the bytes from its first element on that are touched
        index: of the input
        array: of the constant
        value: the recorded value whose layout it has
        dtype: of its elements
        slot: where a table of addresses has its address
    """

    __slots__ = ("array", "dtype", "high", "index", "kind", "low", "name", "slot", "value")

    def __init__(
        self, kind: str, name: str, dtype: Any, value: Any = None, index: int = -1,
        array: Any = None,
    ):  # fmt: skip
        self.kind, self.name, self.dtype = kind, name, dtype
        self.value, self.index, self.array = value, index, array
        self.low = self.high = 0
        self.slot = -1

    def __repr__(self) -> str:
        return self.name


class Access:
    """A strided part of a buffer; `offset` and `strides` are in bytes."""

    __slots__ = (
        "buffer", "dtype", "is_injective", "key", "offset", "shape", "span", "strides", "weak",
    )  # fmt: skip

    def __init__(
        self,
        buffer: Buffer,
        offset: int,
        shape: Sizes,
        strides: Sizes,
        dtype: NativeDType,
        weak: bool = False,
    ):
        self.buffer, self.offset, self.shape, self.strides = buffer, offset, shape, strides
        self.dtype, self.weak = dtype, weak
        low, high = offset, offset + dtype.itemsize
        for n, s in zip(shape, strides, strict=True):
            if n == 0:
                high = low
                break
            low, high = low + min(0, (n - 1) * s), high + max(0, (n - 1) * s)
        self.span = low, high
        self.is_injective = all([s != 0 or n == 1 for n, s in zip(shape, strides, strict=True)])
        moves = tuple([0 if n == 1 else s for n, s in zip(shape, strides, strict=True)])
        self.key = id(buffer), offset, shape, moves, dtype.char

    def __repr__(self) -> str:
        return f"{self.buffer}[{self.offset}: {self.shape} {self.strides} {self.dtype}]"

    @property
    def size(self) -> int:
        return size_of(self.shape)

    def broadcast(self, shape: Sizes) -> "Access":
        """Itself, seen in a larger shape."""
        if shape == self.shape:
            return self
        missing = len(shape) - len(self.shape)
        strides = [0] * missing
        for n, m, s in zip(self.shape, shape[missing:], self.strides, strict=True):
            strides.append(0 if n == 1 and m != 1 else s)
        return Access(self.buffer, self.offset, shape, tuple(strides), self.dtype, self.weak)

    def permuted(self, first: tuple[int, ...]) -> "Access":
        """The same elements with the first axes in another order."""
        order = (*first, *range(len(first), len(self.shape)))
        shape, strides = (tuple([sizes[i] for i in order]) for sizes in (self.shape, self.strides))
        return Access(self.buffer, self.offset, shape, strides, self.dtype, self.weak)

    def reshaped(self, shape: Sizes) -> "Access | None":
        """The same elements in another shape; None where that takes a copy."""
        probe = np.lib.stride_tricks.as_strided(np.empty(1, "b"), self.shape, self.strides)
        try:
            seen = np.reshape(probe, shape, copy=False)
        except ValueError:
            return None
        return Access(self.buffer, self.offset, shape, seen.strides, self.dtype, self.weak)

    def overlaps(self, other: "Access") -> bool:
        """Whether the ranges of bytes meet."""
        return self.span[0] < other.span[1] and other.span[0] < self.span[1]

    @property
    def is_dense(self) -> bool:
        """Whether the elements lie one after another in row-major order."""
        return 0 in self.shape or all(
            n == 1 or s == t
            for n, s, t in zip(
                self.shape, self.strides, dense(self.shape, self.dtype.itemsize), strict=True
            )
        )


class Literal:
    """A number that is known when the program is compiled."""

    __slots__ = ("key", "value", "weak")

    def __init__(self, value: Any, weak: bool = False):
        self.value, self.weak = value, weak
        dtype = getattr(value, "dtype", None)
        self.key = "literal", repr(value), None if dtype is None else dtype.char

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def dtype(self) -> NativeDType:
        return self.value.dtype


def size_of(shape: Sequence[int]) -> int:
    n = 1
    for each in shape:
        n *= each
    return n


def dense(shape: Sizes, itemsize: int) -> Sizes:
    """Strides in row-major order."""
    strides: list[int] = []
    n = itemsize
    for each in reversed(shape):
        strides.append(n)
        n *= each
    return tuple(reversed(strides))


class Statement:
    """One step: what it reads, what it writes, and the line of Python that it comes from.

    `origin` is the recorded instruction that it was made of; None where there is none.
    """

    __slots__ = ("line", "origin", "reads", "writes")

    reads: list[Access]
    writes: list[Access]
    line: Any
    origin: Any
    may_raise = False
    has_effect = False


class Pointwise(Statement):
    """`out = expression(args)`, element by element.

    `types` are the dtypes in which the arguments are taken, `result` the dtype of the expression;
    `function` computes the same with NumPy on numbers.
    """

    __slots__ = ("args", "expression", "function", "out", "result", "types")

    def __init__(
        self,
        expression: str,
        args: list,
        types: list,
        result: NativeDType,
        out: Access,
        function: Callable,
        line: Any = None,
    ):
        self.expression, self.types, self.result = expression, types, result
        self.args = [x if isinstance(x, Literal) else x.broadcast(out.shape) for x in args]
        self.out, self.function, self.line = out, function, line
        self.refresh()

    def refresh(self) -> None:
        """Bring `reads` and `writes` up to date."""
        self.reads = [x for x in self.args if isinstance(x, Access)]
        self.writes = [self.out]

    @property
    def shape(self) -> Sizes:
        return self.out.shape


class Reduction(Statement):
    """`out = how(arg)` along some axes of `arg`; `out` has the shape of `arg` and strides of 0."""

    __slots__ = ("arg", "axes", "how", "out")

    def __init__(self, how: str, arg: Any, axes: Sizes, out: Access, line: Any = None):
        self.how, self.arg, self.axes, self.out, self.line = how, arg, axes, out, line
        self.refresh()

    def refresh(self) -> None:
        self.reads, self.writes = [self.arg], [self.out]

    @property
    def shape(self) -> Sizes:
        return self.arg.shape


class Product(Statement):
    """`out = x @ y`, matrices in the last two axes, all three of the same axes before those."""

    __slots__ = ("out", "x", "y")

    def __init__(self, x: Access, y: Access, out: Access, line: Any = None):
        self.x, self.y, self.out, self.line = x, y, out, line
        self.reads, self.writes = [x, y], [out]


class Call(Statement):
    """A call of a C function: pointers of results, pointers and numbers of arguments, scratch.

    `failing` is the recorded instruction, and where the values that it names lie, if the function
    returns whether something was out of range: Python then runs it, and raises. `shared` is the
    function that threads share, which is given their number besides; "" if there is none.
    """

    __slots__ = ("arguments", "failing", "function", "may_raise", "results", "scratch", "shared")

    def __init__(
        self, function: str, arguments: list, results: list, scratch: int, failing: Any, line: Any,
        shared: str = "",
    ):  # fmt: skip
        self.function, self.arguments, self.results = function, arguments, results
        self.scratch, self.failing, self.line, self.shared = scratch, failing, line, shared
        self.may_raise = failing is not None
        self.reads = [x for x in arguments if isinstance(x, Access)]
        if failing is not None:
            self.reads += [x for x in failing[1].values() if isinstance(x, Access)]
        self.writes = list(results)


class PythonCall(Statement):
    """A recorded instruction that Python runs, between two pieces of C.

    It is a check where it may find that the program has changed: in a number, or in the shape of
    what it gives.
    """

    __slots__ = ("effects", "has_effect", "instruction", "is_check", "is_sized", "made", "places")

    may_raise = True

    def __init__(
        self, instruction: Any, places: dict, reads: list, writes: list, made: list, effect: bool
    ):
        self.instruction, self.places, self.line = instruction, places, instruction.line
        self.reads, self.writes = reads, writes + made
        self.effects, self.made = writes, made
        self.has_effect = effect
        results = instruction.result if type(instruction.result) is tuple else (instruction.result,)
        self.is_sized = is_sized_by_data(instruction.text, instruction.args)
        self.is_check = (
            self.is_sized
            or instruction.text == "expect"
            or any(isinstance(x, Read) for x in results)
        )


class Check(Statement):
    """A condition in C over numbers; where it does not hold, `failure()` raises what it means."""

    __slots__ = ("condition", "failure", "numbers")

    may_raise = True

    def __init__(self, condition: str, numbers: list, failure: Callable, line: Any = None):
        self.condition, self.numbers, self.failure, self.line = condition, numbers, failure, line
        self.reads, self.writes = [x for x in numbers if isinstance(x, Access)], []


def writes_of(statements: list[Statement]) -> Counter:
    """How often each buffer is written, by its id."""
    return Counter(id(x.buffer) for each in statements for x in each.writes)


def reads_of(statements: list[Statement]) -> Counter:
    """How often each buffer is read, by its id."""
    return Counter(id(x.buffer) for each in statements for x in each.reads)
