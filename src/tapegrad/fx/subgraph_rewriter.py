"""Replacing every part of a graph that looks like a pattern."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx._symbolic_trace import symbolic_trace
from tapegrad.fx.graph import Graph
from tapegrad.fx.graph_module import GraphModule, _copy_attr
from tapegrad.fx.node import Node
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
    **others: Any,
) -> list[ReplacedPatterns]:
    """`replace_pattern`, for matches of which all filters say yes."""
    if any(others.values()):
        raise NotImplementedError(
            f"tapegrad's replace_pattern_with_filters has no {next(iter(others))}"
        )
    wanted, new = _graph_of(pattern), _graph_of(replacement)
    found = [
        each
        for each in _matches(gm.graph, wanted, ignore_literals)
        if all(accept(each, gm.graph, wanted) for accept in match_filters or ())
    ]
    changed: dict[Node, Node] = {}
    done = [_replace(gm, wanted, new, nodes, changed) for nodes in found]
    gm.recompile()
    if isinstance(replacement, Module):
        _take_attributes(gm, replacement)
    return done


def _graph_of(given: Any) -> Graph:
    if isinstance(given, GraphModule):
        return given.graph
    return given if isinstance(given, Graph) else symbolic_trace(given).graph


# ------------------------------------------------------------------------------------ finding


def _matches(graph: Graph, pattern: Graph, ignore_literals: bool) -> list[dict[Node, Node]]:
    results = list(pattern.output_node().all_input_nodes)
    if not results:
        return []
    found: list[dict[Node, Node]] = []
    taken: set[Node] = set()
    for candidate in _candidates(graph, results[-1]):
        nodes: dict[Node, Node] = {}
        if not _same(results[-1], candidate, nodes, ignore_literals):
            continue
        if len(results) > 1 and not _complete(graph, results[:-1], nodes, ignore_literals):
            continue
        inside = {n for p, n in nodes.items() if p.op not in ("placeholder", "get_attr")}
        inside_only = inside - {nodes[result] for result in results}
        if any(user not in inside for n in inside_only for user in n.users):
            continue
        if inside & taken:
            continue
        taken |= inside
        found.append(nodes)
    return found


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


# ---------------------------------------------------------------------------------- replacing


def _replace(
    gm: GraphModule, pattern: Graph, new: Graph, nodes: dict[Node, Node], changed: dict[Node, Node]
) -> ReplacedPatterns:
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
    return ReplacedPatterns(results[-1], nodes, copied)


def _place(places: list[Node]) -> Node:
    """Where the new nodes go: before the first that uses a result."""
    users = [user for place in places for user in place.users]
    return min(users) if users else max(places).next


def _take_attributes(gm: GraphModule, replacement: Module) -> None:
    """Give `gm` the modules and tensors of the replacement that its graph now asks for."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            try:
                gm.get_submodule(node.target)
            except AttributeError:
                _copy_attr(replacement, gm, node.target)
    gm.graph.lint()


__getattr__ = _refuses(__name__)
