"""Exchanging what nodes call, and the memory that their results take."""

from typing import Any, NamedTuple

import tapegrad as torch
from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.graph import Graph
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.node import Node, Target, map_arg
from tapegrad.fx.passes.shape_prop import ShapeProp

__all__ = [
    "get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with",
    "size_bytes",
]  # fmt: skip


class size_bytes(NamedTuple):
    """The bytes of a node's result, and with those of its parameters."""

    output_size: int
    total_size: int


def replace_target_nodes_with(
    fx_module: GraphModule, old_op: str, old_target: Target, new_op: str, new_target: Target
) -> None:
    """Let every node that calls `old_target` call `new_target`.

    >>> from tapegrad import fx
    >>> from tapegrad.fx.passes.graph_manipulation import replace_target_nodes_with
    >>> traced = fx.symbolic_trace(lambda x: torch.neg(x))
    >>> replace_target_nodes_with(traced, "call_function", torch.neg, "call_method", "relu")
    >>> traced(torch.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """
    made = Graph()
    values: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args = map_arg(node.args, values.__getitem__)
            kwargs = map_arg(node.kwargs, values.__getitem__)
            values[node] = made.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            values[node] = made.node_copy(node, values.__getitem__)
    fx_module.graph = made


def get_tensor_meta(node: Node) -> Any:
    """What `ShapeProp` noted of a node's result.

    Raises: RuntimeError where it was not run.
    """
    found = node.meta.get("tensor_meta")
    if not found:
        raise RuntimeError(
            f"Node {node} has no tensor metadata associated with it! Check that shape propagation "
            "has run."
        )
    return found


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """The bytes of a node's result, and with those of its module's parameters."""
    held = 0
    if node.op == "call_module":
        module = dict(fx_module.named_modules())[node.target]
        held = sum(p.numel() * p.element_size() for _, p in module.named_parameters())
    meta = get_tensor_meta(node)
    output = torch.empty((), dtype=meta.dtype).element_size() * meta.shape.numel()
    return size_bytes(output, held + output)


def get_size_of_all_nodes(fx_module: GraphModule, args: list[Any] | None = None) -> None:
    """Give each node its `size_bytes`; with `args`, shapes are found first by a run.

    Raises: RuntimeError where a node has no tensor as its result.
    """
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)  # type: ignore[attr-defined]


__getattr__ = _refuses(__name__)
