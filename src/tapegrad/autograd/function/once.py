"""Gradients that refuse to be differentiated: those of a `once_differentiable` backward."""

from tapegrad.autograd.node import MultiNode, Port
from tapegrad.autograd.node_constructor import constructor
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array
from tapegrad.core.tensor_base import TensorBase


class Error(MultiNode):
    """The node behind them, which raises when a gradient reaches it."""

    __slots__ = ()

    def name(self) -> str:
        """The name as PyTorch gives it, with its namespace."""
        return "torch::autograd::Error"


class _Plan:
    __slots__ = ()
    saves = ()
    saves_tensors = False

    def gradients(self, node: Error, g: Array) -> Any:
        raise errors.runtime_error(
            "trying to differentiate twice a function that was marked with @once_differentiable",
            "Take the decorator away if its backward is made of tensor operators.",
        )

    run_on_tensors = gradients

    def saved_value(self, node: Error, name: str) -> Any:
        raise AttributeError(f"'Error' object has no attribute '_saved_{name}'")


PLAN = _Plan()
_raising = constructor(Error, PLAN)


def refusing(gradients: tuple) -> tuple:
    """The same gradients behind a node that raises."""
    node = _raising((), ())
    node.output_metadata = None
    node.n_outputs = len(gradients)
    found = []
    for i, g in enumerate(gradients):
        if isinstance(g, TensorBase):
            g = g.detach()
            g._node = Port(node, i)
        found.append(g)
    return tuple(found)
