"""A recorded program, lowered and written as C."""

from tapegrad.arrays.traced import source as python_source
from tapegrad.arrays.traced.program import Program, Value
from tapegrad.compiler.c_backend import blas, pool
from tapegrad.compiler.c_backend.addresses import offsets
from tapegrad.compiler.c_backend.arena import laid_out
from tapegrad.compiler.c_backend.compute_again import with_less_memory
from tapegrad.compiler.c_backend.driver import Driver
from tapegrad.compiler.c_backend.hoist import slice_of_checks, with_checks_first
from tapegrad.compiler.c_backend.ir import (
    Access,
    Buffer,
    Check,
    Pointwise,
    PythonCall,
    Reduction,
    Unsupported,
)
from tapegrad.compiler.c_backend.join_loops import with_joined_loops
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.compiler.c_backend.recipe import Recipe
from tapegrad.compiler.c_backend.rules import RULES
from tapegrad.compiler.c_backend.schedule import Segment, limit_of, scheduled
from tapegrad.compiler.c_backend.simplify import simplified
from tapegrad.compiler.c_backend.source import CSource
from tapegrad.compiler.c_backend.storage import stored
from tapegrad.core.annotations import Any, Callable, Sequence


class Compiled:
    """A program that is lowered and written as C, and not compiled yet.

    Attributes:
        recipe: how it is called; its `source` is the C file, its `driver` what calls it
        source, driver: these two
        segments: its loops, products and calls
        in_memory: for each of them, the buffers that it writes to memory
        inputs, constants, layout, places, n_slots, calls: for whoever gives it memory: buffers,
            where its outputs lie, the length of the table of addresses, and calls of Python
    """

    def __init__(
        self, program: Program, outputs: Sequence[Value], names: dict[int, str],
        is_alone: bool = False, is_timed: bool = False,
    ):  # fmt: skip
        lowering = Lowering(program, names, RULES)
        places = [_output(lowering, x) for x in outputs]
        statements = simplified(lowering.statements, places)
        statements = with_checks_first(statements, lowering.shadow)
        _refuse_overlaps(lowering, statements)
        limit = limit_of(statements)
        segments = with_joined_loops(scheduled(statements, limit), limit)
        self.segments = with_less_memory(segments, stored(segments, places), places)
        self.in_memory = in_memory = stored(self.segments, places)
        layout = laid_out(self.segments, in_memory, places)
        n_slots = 1
        constants = [x for x in lowering.buffers if x.kind == "constant"]
        made = [x for x in lowering.buffers if x.kind == "made"]
        for buffer in (*lowering.inputs, *constants, *layout.results, *made):
            buffer.slot, n_slots = n_slots, n_slots + 1
        parts, calls = _parts(self.segments, in_memory)
        where = None if is_alone else offsets()
        convention = "alone" if is_alone else blas.found().convention
        threads = None if is_alone or not pool.IS_THERE else n_slots
        n_slots += 1
        written = CSource(parts, layout, lowering.inputs, where, convention, threads, is_timed)
        self.inputs, self.constants, self.layout, self.places = (
            lowering.inputs,
            constants,
            layout,
            places,
        )
        self.n_slots, self.calls, self._written = n_slots, calls, written
        self.recipe = Driver(
            lowering.inputs, places, layout, constants, n_slots, calls, parts, written, is_timed
        ).recipe()
        self.source, self.driver = self.recipe.source, self.recipe.driver
        self._scope = python_source.scope_of(program)
        if not is_alone and _size(layout.results) >= _LARGE:
            self.recipe.check = self._only_checks(slice_of_checks(statements), constants)

    def _only_checks(self, first: list, constants: list) -> Recipe | None:
        """A program that only asks whether this one holds; None where there is nothing to ask, or
        not in C alone."""
        simple = all(isinstance(x, (Pointwise, Reduction, Check)) for x in first)
        if not first or not simple or any(a.buffer in self.inputs for x in first for a in x.writes):
            return None
        segments = scheduled(first, limit_of(first))
        in_memory = stored(segments, [])
        layout = laid_out(segments, in_memory, [])
        parts, calls = _parts(segments, in_memory)
        written = CSource(parts, layout, self.inputs, offsets(), "own", None)
        return Driver(
            self.inputs, [], layout, constants, self.n_slots, calls, parts, written
        ).recipe()

    def lines_of(self, segment: Segment) -> list[str]:
        """The lines of the source that run a segment; of Python's, where it is a call of that."""
        each = segment.statements[0]
        if isinstance(each, PythonCall):
            return python_source.lines_of(each.instruction)
        return self._written.lines[id(segment)]

    def bound_to(self, library: Any) -> Callable:
        """The function that calls a library made of `source`, without what only asks."""
        return self.recipe.bound_to(library, self._scope)


_LARGE = 2**20  # bytes of results, for whose memory one asks first


def _size(results: list[Buffer]) -> int:
    return sum(x.high - x.low for x in results)


def _output(lowering: Lowering, x: Value) -> Access:
    """Where an output lies; constants are copied, as results are memory of their own."""
    place = lowering.places[x.number]
    if place.buffer.kind != "constant":
        return place
    out = lowering.temporary(place.shape, place.dtype, "y")
    lowering.copy(place, out, None)
    return out


def _refuse_overlaps(lowering: Lowering, statements: list) -> None:
    """Inputs that share memory can be read, not written."""
    written = {id(a.buffer) for each in statements for a in each.writes}
    roots: dict[int, list[Buffer]] = {}
    for buffer in lowering.inputs:
        if buffer.value is not None:
            roots.setdefault(buffer.value.root.number, []).append(buffer)
    for shared in roots.values():
        end: int | None = None
        last: Any = None
        for low, high, _, x in sorted((*_extent(x.value), x) for x in shared):
            if end is not None and low < end and (id(x) in written or id(last) in written):
                raise Unsupported(
                    f"the inputs {last.name} and {x.name} overlap, and one of them is written"
                )
            if end is None or high > end:
                end, last = high, x


def _extent(x: Value) -> tuple[int, int, int]:
    """The first byte of a value in its root and that behind its last one, and its number."""
    steps = [(n - 1) * step for n, step in zip(x.shape, x.strides, strict=True)]
    if 0 in x.shape:
        return x.offset, x.offset, x.number
    low = x.offset + sum(min(step, 0) for step in steps)
    return low, x.offset + sum(max(step, 0) for step in steps) + x.dtype.itemsize, x.number


def _parts(segments: list[Segment], in_memory: dict[int, set[int]]) -> tuple[list, list]:
    """Segments of C between calls of Python, and these calls."""
    parts: list[list] = [[]]
    calls: list[PythonCall] = []
    for at, segment in enumerate(segments):
        if segment.kind == "python":
            calls.append(segment.statements[0])  # type: ignore[arg-type]
            parts.append([])
        else:
            parts[-1].append((segment, in_memory[at]))
    return parts, calls
