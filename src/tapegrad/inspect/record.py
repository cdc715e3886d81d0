"""A graph written down: its nodes, edges and layers in plain numbers and words.

Pictures of all kinds are made of a `Record`. It keeps neither tensors nor nodes alive.
"""

from __future__ import annotations

import linecache
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tapegrad.arrays.signature import Like
from tapegrad.autograd.describe import described, input_names, saved_by
from tapegrad.autograd.node import AccumulateGrad, Port, node_of
from tapegrad.autograd.reachable import reachable
from tapegrad.autograd.trace import Trace, trace_of
from tapegrad.autograd.view import edge_of
from tapegrad.core.annotations import Any, NodeLike
from tapegrad.core.dtype import of
from tapegrad.inspect.living import arrays_in, owner_of
from tapegrad.inspect.reasons import explain
from tapegrad.inspect.rule_text import RuleText, rules_of
from tapegrad.inspect.stepping import Flow, NodeFlow, start_of
from tapegrad.nn.parameter import Parameter

if TYPE_CHECKING:
    from tapegrad.compiler.parts import Part

MOST = 60  # vertices and groups that one group holds side by side; more are split into stretches
_STRETCH = 25


class Group:
    """A call of a layer, or a stretch of a long program.

    Attributes:
        number: its place in the list of all, outer ones first.
        name: the path of the layer, `0.attn`; for a stretch, which nodes it has.
        kind: the class of the layer; "" for a stretch.
        parent: the group around it, or None.
    """

    def __init__(self, name: str, kind: str, parent: Group | None):
        self.number = -1
        self.name, self.kind, self.parent = name, kind, parent
        self.members: list[Any] = []  # vertices and groups, in order

    @property
    def label(self) -> str:
        """The name less that of the group around it."""
        parent = self.parent
        while parent is not None and not parent.kind:
            parent = parent.parent
        start = f"{parent.name}." if parent is not None else ""
        return self.name[len(start) :] if start and self.name.startswith(start) else self.name


def grouped(nodes: list, vertices: dict[int, Any], edges: list) -> list[Group]:
    """The groups of a graph, outer ones first; each vertex is told its own.

    `nodes` are in the order in which they were made, `vertices` are theirs.
    """
    top = Group("", "", None)
    names: dict[int, dict[int, str]] = {}
    stack: list[tuple[tuple[int, int], Group]] = []
    for node in nodes:
        if type(node) is AccumulateGrad:
            continue
        path = _path(trace_of(node), names)
        same = 0
        while same < min(len(path), len(stack)) and path[same][0] == stack[same][0]:
            same += 1
        del stack[same:]
        for key, name, kind in path[same:]:
            outer = stack[-1][1] if stack else top
            group = Group(name, kind, outer)
            outer.members.append(group)
            stack.append((key, group))
        vertex = vertices[id(node)]
        if path:
            inner = path[-1][1] if len(path) > 1 else ""
            vertex.module = f"{path[0][2]}.{inner}".rstrip(".")
        vertex.group = stack[-1][1] if stack else top
        vertex.group.members.append(vertex)
    return settled(top, list(vertices.values()), edges)


def settled(top: Group, vertices: list, edges: list) -> list[Group]:
    """The groups inside `top`, none of them too long, with the leaves of their members."""
    _split(top)
    _place_leaves(edges, top)
    found = _numbered(top)
    for vertex in vertices:
        if vertex.group is top:
            vertex.group = None
    return found


def _path(trace: Trace | None, names: dict) -> list[tuple[tuple[int, int], str, str]]:
    """The layers around a call, outermost first: which call of which, its name, its class."""
    calls = [] if trace is None else list(reversed(trace.calls))
    if not calls:
        return []
    outer = calls[0][0]
    if id(outer) not in names:
        names[id(outer)] = {id(each): name for name, each in outer.named_modules()}
    known = names[id(outer)]
    return [
        ((id(each), n), known.get(id(each)) or type(each).__name__, type(each).__name__)
        for each, n in calls
    ]


def _split(top: Group) -> None:
    """Let no group have too many members: stretches of them become groups of their own."""
    waiting = [top]
    while waiting:
        group = waiting.pop()
        while len(group.members) > MOST:
            parts = [
                group.members[i : i + _STRETCH] for i in range(0, len(group.members), _STRETCH)
            ]
            group.members = [_stretch(group, part) for part in parts]
        waiting.extend(each for each in group.members if isinstance(each, Group))


