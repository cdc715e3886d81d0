"""From recorded instructions to statements.

Each instruction is lowered by the first rule that knows it (`rules`). What nobody knows stays a
call of Python between two pieces of C.
"""

import re

import numpy as np

from tapegrad.arrays.traced.program import Constant, Instruction, Program, Scalar, Value
from tapegrad.compiler.c_backend import c_types
from tapegrad.compiler.c_backend.ir import (
    Access,
    Buffer,
    Check,
    Literal,
    Pointwise,
    PythonCall,
    Reduction,
    Statement,
    Unsupported,
    dense,
)
from tapegrad.core.annotations import Any, Callable, Sequence

_DOUBLE = np.dtype(np.float64)
_OF_C = (
    "float|double|auto|break|case|char|const|continue|default|do|else|enum|extern|for|goto|if|"
    "inline|int|long|register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|"
    "union|unsigned|void|volatile|while|main|exp|log|pow|y0|y1|j0|j1|yn|jn|index|time|gamma|NAN|"
    "INFINITY|INLINE|(tg_|TG_|__|u?int\\d).*|(float|double|u?int\\d+_t)s"
)
_OF_THE_SOURCE = (
    r"[xi]\d+|(loop|part|numbers|shared_loop|totals?)\d+|n|b|end|slots|step|bind(_pool)?|items|"
    "parts|threads|given|inputs|sgemm|dgemm"
)
_RESERVED = re.compile(f"{_OF_C}|{_OF_THE_SOURCE}")
"""Names that mean something else in C."""


