"""Plain graphs: nothing but operators, no hooks, no functions of the user."""

from collections.abc import Iterable
from typing import Any

from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import AccumulateGrad, Port
from tapegrad.autograd.plan import Plan
from tapegrad.autograd.view import edge_of


def is_plain(outs: Iterable) -> bool:
    """Whether a backward pass from `outs` only runs rules of operators on arrays."""
    if type(MODE.get()) is not bool:
        return False
    stack: list[Any] = []
    for out in outs:
        edge = edge_of(out)
        if edge is not None:
            stack.append(edge.node if type(edge) is Port else edge)
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node.hooks is not None:
            return False
        if type(node) is AccumulateGrad:
            continue
        if type(getattr(node, "plan", None)) is not Plan:
            return False
        for edge in node.edges:
            if type(edge) is Port:
                edge = edge.node
            if edge is not None and edge not in seen:
                seen.add(edge)
                stack.append(edge)
    return True
