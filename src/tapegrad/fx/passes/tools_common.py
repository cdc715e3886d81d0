"""What passes share: names of what nodes call, and graphs put in order."""

import heapq
from collections.abc import Mapping
from typing import Any

from tapegrad.core.missing import missing as _missing
from tapegrad.core.missing import torch_name
from tapegrad.fx.graph import Graph
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.node import Node
from tapegrad.nn import Module
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "get_acc_ops_name", "get_node_target", "is_node_output_tensor", "legalize_graph",
    "stable_topological_sort",
]  # fmt: skip

Tensors = tuple[Tensor] | list[Tensor]
TensorOrTensors = Tensor | Tensors
NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def get_acc_ops_name(k: Any) -> str:
    """The name of a function, with its module.

    >>> from tapegrad.fx.passes.tools_common import get_acc_ops_name
    >>> get_acc_ops_name(torch.relu), get_acc_ops_name(len)
    ('torch.relu', 'builtins.len')
    """
    if isinstance(k, str):
        return k
    module = torch_name(k.__module__ or "")
    if module.startswith("torch."):
        from tapegrad.fx.qualified_name import _get_qualified_name

        return _get_qualified_name(k)
    return f"{module}.{k.__name__}" if module else k.__name__


def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """What a node calls, as text: of a module its class.

    >>> from tapegrad import fx
    >>> from tapegrad.fx.passes.tools_common import get_node_target
    >>> traced = fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    >>> _, relu, _ = traced.graph.nodes
    >>> get_node_target(dict(traced.named_modules()), relu)
    'torch.nn.modules.activation.ReLU'
    """
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(
            f"Expect op types of {', '.join(CALLABLE_NODE_OPS)}, but found {node.op}"
        )
    if node.op == "call_module":
        kind = type(submodules[node.target])
        base = getattr(submodules[node.target], "_base_class_origin", kind)
        return torch_name(f"{base.__module__}.{base.__name__}")
    if node.op == "call_function":
        name = get_acc_ops_name(node.target)
        return name if "acc_ops" not in node.target.__module__ else node.target.__name__
    return str(node.target)


def is_node_output_tensor(node: Node) -> bool:
    """Whether a node's result is a tensor; asks what `ShapeProp` noted."""
    kind = node.meta.get("type", None)
    return kind is not None and issubclass(kind, Tensor)


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Give `gm` a graph in which every node follows its inputs; returns `gm`.

    Raises: RuntimeError where nodes need each other.
    """
    return _in_order(gm, stable=False)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """`legalize_graph` that keeps the order of nodes where it can."""
    return _in_order(gm, stable=True)


def _in_order(gm: GraphModule, stable: bool) -> GraphModule:
    nodes = list(gm.graph.nodes)
    place = {node: i for i, node in enumerate(nodes)}
    waiting = {node: len(node.all_input_nodes) for node in nodes}
    ready = [place[node] for node in nodes if not waiting[node]]
    made = Graph()
    values: dict[Node, Node] = {}
    while ready:
        node = nodes[heapq.heappop(ready) if stable else ready.pop(0)]
        values[node] = made.node_copy(node, values.__getitem__)
        for user in node.users:
            waiting[user] -= 1
            if not waiting[user]:
                if stable:
                    heapq.heappush(ready, place[user])
                else:
                    ready.append(place[user])
    if len(values) < len(nodes):
        raise RuntimeError(
            f"Input graph has cycles, unable to add {[n for n in nodes if n not in values]}"
        )
    made._codegen = gm.graph._codegen
    gm.graph = made
    return gm


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)
