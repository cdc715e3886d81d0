"""Replacing every part of a graph that looks like a pattern."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx._symbolic_trace import symbolic_trace
from tapegrad.fx.graph import Graph, _has_attribute
from tapegrad.fx.graph_module import GraphModule, _copy_attr
from tapegrad.fx.node import Node
from tapegrad.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from tapegrad.nn import Module


class Match(NamedTuple):
    """Where a pattern was found: the pattern's last node, and for each of its nodes the graph's."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A `Match`, and the nodes that stand there now."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node] = field(default_factory=list)


Pattern = Callable[..., Any] | Graph | GraphModule


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace what looks like `pattern` in the graph of `gm` by `replacement`.

    Both are functions, modules or graphs with the same inputs. Nodes of the pattern must not be
    used outside it, except its results; where two places overlap the first counts. Returns where
    the pattern was.

    >>> from tapegrad import fx
    >>> traced = fx.symbolic_trace(lambda x: torch.neg(x) + 1)
    >>> _ = fx.replace_pattern(traced, lambda x: torch.neg(x), lambda x: torch.relu(x))
    >>> traced(torch.tensor([-2.0, 2.0]))
    tensor([1., 3.])
    """
    done = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(each.anchor, each.nodes_map) for each in done]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: list[Callable] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[..., Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """`replace_pattern`, for matches of which all filters say yes.

    Filters, and `replacement_callback`, which gives the new graph of a match, are asked with the
    match, the graph, and the pattern's graph.
    """
    if node_name_match:
        raise NotImplementedError("tapegrad's replace_pattern_with_filters has no node_name_match")
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either replacement or replacement_callback")
    wanted = _graph_of(pattern)
    given = None if replacement is None else _graph_of(replacement)
    found = [
        each
        for each in SubgraphMatcher(wanted, ignore_literals=ignore_literals).match(gm.graph)
        if all(accept(each, gm.graph, wanted) for accept in match_filters or ())
    ]
    changed: dict[Node, Node] = {}
    done = []
    for match in found:
        new = given
        if new is None:
            assert replacement_callback is not None
            new = replacement_callback(match, gm.graph, wanted)
        done.append(_replace(gm, wanted, new, match, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_attributes(gm, replacement)
    return done


def _graph_of(given: Any) -> Graph:
    if isinstance(given, GraphModule):
        return given.graph
    return given if isinstance(given, Graph) else symbolic_trace(given).graph


# ---------------------------------------------------------------------------------- replacing


def _replace(
    gm: GraphModule, pattern: Graph, new: Graph, match: InternalMatch, changed: dict[Node, Node]
) -> ReplacedPatterns:
    nodes = match.nodes_map
    inputs = [n for n in pattern.nodes if n.op == "placeholder"]
    new_inputs = [n for n in new.nodes if n.op == "placeholder"]
    if len(inputs) != len(new_inputs):
        raise AssertionError(
            f"the pattern has {len(inputs)} inputs, the replacement {len(new_inputs)}"
        )
    values: dict[Node, Any] = {}
    for old, made in zip(inputs, new_inputs, strict=True):
        value = nodes.get(old, old)
        while isinstance(value, Node) and value in changed:
            value = changed[value]
        values[made] = value
    results = list(pattern.output_node().all_input_nodes)
    places = [nodes[result] for result in results]
    before = set(gm.graph.nodes)
    with gm.graph.inserting_before(_place(places)):
        returned = gm.graph.graph_copy(new, values)
    copied = [n for n in gm.graph.nodes if n not in before]
    outputs = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if len(outputs) != len(places):
        raise AssertionError(f"the pattern gives {len(places)} values, the new one {len(outputs)}")
    for place, output in zip(places, outputs, strict=True):
        place.replace_all_uses_with(output)
        changed[place] = output
    for node in reversed(list(pattern.nodes)):
        if node.op not in ("placeholder", "output") and not nodes[node].users:
            gm.graph.erase_node(nodes[node])
    return ReplacedPatterns(match.anchors[0], nodes, copied)


def _place(places: list[Node]) -> Node:
    """Where the new nodes go: before the first that uses a result."""
    users = [user for place in places for user in place.users]
    return min(users) if users else max(places).next


def _take_attributes(gm: GraphModule, replacement: Module) -> None:
    """Give `gm` the modules and tensors of the replacement that its graph now asks for."""
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr") and not _has_attribute(gm, node.target):
            _copy_attr(replacement, gm, node.target)
    gm.delete_all_unused_submodules()
    gm.graph.lint()


__getattr__ = _refuses(__name__)