def _stretch(parent: Group, members: list) -> Group:
    group = Group("", "", parent)
    group.members = members
    for each in members:
        if isinstance(each, Group):
            each.parent = group
        else:
            each.group = group
    first, last = _end(members[0], 0), _end(members[-1], -1)
    group.name = f"{first} … {last}"
    return group


def _end(member: Any, i: int) -> str:
    while isinstance(member, Group):
        if member.kind:
            return member.label
        member = member.members[i]
    return member.name.removesuffix("Backward0")


def _place_leaves(edges: list, top: Group) -> None:
    """Put a leaf into the innermost group that has all its users."""
    found: dict[int, tuple[Any, list[Group]]] = {}
    for edge in edges:
        leaf, user = edge.source, edge.target
        if leaf.kind not in ("parameter", "leaf") or user.kind == "result":
            continue
        chain = _chain(user.group)
        if leaf.number in found:
            chain = [a for a, b in zip(found[leaf.number][1], chain, strict=False) if a is b]
        found[leaf.number] = leaf, chain
    for leaf, chain in found.values():
        leaf.group = chain[-1] if chain else top


def _chain(group: Group | None) -> list[Group]:
    """The groups around and with this one, outermost first."""
    found = []
    while group is not None:
        found.append(group)
        group = group.parent
    return found[::-1]


def _numbered(top: Group) -> list[Group]:
    found: list[Group] = []
    waiting = [top]
    while waiting:
        for each in waiting.pop(0).members:
            if isinstance(each, Group):
                if each.parent is top:
                    each.parent = None
                each.number = len(found)
                found.append(each)
                waiting.append(each)
    return found


class Kept:
    """One thing that a node keeps for its rules.

    `source` is the number of the vertex that computed it, where that is part of the graph.
    """

    def __init__(self, name: str, value: object, own: set[int]):
        arrays = list(arrays_in(value))
        self.name = name
        self.text = described(value)
        self.is_tensor = bool(arrays)
        self.is_option = not arrays and type(value) is not Like  # of a Like only the shape is kept
        self.shape = tuple(arrays[0].shape) if len(arrays) == 1 else None
        owners = {id(owner_of(a)): owner_of(a) for a in arrays}
        self.memory = {key: a.nbytes for key, a in owners.items() if key not in own}

    @property
    def n_bytes(self) -> int:
        """Memory that the graph keeps for it; none where it is the memory of a leaf."""
        return sum(self.memory.values())


@dataclass(eq=False)
class Vertex:
    """One node of the graph.

    Attributes:
        number: its place in the list of all, inputs before those who use them.
        kind: "operator", "parameter", "leaf" or "result" (a tensor that was asked for).
        name: `MulBackward0`, or what a tensor is called.
        shape, dtype: of what it computed, where that is known; else None.
        doc: what the operator computes, in a sentence.
        rules: its derivative rules as text.
        kept: what it keeps, None once that is freed.
        file, line, code: the user's line that made it, "" and None where nobody noted it.
        module: the layer that called it; "" where there is none.
        group: the innermost group that it is drawn in, or None.
        received: the gradients that reached it in a pass, one for each output.
        time: how many nodes ran before it in that pass; None if it did not run.
        part: what is known of a part of a compiled program; None where it is none.
        program: the record of the program that it runs, if it is the node of a compiled function.
    """

    number: int
    kind: str
    name: str
    shape: tuple | None = None
    dtype: str | None = None
    doc: str = ""
    rules: list[RuleText] = field(default_factory=list)
    kept: list[Kept] | None = field(default_factory=list)
    file: str = ""
    line: int | None = None
    code: str = ""
    module: str = ""
    group: Group | None = None
    received: list[Flow | None] = field(default_factory=list)
    time: int | None = None
    values: str = ""
    part: Part | None = None
    program: Any = None

    @property
    def place(self) -> str:
        """File and line, as seen from the current folder; "" where they are unknown."""
        if self.line is None:
            return ""
        here = os.getcwd() + os.sep
        return f"{self.file.removeprefix(here)}:{self.line}"

    @property
    def size(self) -> str:
        """The shape as it prints, "" where it is unknown."""
        return "" if self.shape is None else str(tuple(self.shape))


@dataclass(eq=False)
class Edge:
    """From a vertex to one that uses it: `input` is what that one calls it.

    `port` says which output of `source` it is, `flow` what went back along it, and `state` whether
    that stands out: "nan", "exploding", "vanishing", "zero" or "". `why` says why it does, where
    that is known and nothing is wrong.
    """

    source: Vertex
    target: Vertex
    input: str
    port: int = 0
    flow: Flow | None = None
    state: str = ""
    why: str = ""


