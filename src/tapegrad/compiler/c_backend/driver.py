"""The Python function that calls the parts of a compiled program: generated, so that a call costs
little more than what it has to do.
"""

from tapegrad.arrays.traced import source as python_source
from tapegrad.compiler.c_backend.addresses import offsets
from tapegrad.compiler.c_backend.arena import Layout
from tapegrad.compiler.c_backend.ir import Access, Buffer, PythonCall
from tapegrad.compiler.c_backend.recipe import Recipe
from tapegrad.compiler.c_backend.source import CSource
from tapegrad.compiler.c_backend.workspace import ALONE, is_dense_result
from tapegrad.core.annotations import Any, Sequence


class Driver:
    """Writes the source of `run(*inputs)`; `scope` is what its names mean."""

    def __init__(
        self,
        inputs: Sequence[Buffer],
        outputs: Sequence[Access],
        layout: Layout,
        constants: Sequence[Buffer],
        n_slots: int,
        calls: Sequence[PythonCall],
        parts: Sequence[Any],
        written: CSource,
        is_timed: bool = False,
    ):
        self.inputs, self.outputs, self.layout, self.calls = inputs, outputs, layout, calls
        self.parts, self.failures, self.part_of_failure = (
            parts,
            written.failures,
            written.part_of_failure,
        )
        self._threads_slot = n_slots - 1 if written.shares else None
        self._result_of = {id(x): i for i, x in enumerate(layout.results)}
        self.scope: dict[str, Any] = {}
        self._constants, self._n_slots, self._written = constants, n_slots, written
        self._made: dict[int, str] = {}
        self._is_timed = is_timed
        self.source = "\n".join(["def run(*inputs):", *self._lines()])

    def recipe(self) -> Recipe:
        """What is needed to call the program."""
        parts = [i for i, each in enumerate(self.parts) if each or not i]
        failures = [x[0].text if type(x) is tuple else x for x in self.failures]
        n_timed = sum(map(len, self.parts)) if self._is_timed else None
        return Recipe(
            self._written.text, self.source, self.scope, self.layout.size, self.layout.results,
            self._constants, self._n_slots, len(self.inputs), parts, failures,
            self._written.products, self._written.shares, n_timed,
        )  # fmt: skip

    def _lines(self) -> list[str]:
        n = len(self.inputs)
        lines = [
            f"    if len(inputs) != {n}:",
            f"        raise TypeError(f'{{len(inputs)}} inputs were given, {n} are needed')",
        ]
        for i, x in enumerate(self.inputs):
            if x.value is None:
                lines += [
                    f"    if type(inputs[{i}]) is not float:",
                    f"        inputs = (*inputs[:{i}], float(inputs[{i}]), *inputs[{i + 1}:])",
                ]
        lines += [
            "    try:",
            "        w = free.pop()",
            "    except IndexError:",
            "        w = new()",
        ]
        if self._threads_slot is not None:
            lines.append(f"    w.slots[{self._threads_slot}] = n_threads()")
        lines += self._results()
        lines += self._first()
        for i, each in enumerate(self.calls):
            lines += [f"    {x}" for x in self._call(each)]
            if self._is_timed:
                lines.append("    ends.append(clock())")
            if self.parts[i + 1]:
                lines += self._run(i + 1, f"part{i + 1}(w.table)")
        outputs = [self._output(i, x) for i, x in enumerate(self.outputs)]
        lines += [f"    {name} = {text}" for name, text in outputs if text != name]
        lines.append("    free.append(w)")
        names = [name for name, _ in outputs]
        lines.append(f"    return ({', '.join(names)}{',' * (len(names) == 1)})")
        return lines

    def _results(self) -> list[str]:
        """Memory of results: that of the last call where nobody else has it."""
        lines = ["    results = w.results"] if self.layout.results else []
        for i in range(len(self.layout.results)):
            lines += [
                f"    result{i} = results[{i}]",
                f"    if result{i} is None or getrefcount(result{i}) != {ALONE}:",
                f"        result{i} = results[{i}] = make{i}(w)",
            ]
        return lines

    def _first(self) -> list[str]:
        if not any(self.parts):
            return []
        if offsets() is not None:
            return self._run(0, "step(id(inputs), w.table)")
        lines = ["    slots = w.slots"]
        for i, x in enumerate(self.inputs):
            if x.value is None:
                lines.append(f"    w.numbers[{i}] = inputs[{i}]")
                lines.append(f"    slots[{x.slot}] = address_of(w.numbers) + {8 * i}")
            else:
                lines.append(f"    slots[{x.slot}] = address(inputs[{i}])")
        return [*lines, *self._run(0, "part0(w.table)")]

    def _run(self, part: int, call: str) -> list[str]:
        """A call of a part, and when its segments have ended, where that is asked for."""
        lines = [f"    code = {call}", *self._failed(part)]
        if not self._is_timed:
            return lines
        first = sum(map(len, self.parts[:part]))
        last = first + len(self.parts[part])
        ends = f"    ends.extend([start + x for x in ticks[{first}:{last}]])"
        return ["    start = clock()", *lines, ends]

    def _failed(self, part: int) -> list[str]:
        """What happens where a part did not run to its end."""
        lines = ["    if code:"]
        for code, failure in enumerate(self.failures, 1):
            if type(failure) is tuple and self.part_of_failure[code - 1] == part:
                instruction, places = failure
                body = [f"{name} = {self._array(x)}" for name, x in places.items()]
                body += python_source.lines_of(instruction)
                lines += [f"        if code == {code}:", *[f"            {x}" for x in body]]
        return [*lines, "        fail(w, code)"]

    # --- calls of Python -------------------------------------------------------------------------

    def _call(self, each: PythonCall) -> list[str]:
        """One recorded instruction, its arguments as arrays over their memory."""
        lines = []
        written = {id(x.buffer) for x in each.effects}
        for name, x in each.places.items():
            # numbers of NumPy, of which nobody can make a view: our memory is used again
            is_number = x.shape == () and x.buffer.kind != "input" and not x.weak
            number = "[()]" if is_number and id(x.buffer) not in written else ""
            lines.append(f"{name} = {self._array(x)}{number}")
        lines += python_source.lines_of(each.instruction)
        for x in each.made:
            name = f"v{x.buffer.value.number}"
            if each.is_sized:
                lines.append(f"expect({name}.shape, {x.shape}, 'the shape of {name}')")
            kept = self._made[id(x.buffer)] = f"m{x.buffer.value.number}"
            lines.append(f"{kept} = laid_out_as({name}, {x.shape}, {x.strides})")
            lines.append(f"w.slots[{x.buffer.slot}] = address({kept})")
        return lines

    def _array(self, x: Access) -> str:
        """An expression for an array over the memory of an access."""
        buffer = x.buffer
        if x.weak:
            return self._number(x)
        layout = f"{x.offset}, {x.shape}, {x.strides}, {self._dtype(x.dtype)}"
        if buffer.kind == "input":
            name = f"inputs[{buffer.index}]"
            return name if _is_whole(x) else f"seen({name}, {layout})"
        if buffer.kind == "constant":
            name = f"constant{id(buffer)}"
            self.scope[name] = buffer.array
            return f"seen({name}, {layout})"
        if buffer.kind == "made":
            name = self._made[id(buffer)]
            return name if _is_whole(x) else f"seen({name}, {layout})"
        result = self._result_of.get(id(buffer))
        if result is not None:
            if is_dense_result(buffer):
                return f"seen(result{result}, {layout})"
            return (
                f"ndarray({x.shape}, {self._dtype(x.dtype)}, result{result}, "
                f"{x.offset - buffer.low}, {x.strides})"
            )
        where = self.layout.offsets[id(buffer)] + x.offset
        return f"ndarray({x.shape}, {self._dtype(x.dtype)}, w.arena, {where}, {x.strides})"

    def _number(self, x: Access) -> str:
        if x.buffer.kind == "input":
            return f"inputs[{x.buffer.index}]"
        where = self.layout.offsets[id(x.buffer)] + x.offset
        return f"float(ndarray((), 'd', w.arena, {where}))"

    def _dtype(self, dtype: Any) -> str:
        name = f"dtype_{dtype.str[1:]}" if dtype.kind != "V" else f"dtype_{dtype.name}"
        self.scope[name] = dtype
        return name

    # --- outputs ---------------------------------------------------------------------------------

    def _output(self, i: int, x: Access) -> tuple[str, str]:
        """The name of an output, and the expression that makes it."""
        result = self._result_of.get(id(x.buffer))
        if result is not None and is_dense_result(x.buffer):
            if x.buffer.value is None or _is_whole(x):
                return f"result{result}", f"result{result}"
        return f"y{i}", self._array(x)


def _is_whole(x: Access) -> bool:
    """Whether an access is the array that its buffer was recorded as."""
    value = x.buffer.value
    return (
        x.offset == 0
        and x.dtype == value.dtype
        and x.shape == value.shape
        and x.strides == value.strides
    )
