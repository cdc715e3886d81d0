"""Finding the parts of a graph that look like a pattern."""

from dataclasses import dataclass, field
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.graph import Graph
from tapegrad.fx.node import Node

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """Where a pattern was found.

    `anchors` are the pattern's results, `nodes_map` has for each of its nodes the graph's,
    `placeholder_nodes` the graph's nodes that stand for its inputs, `returning_nodes` those that
    stand for its results.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Node] = field(default_factory=dict)
    placeholder_nodes: list[Node] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)


class SubgraphMatcher:
    """Finds a pattern in graphs.

    Nodes of the pattern must not be used outside it, except its results; where two places overlap
    the first counts.

    >>> from tapegrad import fx
    >>> from tapegrad.fx.passes.utils.matcher_utils import SubgraphMatcher
    >>> wanted = fx.symbolic_trace(lambda x: torch.neg(x)).graph
    >>> found = SubgraphMatcher(wanted).match(fx.symbolic_trace(lambda x: torch.neg(x) + 1).graph)
    >>> [match.returning_nodes for match in found]
    [[neg]]
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        if match_output or match_placeholder:
            raise NotImplementedError(
                "tapegrad's SubgraphMatcher has no match_output and no match_placeholder"
            )
        self.pattern = pattern
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """All places of a graph that look like the pattern."""
        if node_name_match:
            raise NotImplementedError("tapegrad's SubgraphMatcher has no node_name_match")
        results = list(self.pattern.output_node().all_input_nodes)
        if not results:
            return []
        found: list[InternalMatch] = []
        taken: set[Node] = set()
        for candidate in _candidates(graph, results[-1]):
            nodes: dict[Node, Node] = {}
            if not _same(results[-1], candidate, nodes, self.ignore_literals):
                continue
            rest = results[:-1]
            if rest and not _complete(graph, rest, nodes, self.ignore_literals):
                continue
            inside = {n for p, n in nodes.items() if p.op not in ("placeholder", "get_attr")}
            inside_only = inside - {nodes[result] for result in results}
            if any(user not in inside for n in inside_only for user in n.users):
                continue
            if self.remove_overlapping_matches and inside & taken:
                continue
            taken |= inside
            found.append(self._described(results, nodes))
        return found

    def _described(self, results: list[Node], nodes: dict[Node, Node]) -> InternalMatch:
        anchors = [result for result in results if len(result.users) == 1] or results
        inputs = [nodes[n] for n in self.pattern.nodes if n.op == "placeholder" and n in nodes]
        return InternalMatch(anchors, nodes, inputs, [nodes[result] for result in results])


def _candidates(graph: Graph, anchor: Node) -> list[Node]:
    return [node for node in graph.nodes if node.op == anchor.op and anchor.op != "placeholder"]


def _complete(graph: Graph, results: list[Node], nodes: dict, ignore_literals: bool) -> bool:
    """Find the other results of a pattern that has several."""
    for result in results:
        if result in nodes:
            continue
        for candidate in _candidates(graph, result):
            trial = dict(nodes)
            if candidate not in nodes.values() and _same(result, candidate, trial, ignore_literals):
                nodes.update(trial)
                break
        else:
            return False
    return True


def _same(pattern: Any, value: Any, nodes: dict[Node, Node], ignore_literals: bool) -> bool:
    """Whether a value of the graph looks like one of the pattern; `nodes` notes which are which."""
    if isinstance(pattern, Node):
        return _same_node(pattern, value, nodes, ignore_literals)
    if isinstance(pattern, (tuple, list)) and isinstance(value, (tuple, list)):
        return len(pattern) == len(value) and all(
            _same(p, v, nodes, ignore_literals) for p, v in zip(pattern, value, strict=True)
        )
    if isinstance(pattern, dict) and isinstance(value, dict):
        return pattern.keys() == value.keys() and all(
            _same(p, value[key], nodes, ignore_literals) for key, p in pattern.items()
        )
    if isinstance(value, Node):
        return False
    return ignore_literals or (type(pattern) is type(value) and pattern == value)


def _same_node(pattern: Node, value: Any, nodes: dict, ignore_literals: bool) -> bool:
    if pattern in nodes:
        return nodes[pattern] is value
    if pattern.op == "placeholder":
        nodes[pattern] = value
        return True
    if not isinstance(value, Node) or value in nodes.values() or pattern.op != value.op:
        return False
    if pattern.op == "get_attr":
        same = pattern.target.rpartition(".")[2] == value.target.rpartition(".")[2]
    elif pattern.op == "call_module":
        same = _kind(pattern) is _kind(value) if _kind(pattern) else pattern.target == value.target
    else:
        same = pattern.target == value.target
    if not same:
        return False
    nodes[pattern] = value
    args, kwargs = pattern.args, pattern.kwargs
    if not (
        _same(args, value.args, nodes, ignore_literals)
        and _same(dict(kwargs), dict(value.kwargs), nodes, ignore_literals)
    ):
        del nodes[pattern]
        return False
    return True


def _kind(node: Node) -> type | None:
    owner = node.graph.owning_module
    return None if owner is None else type(owner.get_submodule(node.target))


__getattr__ = _refuses(__name__)