class Names(NamedTuple):
    """What tensors are called, by id: later ones before earlier ones."""

    variables: dict[int, str]
    paths: dict[int, str]  # of the parameters of modules
    given: dict[int, str]


class Record:
    """All of a graph: `vertices` (inputs first), `edges`, `groups` (outer ones first)."""

    program: Any = None  # what is known of a compiled one as a whole

    def __init__(self, tensors: list, named: Names, flows: dict[Any, NodeFlow]):
        nodes = _in_order([edge_of(x) for x in tensors])
        _add_layers(named.paths, nodes)
        names = {**named.variables, **named.paths, **named.given}
        self.start = start_of(flows, [node_of(edge_of(x)) for x in tensors])
        self.edges: list[Edge] = []
        self.vertices: list[Vertex] = []
        self._vertex: dict[int, Vertex] = {}
        self._programs: dict[int, Any] = {}
        own = {id(owner_of(n.array)) for n in nodes if type(n) is AccumulateGrad}
        for node in nodes:
            self._vertex[id(node)] = vertex = self._new(node, names, flows.get(node), own)
            self._add_edges(node, vertex, flows.get(node))
        for i, x in enumerate(tensors):
            self._add_result(x, names.get(id(x)) or ("result" if not i else f"result {i}"))
        explain(self.edges)
        self.groups = grouped(nodes, self._vertex, self.edges)
        _spread_shapes(nodes, self._vertex)
        del self._vertex, self._programs

    def _new(self, node: NodeLike, names: dict, flow: NodeFlow | None, own: set[int]) -> Vertex:
        number = len(self.vertices)
        if type(node) is AccumulateGrad:
            vertex = _leaf(number, node, names)
        else:
            vertex = Vertex(number, "operator", type(node).__name__)
            vertex.doc = _doc(node)
            vertex.rules = rules_of(node)
            vertex.program = self._program(node)
            vertex.kept = _kept(node, flow, own)
            trace = trace_of(node)
            if trace is not None:
                vertex.file, vertex.line = trace.line() or ("", None)
                if vertex.line is not None:
                    vertex.code = linecache.getline(vertex.file, vertex.line).strip()
            made = _made(node, trace)
            if made is not None:
                vertex.shape, vertex.dtype = tuple(made[0]), of(made[1]).name
        if flow is not None:
            vertex.received, vertex.time = flow.received, flow.time
            if vertex.shape is None and len(flow.received) == 1 and flow.received[0]:
                vertex.shape = flow.received[0].shape
        self.vertices.append(vertex)
        return vertex

    def _program(self, node: Any) -> Any:
        """The program of a compiled function's node, written down once for all its nodes."""
        if type(node).__name__ != "CompiledFunctionBackward":
            return None
        from tapegrad.inspect.program import program_behind

        key = id(node.saved and node.saved[0])
        if key not in self._programs:
            self._programs[key] = program_behind(node)
        return self._programs[key]

    def _add_edges(self, node: NodeLike, vertex: Vertex, flow: NodeFlow | None) -> None:
        names = input_names(node)
        for i, end in enumerate(node.edges):
            if end is None:
                continue
            port = end.index if type(end) is Port else 0
            edge = Edge(self._vertex[id(node_of(end))], vertex, names[i], port)
            self._flows(edge, flow.sent[i] if flow is not None and i < len(flow.sent) else None)

    def _flows(self, edge: Edge, flow: Flow | None) -> None:
        edge.flow = flow
        edge.state = "" if flow is None else flow.state(self.start)
        self.edges.append(edge)

    def _add_result(self, x: Any, name: str) -> None:
        end = edge_of(x)
        vertex = Vertex(len(self.vertices), "result", name)
        vertex.shape, vertex.dtype = tuple(x.shape), x.dtype.name
        vertex.values = described(x)
        self.vertices.append(vertex)
        port = end.index if type(end) is Port else 0
        source = self._vertex[id(node_of(end))]
        if len(source.received) <= 1:
            source.shape, source.dtype = vertex.shape, vertex.dtype
        edge = Edge(source, vertex, "", port)
        self._flows(edge, source.received[port] if port < len(source.received) else None)

    @property
    def n_bytes(self) -> int:
        """The memory that the graph keeps, each array once, that of leaves not counted."""
        memory: dict[int, int] = {}
        for vertex in self.vertices:
            for each in vertex.kept or ():
                memory.update(each.memory)
        return sum(memory.values())

    def inputs_of(self) -> dict[int, list[Edge]]:
        """By the number of a vertex, the edges that end in it."""
        found: dict[int, list[Edge]] = {v.number: [] for v in self.vertices}
        for edge in self.edges:
            found[edge.target.number].append(edge)
        return found


