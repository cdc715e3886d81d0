"""The history of a tensor that was written in place.

x.mul_(y)       x takes the node of x * y
v.mul_(y)       for a view v of x: x gets a `CopySlices` node, which sends the part of the
                gradient that v covers through the operator and the rest past it
"""

import numpy as np

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.autograd.errors import freed
from tapegrad.autograd.mode import EVERYWHERE
from tapegrad.autograd.node import MultiNode, OperatorNode, Port, TupleNode, version_of
from tapegrad.autograd.node_constructor import constructor
from tapegrad.autograd.plan import Plan
from tapegrad.autograd.saved import origin_of
from tapegrad.autograd.sum_to_size import restored
from tapegrad.autograd.view import adjoint, move_retained, shares_memory
from tapegrad.core import tensor_base
from tapegrad.core.annotations import Any, Array, Namespace, NodeLike, Sequence
from tapegrad.core.conj_neg_view import ConjNegView
from tapegrad.core.registration import TENSOR_NAMESPACE


def rewrite_history(x: Any, edge: Any, result: Any) -> None:
    """Put `x`, just written, behind the node that computed what was written."""
    maker = edge.node if type(edge) is Port else edge
    _keep_written_output(maker, x, result)
    view = x._view
    if view is None:
        old, x._node = x._node, edge
        version_of(x).origin = origin_of(edge)
        move_retained(x, old, edge)
        return
    base = view.base
    copy = _copy_slices(
        (base._node, *_shown(maker, maker.edges)[1:]),
        (maker, view.steps, base._array.shape, base._array.dtype),
    )
    for each in EVERYWHERE:
        each.made(copy)
    old, base._node = base._node, copy
    version_of(base).origin = origin_of(copy)
    move_retained(base, old, copy)
    view.seen = -1  # the next who asks makes the view's node from the base's new one


def _keep_written_output(node: NodeLike, x: Any, result: Any) -> None:
    """A node that saved its output keeps the memory the output was written to."""
    plan = node.plan
    if not any(where == "output" for where, _, _ in getattr(plan, "saves", ())):
        return
    # the rules run on arrays as they are read: of a conjugate view that is the result itself
    kept = result._array if type(x._array) is ConjNegView else x._array
    node.saved = tuple(
        kept if where == "output" and value is result._array else value
        for (where, _, _), value in zip(plan.saves, node.saved, strict=True)
    )
    version = version_of(x)
    if isinstance(node, MultiNode):
        node.output_version = {0: version}
    else:
        node.output_version = version
    node.versions = tuple(
        version.value if where == "output" else (0 if old is None else old)
        for (where, _, _), old in zip(
            plan.saves, node.versions or (None,) * len(plan.saves), strict=True
        )
    )


def _shown(maker: OperatorNode, values: Sequence) -> list:
    """Of one value for each input of an operator those that stand for edges of the graph."""
    hidden = maker.plan.op.hidden if hasattr(maker.plan, "op") else ()
    return [value for i, value in enumerate(values) if i not in hidden]


class CopySlices(TupleNode):
    """The node of a tensor that was written through a view."""

    __slots__ = ()

    def name(self) -> str:
        """The name as PyTorch gives it, with its namespace."""
        return "torch::autograd::CopySlices"


class _CopySlices:
    """How it runs: the part of the gradient that the view covers goes through the operator."""

    __slots__ = ()
    saves = ()
    saves_tensors = True

    def run(self, node: OperatorNode, g: Array, retain: bool) -> list:
        """Each edge and its gradient in turn; frees what the node saved, unless `retain`."""
        if node.saved is None:
            raise freed(node)
        grads = self.gradients(node, g)
        if not retain:
            node.saved = None
        return [x for pair in zip(node.edges, grads, strict=True) for x in pair]

    def gradients(self, node: OperatorNode, g: Array) -> list:
        """The gradient of each input."""
        maker, steps, *_ = node.saved
        if maker.saved is None:
            raise freed(maker)
        xp = namespace_of((g,))
        rest = np.array(g, order="C") if xp is numpy_namespace else xp.asarray(g, copy=True)
        part = rest
        for step in steps:
            part = step.forward(xp, part)
        copy = namespace_of((part,)).asarray(part, copy=True)
        grads = _shown(maker, _run(maker, copy, False))
        if node.edges[0] is None:
            return grads
        if not shares_memory(part, rest):  # the gradient is laid out otherwise than the tensor
            grads[0] = _rest(xp, steps, g, grads[0], tuple(part.shape), *node.saved[2:])
        else:
            part[...] = 0 if grads[0] is None else grads[0]
            grads[0] = rest
        return grads

    def run_on_tensors(self, node: OperatorNode, g: Array) -> list:
        xp = TENSOR_NAMESPACE()

        maker, steps, shape, dtype = node.saved
        if maker.saved is None:
            raise freed(maker)
        part = g
        for step in steps:
            out = step.op.call(part, **step.params)
            part = out if step.index is None else out[step.index]
        grads = _shown(maker, _run(maker, part, True))
        if node.edges[0] is not None:
            grads[0] = _rest(xp, steps, g, grads[0], tuple(part.shape), shape, dtype)
        return grads

    def saved_value(self, node: OperatorNode, name: str) -> Any:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")


def _rest(
    xp: Namespace, steps: tuple, g: Array, through: Any, view: tuple, shape: tuple, dtype: Any
) -> Any:
    """The gradient `g` past a view of shape `view`, and `through` it what went by the operator."""
    covered: Any = adjoint(numpy_namespace, steps, np.ones(view, dtype), shape, dtype) != 0
    if xp is not numpy_namespace:
        covered = tensor_base.wrap(covered) if xp is TENSOR_NAMESPACE() else xp.asarray(covered)
    rest = xp.where(covered, xp.zeros_like(g), g)
    return rest if through is None else rest + adjoint(xp, steps, through, shape, dtype)


COPY_SLICES = _CopySlices()
_copy_slices = constructor(CopySlices, COPY_SLICES)


def _run(node: NodeLike, g: Array, on_tensors: bool) -> Any:
    """Run the rules of the operator behind a CopySlices."""
    if not on_tensors:
        plan = node.plan
        return (plan.fitting(g) if type(plan) is Plan else plan).gradients(node, g)
    grads = node.plan.run_on_tensors(node, g)
    return grads if node.restore is None else restored(grads, node.restore)
