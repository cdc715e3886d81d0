"""The graph behind what a recorded call gives: its nodes, and what these have saved."""

from collections.abc import Iterator

from tapegrad.autograd.describe import is_freed
from tapegrad.autograd.node import node_of
from tapegrad.core.annotations import Any
from tapegrad.core.tensor_base import TensorBase


def nodes_behind(edges: list) -> Iterator[Any]:
    """Every node of a graph, from some edges on."""
    stack, seen = [node_of(edge) for edge in edges], set()
    while stack:
        node = stack.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack += [node_of(edge) for edge in node.edges or ()]


def is_over(edge: Any) -> bool:
    """Whether a backward pass has freed what some node behind a result has saved."""
    return any(is_freed(node) for node in nodes_behind([edge]))


def backward_of(node: Any) -> Any:
    """What the user has written of the backward pass of a node."""
    call = getattr(node.ctx, "_library_call", None)
    return node.user_backward() if call is None else call.operator.formula.backward


def saved_behind(tensors: list) -> set[int]:
    """The identities of the tensors that nodes behind some have saved, and of their bases."""
    found = set()
    stack: list[Any] = []
    for node in nodes_behind([x._node for x in tensors]):
        stack.append(getattr(node, "saved", None))
        stack.append(getattr(node, "saved_values", None))
        stack.append(vars(node.ctx) if hasattr(node, "saved_values") else None)
    while stack:
        x = stack.pop()
        if isinstance(x, TensorBase):
            found.add(id(x))
            if x._view is not None:
                found.add(id(x._view.base))
        elif isinstance(x, (tuple, list)):
            stack += x
        elif isinstance(x, dict):
            stack += x.values()
        elif hasattr(type(x), "tensor") and hasattr(x, "value"):
            stack.append(x.value)
    return found
