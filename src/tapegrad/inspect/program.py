"""A compiled program written down as a graph: its parts, and the arrays that flow between them."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field

from tapegrad.compiler.compiled import Compiled
from tapegrad.compiler.costs import limits
from tapegrad.compiler.entry import Entry
from tapegrad.compiler.explanation import short
from tapegrad.compiler.joint import CompiledFunctionBackward
from tapegrad.compiler.parts import Part, Parts, Use, counted, parts_of
from tapegrad.compiler.state import COMPILED
from tapegrad.core.annotations import Any
from tapegrad.inspect.graphing import Graph
from tapegrad.inspect.program_groups import program_groups
from tapegrad.inspect.record import Edge, Vertex

_DOC = {
    "loop": "a pass over the elements",
    "product": "a product of matrices, by BLAS",
    "call": "a function that is called",
    "python": "a kernel that Python calls, between two pieces of C",
    "check": "asks whether a number that Python has read is the same again",
}


class ProgramGraph(Graph):
    """The program of a compiled function, as it was when `graph` was called."""

    def __init__(self, compiled: Compiled, title: str):
        if not compiled.entries:
            compiled.source  # noqa: B018  raises, and says why
        record = ProgramRecord(compiled, compiled.entries[0])
        super().__init__(record, title or record.program["name"])

    def text(self, max_nodes: int | None = 1000) -> str:
        """The parts for the terminal, in the order in which they run; see `graph`."""
        parts = [v for v in self.record.vertices if isinstance(v, PartVertex)]
        rows, line, phase = [self.record.program["summary"]], ("", ""), ""
        for vertex in parts[:max_nodes]:
            if vertex.phase != phase:
                phase, line = vertex.phase, ("", "")
                rows.append(phase)
            if (vertex.place, vertex.code) != line:
                line = vertex.place, vertex.code
                rows.append(f"{vertex.place}  {vertex.code}".strip())
            rows.append(f"  {_row(vertex)}")
        if len(rows) and len(parts) > len(parts[:max_nodes]):
            rows.append(f"... and {len(parts) - len(parts[:max_nodes])} more parts")
        return "\n".join(rows)


def _row(vertex: PartVertex) -> str:
    part = vertex.part
    given, made = (", ".join(x.name for x in uses) for uses in (part.reads, part.writes))
    cost = f"{short(part.flops)}FLOP, {short(part.n_bytes)}B"
    kind = "" if part.kind == part.name else f"{part.kind} "
    return f"{kind}{part.name} {vertex.size}: {given} → {made}  {cost}"


@dataclass(eq=False)
class PartVertex(Vertex):
    """A part of a program.

    Attributes:
        part: all that is known of it
        phase: "forward", "backward", or "" where the program is the only one
        parameters: those that it reads or writes
    """

    part: Part = None  # type: ignore[assignment]
    phase: str = ""
    parameters: list[str] = field(default_factory=list)


def _meet(a: tuple, b: tuple) -> bool:
    return a[0] < b[1] and b[0] < a[1]


class ProgramRecord:
    """A program of a compiled function: what `Record` is of a graph, its vertices parts."""

    start, n_bytes = 1.0, 0

    def __init__(self, compiled: Compiled, entry: Entry):
        self.entry = entry
        self.vertices: list[Vertex] = []
        self.edges: list[Edge] = []
        self._leaves: dict[Any, Vertex] = {}
        self._writers: dict[Any, list[tuple[Any, list[Vertex]]]] = {}
        self._inputs: dict[Any, list[tuple[int, Use]]] = {}
        self._parameters = _parameters(entry)
        self._cotangents = _cotangents(entry)
        found = parts_of(entry)
        names = ["forward", "backward"] if len(found) > 1 else [""]
        phases = []
        for name, each in zip(names, found, strict=True):
            given = self._handed_over(found[0], each) if name == "backward" else ()
            for number, x in each.inputs.items():
                if number not in given:
                    self._inputs.setdefault((name, x.key), []).append((number, x))
            phases.append((name, [self._part(name, part) for part in each.parts]))
        results = [
            x for name, each in zip(names, found, strict=True) for x in self._results(name, each)
        ]
        self.groups = program_groups(phases, self.vertices, self.edges)
        for vertex, source in results:  # gradients are drawn where they are computed
            vertex.group = source.group
        self.program = _program(compiled, entry, [v for _, found in phases for v in found])
        del self.entry, self._leaves, self._writers, self._inputs

    def inputs_of(self) -> dict[int, list[Edge]]:
        """By the number of a vertex, the edges that end in it."""
        found: dict[int, list[Edge]] = {v.number: [] for v in self.vertices}
        for edge in self.edges:
            found[edge.target.number].append(edge)
        return found

    def _part(self, phase: str, part: Part) -> PartVertex:
        vertex = PartVertex(-1, "operator", part.name, part.shape, part.dtype, part=part)
        vertex.phase = phase
        if part.line is not None:
            vertex.file, vertex.line = part.line
            vertex.code = linecache.getline(*part.line).strip()
        sources = [(each, x) for x in part.reads for each in self._sources(phase, x, part.line)]
        self._add(vertex)
        for source, x in sources:
            self._connect(source, vertex, x)
        for x in part.writes:
            self._writers.setdefault((phase, x.key), []).append((x.span, [vertex]))
        used = [each for x in (*part.reads, *part.writes) for each in self._given(phase, x)]
        vertex.parameters = [x.name for number, x in used if number in self._parameters]
        written = [y.name for x in part.writes for _, y in self._given(phase, x)]
        vertex.doc = "; ".join(
            [_DOC[part.kind], *[f"updates {', '.join(written)}"] * bool(written)]
        )
        return vertex

    def _add(self, vertex: Vertex) -> None:
        vertex.number = len(self.vertices)
        self.vertices.append(vertex)

    def _connect(self, source: Vertex, target: Vertex, x: Use) -> None:
        self.edges.append(Edge(source, target, f"{x.name} {x.shape} {x.dtype}"))

    def _sources(self, phase: str, x: Use, line: Any) -> list[Vertex]:
        """Who wrote what is read: the last one, and those before whose memory it has left."""
        found: dict[Vertex, None] = {}
        for span, vertices in reversed(self._writers.get((phase, x.key), ())):
            if _meet(span, x.span):
                found.update(dict.fromkeys(vertices))
                if span[0] <= x.span[0] and x.span[1] <= span[1]:
                    return list(found)
        for number, given in self._given(phase, x):
            found[self._leaf(number, given.name, x, line)] = None
        return list(found)

    def _given(self, phase: str, x: Use) -> list[tuple[int, Use]]:
        """The inputs that memory belongs to, with their numbers."""
        inputs = self._inputs.get((phase, x.key), ())
        return [(number, given) for number, given in inputs if _meet(given.span, x.span)]

    def _leaf(self, number: int, name: str, x: Use, line: Any) -> Vertex:
        """The vertex of an input: one for each line of Python that reads it, to be drawn there."""
        leaf = self._leaves.get((number, line))
        if leaf is None:
            kind = "parameter" if number in self._parameters else "leaf"
            name = "gradient of the result" if number in self._cotangents else name
            leaf = self._leaves[number, line] = Vertex(-1, kind, name, x.shape, x.dtype)
            self._add(leaf)
        return leaf

    def _handed_over(self, forward: Parts, backward: Parts) -> set[int]:
        """Let the backward program read what the forward one gives; the numbers of all that."""
        found = set()
        for value, x in zip(self.entry.outputs, forward.outputs, strict=True):
            if value.number in backward.inputs:
                read = backward.inputs[value.number]
                makers = read.span, self._sources("forward", x, None)
                self._writers.setdefault(("backward", read.key), []).append(makers)
                found.add(value.number)
        return found

    def _results(self, phase: str, parts: Parts) -> list[tuple[Vertex, Vertex]]:
        """Add what the program gives; the gradients among it, and what computes each."""
        found = []
        for name, x in zip(self._names(phase), parts.outputs, strict=False):
            sources = self._sources(phase, x, None)
            vertex = Vertex(-1, "result", name, x.shape, x.dtype)
            self._add(vertex)
            for source in sources:
                self._connect(source, vertex, x)
            if len(sources) == 1 and not name.startswith("result"):
                found.append((vertex, sources[0]))
        return found

    def _names(self, phase: str) -> list[str]:
        """What the outputs are called, in their order; those for the backward program have none."""
        entry = self.entry
        if phase == "backward":
            wanted = zip(entry.joint.wanted, entry.joint.there, strict=True)
            return [f"gradient of {entry.names_of_tensor(i)}" for i, there in wanted if there]
        names = {e.grad: f"{entry.names_of_tensor(e.tensor)}.grad" for e in entry.recording.effects}
        names |= {e.array: entry.names_of_tensor(e.tensor) for e in entry.recording.effects}
        results = [x[1] for x in entry.recording.results if x[0] in ("tensor", "item")]
        names |= {k: "result" if not i else f"result {i}" for i, k in enumerate(results)}
        n = len(entry.outputs) if entry.joint is None else entry.joint.n_outputs
        return [names.get(k, "result") for k in range(n)]


def program_behind(node: Any) -> ProgramRecord | None:
    """The program that a node of a graph runs; None where it is no compiled function's, or freed,
    or where that function is gone, or has forgotten its programs.
    """
    if type(node) is not CompiledFunctionBackward or node.saved is None:
        return None
    for compiled in list(COMPILED):
        for entry in compiled.entries:
            if entry.joint is node.saved[0]:
                return ProgramRecord(compiled, entry)
    return None


def _parameters(entry: Any) -> set[int]:
    """The numbers of the values that are parameters."""
    inputs = entry.recording.program.inputs
    return {inputs[i].number for i in entry.recording.parameters}


def _cotangents(entry: Any) -> set[int]:
    """The numbers of the values that the backward program is given as gradients."""
    if entry.joint is None:
        return set()
    inputs = entry.joint.part.inputs
    return {x.number for x in inputs[len(inputs) - len(entry.joint.likes) :]}


def _program(compiled: Compiled, entry: Entry, vertices: list[PartVertex]) -> dict[str, Any]:
    """What is known of the program as a whole, in words."""
    report = compiled.explain()
    figures = report.programs[compiled.entries.index(entry)]
    flops, n_bytes = (sum(getattr(v.part, x) for v in vertices) for x in ("flops", "n_bytes"))
    seconds = sum(v.part.seconds for v in vertices)
    fastest, widest = limits()
    programs = [f"{x['backend']}: {x['why_again'] or 'holds'}" for x in report.programs]
    return {
        "name": report.name,
        "summary": f"{report.name}: {figures['backend']}, {len(vertices)} parts, "
        f"{short(flops)}FLOP, {short(n_bytes)}B",
        "facts": [
            ["runs as", figures["backend"]],
            ["parts", f"{len(vertices)}, of {figures['operations']} operations"],
            ["arithmetic", f"{short(flops)}FLOP"],
            ["memory", f"{short(n_bytes)}B, where eager reads and writes "
             f"{short(figures['eager_bytes'])}B"],
            ["this machine", f"{short(fastest)}FLOP and {short(widest)}B a second"],
            ["at least", f"{short(seconds)}s, if memory and arithmetic were all"],
            ["checks", f"{figures['checks']} of numbers that Python has read" if figures["checks"]
             else ""],
            ["sizes", f"{figures['sizes']} numbers that depend on them are arguments"
             if figures["sizes"] else ""],
            ["not compiled", report.why_not],
        ],
        "seconds": seconds,
        "guards": counted(figures["guards"]),
        "programs": programs,
    }  # fmt: skip
