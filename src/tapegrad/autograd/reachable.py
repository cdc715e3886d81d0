"""Looking ahead of a backward pass: which nodes it reaches, and which of them must run."""

from operator import attrgetter
from typing import Any

from tapegrad.autograd.node import AccumulateGrad, Port

_age = attrgetter("sequence")


def reachable(roots: list[Any]) -> list[Any]:
    """All nodes behind the edges `roots`, youngest first."""
    return sorted(nodes_behind(roots), key=_age, reverse=True)


def nodes_behind(roots: list[Any]) -> set[Any]:
    """All nodes behind the edges `roots`; those that are None lead nowhere."""
    stack = [edge.node if type(edge) is Port else edge for edge in roots if edge is not None]
    seen = set(stack)
    while stack:
        for edge in stack.pop().edges:
            if type(edge) is Port:
                edge = edge.node
            if edge is not None and edge not in seen:
                seen.add(edge)
                stack.append(edge)
    return seen


def nodes_needed(roots: list[Any], inputs: list[Any]) -> set[Any] | None:
    """The nodes that lead to one of `inputs`; those of the inputs only if another lies behind.

    None where that is all there are, and `inputs` are the leaves.
    """
    wanted = {edge.node if type(edge) is Port else edge for edge in inputs}
    needed: set[Any] = set()
    nodes = sorted(nodes_behind(roots), key=_age)
    for node in nodes:
        for edge in node.edges:
            if type(edge) is Port:
                edge = edge.node
            if edge in needed or edge in wanted:
                needed.add(node)
                break
    for node in nodes:
        is_leaf = type(node) is AccumulateGrad
        if (node in wanted) != is_leaf or (node in needed) == is_leaf:
            return needed
    return None


def count_leaf_edges(roots: list[Any], needed: set[Any] | None) -> dict[Any, int]:
    """How many gradients each leaf with hooks will get: they run as soon as all are there."""
    counts: dict[Any, int] = {}
    edges = list(roots)
    for node in reachable(roots):
        if needed is None or node in needed:
            edges += node.edges
    for edge in edges:
        if type(edge) is AccumulateGrad and edge.hooks is not None:
            counts[edge] = counts.get(edge, 0) + 1
    return counts