def _in_order(roots: list) -> list:
    """The nodes behind the roots, oldest first, each leaf right before its first user."""
    found: dict[Any, None] = {}
    operators = [node for node in reachable(roots) if type(node) is not AccumulateGrad]
    for node in reversed(operators):
        for edge in node.edges:
            if type(edge) is AccumulateGrad:
                found[edge] = None
        found[node] = None
    for edge in roots:
        found.setdefault(node_of(edge))
    return list(found)


def _add_layers(paths: dict[int, str], nodes: list) -> None:
    """What the layers around the calls call their parameters."""
    seen: set[int] = set()
    for node in nodes:
        trace = trace_of(node)
        for outer in [] if trace is None else trace.modules[-1:]:
            if id(outer) not in seen:
                seen.add(id(outer))
                add_paths(paths, outer)


def add_paths(paths: dict[int, str], module: Any) -> None:
    """What a module calls its parameters, unless a module around it gives a longer path."""
    for path, x in module.named_parameters():
        paths[id(x)] = max(paths.get(id(x), ""), path, key=len)


def _leaf(number: int, node: AccumulateGrad, names: dict[int, str]) -> Vertex:
    leaf = node.leaf()
    is_parameter = issubclass(node.kind, Parameter)
    name = names.get(id(leaf), "") if leaf is not None else ""
    vertex = Vertex(number, "parameter" if is_parameter else "leaf", name)
    vertex.shape, vertex.dtype = tuple(node.array.shape), str(node.array.dtype)
    vertex.values = described(node.array)
    return vertex


def _made(node: NodeLike, trace: Any) -> tuple | None:
    """Shape and dtype of what a node's call computed, where they are known."""
    if type(node).__name__ == "CopySlices":  # its call computed the part that was written
        return None if node.saved is None else node.saved[2:4]
    return None if trace is None else trace.made


def _doc(node: NodeLike) -> str:
    """What a node's operator computes: its first sentence, or that of a custom function."""
    op = getattr(getattr(node, "plan", None), "op", None)
    forward = getattr(op, "forward", None)
    text = None if forward is None else forward.__doc__
    if text is None:
        kind = getattr(type(node), "_forward_cls", type(node))
        text = kind.__doc__ or ""
    return text.strip().partition("\n\n")[0].replace("\n", " ")


def _kept(node: NodeLike, flow: NodeFlow | None, own: set[int]) -> list[Kept] | None:
    """What a node keeps now, or had kept when the pass came by that has freed it."""
    if getattr(node, "saved", None) is None:
        kept = None if flow is None else flow.kept
        for each in kept or ():  # whose memory is that of leaves was not known then
            each.memory = {key: n for key, n in each.memory.items() if key not in own}
        return kept
    return kept_of(node, own)


def kept_of(node: NodeLike, own: set[int]) -> list[Kept]:
    """What a node keeps; the memory with an id among `own` is that of leaves."""
    return [Kept(name, value, own) for name, value in saved_by(node).items()]


def _spread_shapes(nodes: list, vertices: dict[int, Vertex]) -> None:
    """Shapes that follow from those that are known, from the result to the inputs.

    An input that is kept is as its node keeps it; an elementwise operator that neither broadcast
    nor cast has inputs of its own shape. Last, the transpose of what has a shape has one too.
    """
    for node in reversed(nodes):
        plan: Any = getattr(node, "plan", None)
        op = getattr(plan, "op", None)
        if op is None or op.variadic:
            continue
        kept = saved_by(node)
        here = vertices[id(node)]
        for name, edge in zip(input_names(node), node.edges, strict=False):
            source = None if edge is None or type(edge) is Port else vertices[id(edge)]
            if source is None or source.shape is not None:
                continue
            value: Any = kept.get(name, kept.get(name + "_like"))
            if hasattr(value, "shape"):
                source.shape, source.dtype = tuple(value.shape), str(value.dtype)
            elif op.kind == "elementwise" and getattr(node, "restore", None) is None:
                source.shape, source.dtype = here.shape, here.dtype
    for node in nodes:  # the transpose of a weight, which nobody kept
        here = vertices[id(node)]
        source = vertices[id(node.edges[0])] if type(node).__name__ == "TBackward0" else None
        if source is not None and here.shape is None and source.shape is not None:
            here.shape, here.dtype = source.shape[::-1], source.dtype
