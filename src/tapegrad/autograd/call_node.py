"""Calling a node: `y.grad_fn(g)` runs its rules, and neither hooks nor what is behind it."""

from tapegrad.autograd.accumulate import accumulate
from tapegrad.autograd.errors import freed
from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.autograd.node import AccumulateGrad, MultiNode
from tapegrad.core import errors
from tapegrad.core.annotations import Any
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.tensor_base import TensorBase


def call_node(node: Any, cotangents: tuple) -> Any:
    """The gradients of a node's inputs from those of its outputs, one tensor or a tuple.

    They are part of the graph where gradients are recorded. A leaf adds what it is given to its
    `.grad`, and returns nothing: an empty tuple.
    """
    if len(cotangents) != node.n_outputs:
        raise errors.type_error(
            f"expected {node.n_outputs} arguments, got {len(cotangents)} instead",
            "Pass a gradient, or None, for each output of the operator.",
        )
    for i, g in enumerate(cotangents):
        if g is not None and not isinstance(g, TensorBase):
            raise errors.type_error(f"argument {i} is not a Variable", "Pass a tensor, or None.")
    if type(node) is AccumulateGrad:
        _accumulate(node, cotangents[0])
        return ()
    if node.saved is None:
        raise freed(node)
    if all(g is None for g in cotangents):
        found: Any = [None] * len(node.edges)
    elif isinstance(node, MultiNode):
        found = node.plan.run_on_tensors(node, _filled(node, cotangents))
    else:
        found = node.plan.run_on_tensors(node, cotangents[0])
    hidden = node.plan.op.hidden if hasattr(node.plan, "op") else ()
    found = tuple(g for i, g in enumerate(found) if i not in hidden)
    return found[0] if len(found) == 1 else found


def _accumulate(leaf: AccumulateGrad, g: Any) -> None:
    if g is None:
        return
    record = is_grad_enabled() and g.requires_grad
    accumulate(leaf.variable, [g if record else resolved(g._array)], record)


def _filled(node: MultiNode, g: tuple) -> list:
    """Zeros for outputs without a gradient."""
    xp = TENSOR_NAMESPACE()
    return [
        xp.zeros(like.shape, dtype=like.dtype) if x is None and like is not None else x
        for i, x in enumerate(g)
        for like in (node.like_of(i),)
    ]
