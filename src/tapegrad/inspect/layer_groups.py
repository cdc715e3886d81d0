"""Which nodes of a graph are drawn together: those of a call of a layer, or of a stretch of it.

A group holds nodes that were made one after another, so that a group folded into one box has no
way from itself to itself through others.
"""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.trace import Trace, trace_of

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
        self.name = name
        self.kind = kind
        self.parent = parent
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
    _split(top)
    _place_leaves(edges, top)
    found = _numbered(top)
    for vertex in vertices.values():
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
        group = waiting.pop(0)
        for each in group.members:
            if isinstance(each, Group):
                if each.parent is top:
                    each.parent = None
                each.number = len(found)
                found.append(each)
                waiting.append(each)
    return found
