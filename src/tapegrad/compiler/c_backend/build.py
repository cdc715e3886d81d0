"""From a recorded program to a function: `build` is what the rest of the compiler calls."""

from tapegrad.arrays.traced import source as python_source
from tapegrad.arrays.traced.program import Program, Value
from tapegrad.compiler.c_backend import blas, pool, timed
from tapegrad.compiler.c_backend.addresses import offsets
from tapegrad.compiler.c_backend.arena import laid_out
from tapegrad.compiler.c_backend.driver import Driver, runner_of
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
from tapegrad.compiler.c_backend.rules import RULES
from tapegrad.compiler.c_backend.schedule import Segment, limit_of, scheduled
from tapegrad.compiler.c_backend.simplify import simplified
from tapegrad.compiler.c_backend.sizes import Sizes
from tapegrad.compiler.c_backend.source import CSource
from tapegrad.compiler.c_backend.storage import stored
from tapegrad.core.annotations import Any, Callable, Sequence


class Compiled:
    """A program that is lowered and written as C, and not compiled yet.

    Attributes:
        source: the C file
        driver: the Python function that calls it, as source
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
        self.segments = with_joined_loops(scheduled(statements, limit), limit)
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
        self.n_slots, self.calls = n_slots, calls
        self.source, self._written = written.text, written
        self._driver = Driver(
            lowering.inputs, places, layout, constants, n_slots, calls, parts, written,
            python_source.scope_of(program), is_timed,
        )  # fmt: skip
        self.driver = self._driver.source
        self._checks = None
        if not is_alone and _size(layout.results) >= _LARGE:
            self._checks = self._only_checks(lowering, slice_of_checks(statements), constants)

    def _only_checks(self, lowering: Lowering, first: list, constants: list) -> Any:
        """The driver of a program that only asks whether this one holds, and its source; None
        where there is nothing to ask, or not in C alone."""
        simple = all(isinstance(x, (Pointwise, Reduction, Check)) for x in first)
        if not first or not simple or any(a.buffer in self.inputs for x in first for a in x.writes):
            return None
        segments = scheduled(first, limit_of(first))
        in_memory = stored(segments, [])
        layout = laid_out(segments, in_memory, [])
        parts, calls = _parts(segments, in_memory)
        written = CSource(parts, layout, self.inputs, offsets(), "loops", None)
        driver = Driver(
            self.inputs, [], layout, constants, self.n_slots, calls, parts, written,
            python_source.scope_of(lowering.program),
        )  # fmt: skip
        return driver, written.text

    def lines_of(self, segment: Segment) -> list[str]:
        """The lines of the source that run a segment; of Python's, where it is a call of that."""
        if segment.kind == "python":
            return python_source.lines_of(segment.statements[0].instruction)  # type: ignore[attr-defined]
        return self._written.lines[id(segment)]

    def load(self, sizes: Sizes) -> Callable:
        """Compile it, or take it from the cache, or from a program that differs in sizes alone.

        Raises: CompilerMissing
        """
        library, arguments = sizes.library(self.source)
        run: Any = self.bound_to(library)
        run.n_sizes = 0 if arguments is None else len(arguments)
        if self._checks is not None:
            driver, source = self._checks
            library, of_check = sizes.library(source)
            run.check = runner_of(driver, library)
            if of_check is not None:
                run.check = of_check.given_to(run.check)
        return run if arguments is None else arguments.given_to(run)

    def bound_to(self, library: Any) -> Callable:
        """The function that calls a library made of `source`."""
        if self._written.products:
            import ctypes

            found = blas.found()
            library.bind.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
            library.bind(found.sgemm, found.dgemm)
        if self._written.shares:
            pool.bind(library)
        run = runner_of(self._driver, library)
        run.source, run.driver = self.source, self.driver
        run.library, run.check = library, None
        run.forget_memory = self._driver.scope["free"].clear
        if self._written.is_timed:
            timed.bind(self._driver.scope, library, sum(map(len, self._driver.parts)))
            run.ends = self._driver.scope["ends"]
        return run


_LARGE = 2**20  # bytes of results, for whose memory one asks first


def _size(results: list[Buffer]) -> int:
    return sum(x.high - x.low for x in results)


def build(program: Program, outputs: Sequence[Value], **options: Any) -> Any:
    """A function of the inputs of a program that gives its outputs.

    Where its results are large, and what it asks of numbers is asked in C, the function has
    `check(*inputs)`, which raises Changed where the program does not hold: whoever has its last
    results may let go of them before it runs. It is None otherwise.

    Args:
        program: what was recorded
        outputs: the values whose arrays it gives
        options: `names`, a dict from numbers of values to names in the C source; `sizes`, the
            programs with which this one may have a compiled file in common; `is_timed`: the
            function notes in its list `ends` when each segment has ended, in nanoseconds

    Raises:
        CompilerMissing: there is no C compiler that works, or nowhere to keep what it makes
        Unsupported: a program that this backend cannot express
    """
    names, is_timed = options.get("names") or {}, options.get("is_timed", False)
    found = Compiled(program, outputs, names, is_timed=is_timed)
    return found.load(options.get("sizes") or Sizes())


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