class Lowering:
    """The statements of a program, and where each of its values lies.

    Attributes:
        statements: in the order of the program
        places: number of a value -> its Access
        scalars: number of a Scalar -> its Access, weak
    """

    def __init__(self, program: Program, names: dict[int, str], rules: Sequence[Callable]):
        self.program, self.names, self.rules = program, names, rules
        self.statements: list[Statement] = []
        self.places: dict[int, Access] = {}
        self.buffers: list[Buffer] = []
        self.inputs: list[Buffer] = []
        self._constants: dict[int, Access] = {}
        self._taken: set[str] = set()
        self._instruction: Any = None  # the one that is lowered now
        for i, x in enumerate(program.inputs):
            self._input(i, x)
        for instruction in program.instructions:
            self._lower(instruction)

    def _input(self, i: int, x: Any) -> None:
        buffer = self.buffer("input", x if isinstance(x, Value) else None, x.number, i)
        self.inputs.append(buffer)
        if isinstance(x, Scalar):
            self.places[x.number] = Access(buffer, 0, (), (), _DOUBLE, weak=True)
        else:
            self.places[x.number] = Access(buffer, 0, x.shape, x.strides, x.dtype)

    def _lower(self, instruction: Instruction) -> None:
        self._instruction = instruction
        for each in self.rules:
            if each(self, instruction):
                return
        self.call_python(instruction)

    # --- places ----------------------------------------------------------------------------------

    def buffer(
        self, kind: str, value: Any, number: Any, index: int = -1, dtype: Any = _DOUBLE
    ) -> Buffer:
        """A new buffer, under the name of a value."""
        name = self.names.get(number) or (number if type(number) is str else f"v{number}")
        name = re.sub(r"\W", "_", name, flags=re.ASCII)
        if name[:1].isdigit() or _RESERVED.fullmatch(name):
            name = f"v_{name}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        found = Buffer(kind, name, dtype if value is None else value.dtype, value, index)
        self.buffers.append(found)
        return found

    def fresh(self, value: Value) -> Access:
        """New memory for a value, laid out as it was recorded."""
        found = Access(
            self.buffer("memory", value, value.number), 0, value.shape, value.strides, value.dtype
        )
        self.places[value.number] = found
        return found

    def temporary(self, shape: Any, dtype: Any, name: str = "t") -> Access:
        """New memory that belongs to no value, in row-major order."""
        found = self.buffer("memory", None, f"{name}{len(self.buffers)}", dtype=dtype)
        return Access(found, 0, shape, dense(shape, dtype.itemsize), dtype)

    def shadow(self, buffer: Buffer) -> Access:
        """New memory like that of an input."""
        value: Any = buffer.value
        found = self.buffer("memory", value, f"{buffer.name}_new")
        return Access(found, 0, value.shape, value.strides, value.dtype)

    def place(self, x: Any) -> Access:
        """Where a value, scalar or constant array lies."""
        if isinstance(x, Constant):
            return self._constant(x.number)
        return self.places[x.number]

    def _constant(self, number: int) -> Access:
        found = self._constants.get(number)
        if found is None:
            array = np.asarray(self.program.constants[number])
            found = self._constants[number] = self.constant(array)
        return found

    def constant(self, array: Any) -> Access:
        """An array that never changes."""
        buffer = Buffer("constant", f"c{len(self.buffers)}", array.dtype, array=array)
        self.buffers.append(buffer)
        return Access(buffer, 0, array.shape, array.strides, array.dtype)

    def is_array(self, x: Any) -> bool:
        """Whether an argument is an array with which C can compute."""
        if isinstance(x, Constant):
            x = self.program.constants[x.number]
            return isinstance(x, (np.ndarray, np.generic)) and c_types.has_name(x.dtype)
        return isinstance(x, Value) and c_types.has_name(x.dtype)

    def operand(self, x: Any) -> Any:
        """An argument of an elementwise function: an Access or Literal; None for another object."""
        if self.is_array(x) or isinstance(x, Scalar):
            return self.place(x)
        if type(x) in (bool, int, float):
            return Literal(x, weak=True)
        return None

    def is_view(self, value: Any) -> bool:
        """Whether a result is a part of memory that was there before."""
        return (
            isinstance(value, Value)
            and value.number not in self.places
            and (value.root is not value and value.root.number in self.places)
        )

    def see(self, value: Value, source: Any) -> None:
        """Place a view: `source` is the value that it was taken of."""
        base = self.place(source)
        offset = base.offset + value.offset - (0 if isinstance(source, Constant) else source.offset)
        self.places[value.number] = Access(
            base.buffer, offset, value.shape, value.strides, value.dtype
        )

    # --- statements ------------------------------------------------------------------------------

    def add(self, statement: Statement) -> None:
        """Append a statement; one that writes no element is left out."""
        statement.origin = self._instruction
        if isinstance(statement, Pointwise) and statement.out.size == 0:
            return
        if isinstance(statement, Reduction) and statement.arg.size == 0:
            self._add_empty(statement)
            return
        self.statements.append(statement)

    def _add_empty(self, each: Reduction) -> None:
        """The reduction of no elements: what it begins with."""
        kept = [i for i in range(len(each.shape)) if i not in each.axes]
        shape, strides = (tuple(x[i] for i in kept) for x in (each.shape, each.out.strides))
        out = Access(each.out.buffer, each.out.offset, shape, strides, each.out.dtype)
        self.copy(Literal(int(each.how in ("prod", "all")), weak=True), out, each.line)

    def copy(self, source: Any, out: Access, line: Any) -> None:
        """`out = source`, cast as NumPy's assignments do."""
        have = out.dtype if isinstance(source, Literal) and source.weak else source.dtype
        if isinstance(source, Literal):
            source = Literal(out.dtype.type(source.value))
            have = out.dtype
        self.add_pointwise("{0}", [source], [have], have, out, lambda x: x, line)

    def dense(self, x: Access, line: Any) -> Access:
        """Itself where it lies in row-major order, else a copy."""
        if x.is_dense:
            return x
        copy = self.temporary(x.shape, x.dtype)
        self.copy(x, copy, line)
        return copy

    def in_shape(self, x: Access, shape: tuple[int, ...], line: Any) -> Access:
        """The same elements in another shape, as they lie or copied."""
        seen = x.reshaped(shape)
        if seen is not None:
            return seen
        copy = self.dense(x, line)
        return Access(copy.buffer, copy.offset, shape, dense(shape, x.dtype.itemsize), x.dtype)

    def add_pointwise(
        self, expression: str, args: list, types: list, result: Any, out: Access,
        function: Callable, line: Any,
    ) -> None:  # fmt: skip
        """An elementwise statement; through memory of its own where it would read what it wrote."""
        statement = Pointwise(expression, args, types, result, out, function, line)
        clashes = any(
            x.buffer is out.buffer and x.overlaps(out) and x.key != out.key for x in statement.reads
        )
        if not clashes:
            self.add(statement)
            return
        between = self.temporary(out.shape, out.dtype)
        self.add(Pointwise(expression, args, types, result, between, function, line))
        self.copy(between, out, line)

    def check(self, condition: str, numbers: list, failure: Callable, line: Any) -> None:
        """Have `failure()` raise where a condition over numbers does not hold."""
        self.add(Check(condition, numbers, failure, line))

    def call_python(self, instruction: Instruction) -> None:
        """Leave an instruction to Python."""
        places = self.places_of(instruction)
        reads = list(places.values())
        writes = [self.place(x) for x in written(instruction) if isinstance(x, Value)]
        made = []
        results = instruction.result
        for x in results if type(results) is tuple else (results,):
            if isinstance(x, Scalar):
                raise Unsupported(f"{instruction.text} gives a number of the program")
            if not isinstance(x, Value):
                continue
            if x.number in self.places:
                writes.append(self.places[x.number])
            elif self.is_view(x):
                self._see_root(x)
            else:
                buffer = self.buffer("made", x, x.number)
                found = Access(buffer, 0, x.shape, x.strides, x.dtype)
                self.places[x.number] = found
                made.append(found)
        effect = instruction.text.startswith(("draw.", "make."))
        self.add(PythonCall(instruction, places, reads, writes, made, effect))

    def places_of(self, instruction: Instruction) -> dict[str, Access]:
        """Where the values and scalars lie that the text of an instruction names."""
        given = [*instruction.args, *instruction.kwargs.values()]
        return {repr(x): self.place(x) for x in _values(given)}

    def _see_root(self, value: Value) -> None:
        base = self.places[value.root.number]
        self.places[value.number] = Access(
            base.buffer, base.offset + value.offset, value.shape, value.strides, value.dtype
        )


_WRITERS = frozenset(
    ".fill .sort .partition .put .itemset .setfield .byteswap setitem np.copyto np.put np.place "
    "np.putmask np.fill_diagonal np.put_along_axis".split()
)


def written(instruction: Instruction) -> Sequence[Any]:
    """The arguments into which an instruction writes."""
    found = []
    out = instruction.kwargs.get("out")
    found += list(out) if type(out) is tuple else [] if out is None else [out]
    if instruction.text in _WRITERS or instruction.text.endswith(".at"):
        found.append(instruction.args[0])
    return found


def _values(x: Any) -> Any:
    """All values and scalars in an argument."""
    if isinstance(x, (Value, Scalar)):
        yield x
    elif isinstance(x, (tuple, list)):
        for each in x:
            yield from _values(each)
    elif isinstance(x, slice):
        yield from _values([x.start, x.stop, x.step])
