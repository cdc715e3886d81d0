"""Places in the graph: an edge stands for a tensor in `backward` and `grad` without holding it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.arrays.signature import Like
from tapegrad.autograd.node import INFERENCE, AccumulateGrad, MultiNode, Node, Port, version_of
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors
from tapegrad.core.tensor_base import TensorBase, wrap


class _Edge(NamedTuple):
    node: Node
    output_nr: int
    ownership_token: Node | None = None


class GradientEdge(_Edge):
    """One output of a node: where the gradient of a tensor arrives.

    `autograd.grad` and `autograd.backward` take it in place of that tensor. Made by hand, it does
    not know the shape of the output: give a cotangent with it.

    Args:
        node: the node, `tensor.grad_fn`.
        output_nr: which of its outputs.
        ownership_token: something the edge keeps alive; accepted as in PyTorch.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * x
    >>> edge = torch.autograd.graph.GradientEdge(y.grad_fn, 0)
    >>> torch.autograd.grad(edge, x, torch.ones(2))
    (tensor([2., 4.]),)
    """

    like: Any = None  # the shape and dtype of the tensor, where they are known


GradientEdge.__module__ = "torch.autograd.graph"


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The place in the graph of `tensor`: its node and which output of it the tensor is.

    Raises:
        RuntimeError: if no gradient flows to the tensor.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * x
    >>> edge = torch.autograd.graph.get_gradient_edge(y)
    >>> loss = y.sum()
    >>> del y  # the edge does not hold the tensor
    >>> torch.autograd.grad(loss, edge)
    (tensor([1., 1.]),)
    """
    if not tensor.requires_grad:
        raise errors.runtime_error(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients",
            "Set requires_grad before the forward pass.",
        )
    edge = edge_of(tensor)
    node, index = (edge.node, edge.index) if type(edge) is Port else (edge, 0)
    found = GradientEdge(node, index)
    found.like = Like(tensor._array)
    return found


def edge_behind(given: Any) -> Any:
    """What the engine calls the edge: a node, or a port of one with several outputs."""
    node, index = given[0], given[1]
    if not isinstance(node, Node):
        raise errors.runtime_error(
            "GradientEdge's first object must be an autograd.graph.Node but got "
            f"{type(node).__name__}",
            "Pass tensor.grad_fn, or use get_gradient_edge(tensor).",
        )
    if not 0 <= index < node.n_outputs:
        raise errors.runtime_error(
            f"{node.name()} has no output {index}",
            f"Its outputs are numbered from 0 to {node.n_outputs - 1}.",
        )
    return Port(node, index) if isinstance(node, MultiNode) else node


def output_behind(given: object, like: Any = None) -> Any:
    """A tensor without memory in place of an output; the edge itself if its shape is not known.

    `like` has the shape and dtype where the edge does not know them.
    """
    edge = edge_behind(given)
    like = getattr(given, "like", None) or like
    if type(edge) is AccumulateGrad:
        like = edge.array
    elif type(edge) is Port:
        like = edge.node.like_of(edge.index) or like
    if like is None:
        return given
    if isinstance(like.dtype, np.dtype):
        array = np.broadcast_to(np.zeros((), like.dtype), like.shape)
    else:
        array = namespace_of((like,)).zeros(like.shape, dtype=like.dtype)
    tensor = wrap(array)
    tensor._node = edge
    return tensor


def increment_version(tensor: Any) -> None:
    """Count a write to `tensor`, or to each of several, that nobody else has counted.

    A backward pass that saved it then raises, as if it had been written in place.

    >>> x = torch.ones(2)
    >>> torch.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    if isinstance(tensor, TensorBase):
        tensor = (tensor,)
    elif not isinstance(tensor, Iterable):
        raise errors.runtime_error(
            "increment_version expect a Iterable[Tensor] as input", "Pass a tensor or several."
        )
    tensors = tuple(tensor)
    if not all(isinstance(x, TensorBase) for x in tensors):
        raise errors.runtime_error(
            "increment_version expects each element of the iterable to be a tensor",
            "Pass a tensor or several.",
        )
    for x in tensors:
        version = version_of(x)
        if version is not INFERENCE:
            version.value += 1
            version.operator = "increment_version()"
