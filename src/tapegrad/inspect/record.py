"""A graph written down: its nodes, edges and layers in plain numbers and words.

Pictures of all kinds are made of a `Record`. It keeps neither tensors nor nodes alive.
"""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.describe import described, input_names, saved_by
from tapegrad.autograd.node import AccumulateGrad, Port
from tapegrad.autograd.reachable import reachable
from tapegrad.autograd.trace import trace_of
from tapegrad.autograd.view import edge_of
from tapegrad.core.dtype import of
from tapegrad.inspect.flow import Flow, NodeFlow, start_of
from tapegrad.inspect.layer_groups import grouped
from tapegrad.inspect.living import owner_of
from tapegrad.inspect.rule_text import rules_of
from tapegrad.inspect.vertex import Edge, Kept, Vertex


class Record:
    """All of a graph: `vertices` (inputs first), `edges`, `groups` (outer ones first)."""

    def __init__(self, tensors: list, names: dict[int, str], flows: dict[Any, NodeFlow]):
        nodes = _in_order([edge_of(x) for x in tensors])
        names = {**_layer_names(nodes), **names}
        roots = [_node(edge_of(x)) for x in tensors]
        self.start = start_of(flows, roots)
        self.has_flow = any(node in flows for node in nodes)
        self.edges: list[Edge] = []
        self.vertices: list[Vertex] = []
        self._vertex: dict[int, Vertex] = {}
        own = {id(owner_of(n.array)) for n in nodes if type(n) is AccumulateGrad}
        for node in nodes:
            self._vertex[id(node)] = vertex = self._new(node, names, flows.get(node), own)
            self._add_edges(node, vertex, flows.get(node))
        for i, x in enumerate(tensors):
            self._add_result(x, names.get(id(x)) or ("result" if not i else f"result {i}"))
        self.groups = grouped(nodes, self._vertex, self.edges)
        _spread_shapes(nodes, self._vertex)
        del self._vertex

    def _new(self, node: Any, names: dict, flow: NodeFlow | None, own: set[int]) -> Vertex:
        number = len(self.vertices)
        if type(node) is AccumulateGrad:
            vertex = _leaf(number, node, names)
        else:
            vertex = Vertex(number, "operator", type(node).__name__)
            vertex.doc = _doc(node)
            vertex.rules = rules_of(node)
            vertex.kept = _kept(node, flow, own)
            trace = trace_of(node)
            if trace is not None:
                vertex.file, vertex.line = trace.line() or ("", None)
                vertex.code = _code(vertex.file, vertex.line)
            made = _made(node, trace)
            if made is not None:
                vertex.shape, vertex.dtype = tuple(made[0]), of(made[1]).name
        if flow is not None:
            vertex.received, vertex.time = flow.received, flow.time
            if vertex.shape is None and len(flow.received) == 1 and flow.received[0]:
                vertex.shape = flow.received[0].shape
        self.vertices.append(vertex)
        return vertex

    def _add_edges(self, node: Any, vertex: Vertex, flow: NodeFlow | None) -> None:
        names = input_names(node)
        for i, end in enumerate(node.edges):
            if end is None:
                continue
            port = end.index if type(end) is Port else 0
            edge = Edge(self._vertex[id(_node(end))], vertex, names[i], port)
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
        source = self._vertex[id(_node(end))]
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
        found.setdefault(_node(edge))
    return list(found)


def _layer_names(nodes: list) -> dict[int, str]:
    """What the layers around the calls call their parameters."""
    found: dict[int, str] = {}
    seen: set[int] = set()
    for node in nodes:
        trace = trace_of(node)
        for outer in [] if trace is None else trace.modules[-1:]:
            if id(outer) not in seen:
                seen.add(id(outer))
                found |= {id(x): name for name, x in outer.named_parameters()}
    return found


def _node(edge: Any) -> Any:
    return edge.node if type(edge) is Port else edge


def _leaf(number: int, node: AccumulateGrad, names: dict[int, str]) -> Vertex:
    from tapegrad.nn.parameter import Parameter

    leaf = node.leaf()
    is_parameter = issubclass(node.kind, Parameter)
    name = names.get(id(leaf), "") if leaf is not None else ""
    vertex = Vertex(number, "parameter" if is_parameter else "leaf", name)
    vertex.shape, vertex.dtype = tuple(node.array.shape), str(node.array.dtype)
    vertex.values = described(node.array)
    return vertex


def _made(node: Any, trace: Any) -> tuple | None:
    """Shape and dtype of what a node's call computed, where they are known."""
    if type(node).__name__ == "CopySlices":  # its call computed the part that was written
        return None if node.saved is None else node.saved[2:4]
    return None if trace is None else trace.made


def _doc(node: Any) -> str:
    """What a node's operator computes: its first sentence, or that of a custom function."""
    op = getattr(getattr(node, "plan", None), "op", None)
    forward = getattr(op, "forward", None)
    text = None if forward is None else forward.__doc__
    if text is None:
        kind = getattr(type(node), "_forward_cls", type(node))
        text = kind.__doc__ or ""
    return text.strip().partition("\n\n")[0].replace("\n", " ")


def _kept(node: Any, flow: NodeFlow | None, own: set[int]) -> list[Kept] | None:
    """What a node keeps now, or had kept when the pass came by that has freed it."""
    if getattr(node, "saved", None) is None:
        kept = None if flow is None else flow.kept
        for each in kept or ():  # whose memory is that of leaves was not known then
            each.memory = {key: n for key, n in each.memory.items() if key not in own}
        return kept
    return kept_of(node, own)


def kept_of(node: Any, own: set[int]) -> list[Kept]:
    """What a node keeps; the memory with an id among `own` is that of leaves."""
    return [Kept(name, value, own) for name, value in saved_by(node).items()]


def _code(file: str, line: int | None) -> str:
    import linecache

    return "" if line is None else linecache.getline(file, line).strip()


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
