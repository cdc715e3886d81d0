"""Nodes of the graph: those of operators, that of a leaf, and version counters.

Edges point from a node to the nodes of its inputs. An edge is one object: the node itself, a `Port`
where the node has several outputs, an `AccumulateGrad` for a leaf, or None where no gradient goes.
Nothing here points from a node to its own output, so a graph is freed by reference counting.
"""

import itertools
import weakref

from tapegrad.autograd.hooks import NodeHooks
from tapegrad.core.annotations import Any, Callable, EdgeLike, NodeLike
from tapegrad.core.registration import NODE_CALLS
from tapegrad.core.tensor_base import TensorBase

next_sequence = itertools.count(1).__next__


class Version:
    """How often a tensor was written in place; shared by a tensor and its views.

    It comes into being with the first view or write: a tensor that was never written has none.
    """

    __slots__ = ("line", "operator", "origin", "reshaped", "value")

    def __init__(self) -> None:
        self.value = 0
        self.origin = ""  # what the tensor is since it was written with a history
        self.operator = ""  # of the last write
        self.line: tuple[str, int] | None = None  # where it was made: file and line
        # `reshaped`, where a tensor with views got other shapes in place: the array before, that
        # after, and the step of a view from the second to the first, of each time


class DetachedVersion:
    """In place of the version of a tensor that was detached in place, at the node that made it.

    What saved the tensor as an input may not be used; the node itself, which may have saved it as
    its output, still asks the version.
    """

    __slots__ = ("version",)
    value = -1  # equal to no version

    def __init__(self, version: Version):
        self.version = version


class ReplacedVersion:
    """In place of the version of a tensor that got other values, `x.data = values`.

    What saved one of its `old` arrays as an input reads `array` instead, of the same version.
    """

    __slots__ = ("array", "old", "version")
    value = -1  # equal to no version

    def __init__(self, version: Version | None, array: Any, old: Any, before: Any):
        self.version, self.array = version, array
        earlier = before.old if type(before) is ReplacedVersion else ()
        self.old = [weakref.ref(old), *[each for each in earlier if each() is not None]]


def _watched(before: Any, version: Any) -> Any:
    if type(before) is ReplacedVersion and type(version) is Version:
        before.version = version
        return before
    return version


def counter_of(node: Any, index: int = 0) -> Any:
    """The version counter of an output of a node; None where it has none."""
    version = node.output_version
    if type(version) is dict:
        version = version.get(index)
    return getattr(version, "version", version)


class _Every:
    """The wildcard version of a private copy, to which nobody writes: equal to all versions."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


EVERY = _Every()
INFERENCE = Version()  # the mark of inference tensors, which have no counter


def version_of(tensor: Any) -> Version:
    """The version counter of `tensor`, made on first use and told to the node behind it.

    Through that node whoever saved the tensor's array finds the counter.
    """
    version = tensor._counter
    if version is None:
        node = tensor._node
        version = None if node is None else node.output_version
        if type(version) is ReplacedVersion:
            version = version.version
        if version is None or type(version) is dict:
            version = Version()
            if node is not None:
                node.watch(version)
        tensor._counter = version
    return version


def mark_inference(results: Any) -> Any:
    """Turn fresh results into inference tensors; views of ordinary tensors stay ordinary."""
    for result in results if isinstance(results, (tuple, list)) else (results,):
        if isinstance(result, TensorBase) and result._counter is None:
            result._counter = INFERENCE
        elif isinstance(result, TensorBase) and result._view is not None:
            result._view.made = "inference"
    return results


_IN_NAMESPACE = ("CopyBackwards", "NotImplemented")


class Node:
    """What a gradient passes on its way: the node of an operator, or that of a leaf.

    >>> x = torch.ones(2, requires_grad=True)
    >>> isinstance((x * 2).grad_fn, torch.autograd.graph.Node)
    True
    """

    __slots__ = ("__weakref__",)
    n_outputs = 1
    edges: Any
    hooks: Any
    output_version: Any
    sequence: Any

    def watch(self, version: Any) -> None:
        self.output_version = _watched(self.output_version, version)

    def name(self) -> str:
        """The name of the node, as it prints; PyTorch has some in a namespace."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in _IN_NAMESPACE else name

    @property
    def next_functions(self) -> tuple:
        """The edges as pairs (node, number of the node's output)."""
        return ()

    @property
    def metadata(self) -> dict:
        """A dictionary for whoever wants to attach something to the node.

        In anomaly mode it has the forward traceback of the call, a list of lines: `"traceback_"`;
        where a backward pass made the node, `"parent_"` is the one that ran, while that exists.
        """
        from tapegrad.autograd.trace import trace_of

        metadata, trace = hooks_of(self).metadata, trace_of(self)
        if trace is not None:
            metadata.setdefault("traceback_", trace.summary().format())
            parent = None if trace.parent is None else trace.parent[2]()
            if parent is not None:
                metadata.setdefault("parent_", parent)
        return metadata

    @property
    def requires_grad(self) -> bool:
        """True: what needs no gradient has no node."""
        return True

    def _sequence_nr(self) -> int:
        number = None if self.hooks is None else self.hooks.number
        return self._own_number() if number is None else number

    def _own_number(self) -> int:
        return self.sequence

    def _set_sequence_nr(self, number: int) -> None:
        """Let `_sequence_nr()` give another number; the order of a pass stays what it was."""
        hooks_of(self).number = int(number)

    def __dir__(self) -> list[str]:
        """The names that PyTorch's nodes have, and those of what this one keeps."""
        own = [*dir(object), "__call__"]
        variable = ["variable"] if type(self) is AccumulateGrad else []
        plan: Any = getattr(self, "plan", None)
        plan = getattr(plan, "original", plan)
        saved = plan.shown_names() if hasattr(plan, "shown_names") else ()
        return [*own, *_SHOWN, *variable, *saved]

    def register_hook(self, fn: Callable) -> Any:
        """Call `fn(grad_inputs, grad_outputs)` after the node has run; returns a handle.

        What it returns, a tuple with a tensor or None for each of `grad_inputs`, replaces them.

        >>> x = torch.ones(2, requires_grad=True)
        >>> y = x * 2
        >>> handle = y.grad_fn.register_hook(lambda gi, go: print(gi, go))
        >>> y.sum().backward()
        (tensor([2., 2.]), None) (tensor([1., 1.]),)
        """
        return hooks_of(self).add("post", fn)

    def register_prehook(self, fn: Callable) -> Any:
        """Call `fn(grad_outputs)` before the node runs; returns a handle.

        What it returns, a tuple with a tensor or None for each of them, replaces them.

        >>> x = torch.ones(2, requires_grad=True)
        >>> y = x * 2
        >>> handle = y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
        >>> y.sum().backward()
        >>> x.grad
        tensor([20., 20.])
        """
        return hooks_of(self).add("pre", fn)

    def _register_hook_dict(self, tensor: Any) -> None:
        """Let the hooks of a tensor, those it will get too, run here: it is made by this node."""
        if not isinstance(tensor, TensorBase):
            raise TypeError("_register_hook_dict expected a variable")
        hooks = tensor._backward_hooks
        if hooks is not None:
            hooks_of(self).tensor[tensor.output_nr] = hooks

    def __call__(self, *cotangents: Any, **keywords: Any) -> Any:
        """The gradients of the inputs, from those of the outputs: a tensor, or a tuple of them.

        Hooks are not called.

        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * 3).grad_fn(torch.ones(2))
        (tensor([3., 3.]), None)
        """
        if keywords:
            raise TypeError("keyword arguments are not supported")
        return NODE_CALLS().call_node(self, cotangents)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


Node.__module__ = "torch.autograd.graph"
_SHOWN = (
    "_register_hook_dict",
    "_sequence_nr",
    "_set_sequence_nr",
    "metadata",
    "name",
    "next_functions",
    "register_hook",
    "register_prehook",
    "requires_grad",
)


class OperatorNode(Node):
    """One recorded application of an operator, with one differentiable output.

    `edges` has one for each array input; `saved` what the rules asked for, None once it is freed.
    """

    __slots__ = (
        "hooks",  # None or NodeHooks
        "output_version",  # counter of the output, once it has one
        "plan",  # what the node keeps and how it runs: autograd/plan.py
        "restore",  # None, or (shape, dtype) of each input that was broadcast or cast
        "sequence",  # a node is younger than its inputs: its number is larger
        "versions",  # None, or the versions of what is saved where an input had a counter
    )
    plan: Any
    restore: Any
    saved: Any
    sequence: int
    versions: Any

    @property
    def next_functions(self) -> tuple:
        """The edges as pairs (node, number of the node's output)."""
        hidden = self.plan.op.hidden if hasattr(self.plan, "op") else ()
        return tuple(
            (edge.node, edge.index) if type(edge) is Port else (_shown(edge), 0)
            for i, edge in enumerate(self.edges)
            if i not in hidden
        )


class TupleNode(OperatorNode):
    """A node of any number of inputs: its edges and what it keeps are tuples."""

    __slots__ = ("edges", "saved")


FREED = type("Freed", (), {"__slots__": ()})()  # in place of what a node saved


class PairNode(OperatorNode):
    """A node of one or two inputs, without tuples to hold them and the two things it may keep.

    It is the node of small operators, of which graphs have the most: half as many objects to make,
    to free and for the garbage collector to look at. A third thing saved goes with the second.
    """

    __slots__ = ("edge_0", "edge_1", "saved_0", "saved_1")

    @property
    def edges(self) -> tuple:
        return (self.edge_0,) if len(self.plan.kinds) == 1 else (self.edge_0, self.edge_1)

    @edges.setter
    def edges(self, edges: tuple) -> None:
        self.edge_0, self.edge_1 = edges[0], edges[-1]

    @property
    def saved(self) -> tuple | None:
        n = len(self.plan.saves)
        if n and self.saved_0 is FREED:
            return None
        if n > 2:
            return (self.saved_0, *self.saved_1)
        return (self.saved_0, self.saved_1) if n == 2 else (self.saved_0,) if n else ()

    @saved.setter
    def saved(self, values: tuple | None) -> None:
        if values is None:
            self.saved_0 = self.saved_1 = FREED
        elif values:
            self.saved_0, self.saved_1 = values[0], values[1:] if len(values) > 2 else values[-1]


class MultiNode(TupleNode):
    """A node of several differentiable outputs; `output_metadata` has their shapes and dtypes."""

    __slots__ = ("n_outputs", "output_metadata")
    output_metadata: Any  # None: zeros for what no gradient reaches are the node's own business
    fills = True  # whether it is given zeros for them, once a gradient has reached another output

    def like_of(self, index: int) -> Any:
        """What has the shape and dtype of an output; None where that is not known."""
        return None if self.output_metadata is None else self.output_metadata[index]


class Port:
    """One output of a `MultiNode`: what the edges to it point at, held by them and not by it."""

    __slots__ = ("index", "node")

    def __init__(self, node: MultiNode, index: int):
        self.node, self.index = node, index

    @property
    def output_version(self) -> Version | None:
        """The counter of this output, once it has one."""
        return (self.node.output_version or {}).get(self.index)

    def watch(self, version: Any) -> None:
        node = self.node
        if node.output_version is None:
            node.output_version = {}
        node.output_version[self.index] = _watched(self.output_version, version)


def node_of(edge: EdgeLike) -> Any:
    """The node that an edge leads to, whichever of its outputs."""
    return edge.node if type(edge) is Port else edge


class AccumulateGrad(Node):
    """The node of a leaf: adds what arrives to the leaf's `.grad`.

    The leaf holds its node and the node its leaf only weakly, so that neither outlives its use; a
    graph whose leaf has gone makes `variable` anew from the array.
    """

    __slots__ = ("array", "hooks", "kind", "leaf", "output_version", "spent")
    hooked = False  # whether any leaf ever got a hook: only then are arrivals counted
    edges = ()
    sequence = 0  # older than every node: runs when all that feeds it has run

    def __init__(self, leaf: Any):
        self.leaf = weakref.ref(leaf)
        self.array = leaf._array
        self.kind = type(leaf)
        self.hooks: Any = None
        self.output_version: Version | None = leaf._counter
        self.spent = False  # of a transform of `torch.func` that has ended: nobody asks by it

    @property
    def variable(self) -> Any:
        """The leaf whose gradient this node accumulates."""
        leaf = self.leaf()
        if leaf is None:
            leaf = object.__new__(self.kind)
            leaf._array, leaf._node, leaf._counter = self.array, self, counter_of(self)
            leaf._view = leaf._grad = leaf._signature = None
            self.leaf = weakref.ref(leaf)
        return leaf

    def name(self) -> str:
        """The name as PyTorch gives it, with its namespace."""
        return "torch::autograd::AccumulateGrad"

    def _own_number(self) -> int:
        return 2**64 - 1  # what PyTorch gives: it runs a leaf as soon as it can


def _gone() -> None:
    """In place of a reference to a leaf: there is none."""


def nowhere(view: Any) -> Any:
    """The node of a view without history whose base requires grad: what arrives is let go.

    Such a view was made before its base required grad, or while nothing was recorded.
    """
    node: Any = AccumulateGrad.__new__(AccumulateGrad)
    node.leaf = _gone
    node.array, node.kind, node.hooks = view._array, type(view), None
    node.output_version, node.spent = view._counter, False
    return node


def _shown(edge: Any) -> Any:
    """The node at an edge; None at one that leads nowhere."""
    return None if type(edge) is AccumulateGrad and edge.leaf is _gone else edge


def hooks_of(node: NodeLike) -> Any:
    """The hooks of a node, made on first use."""
    if node.hooks is None:
        node.hooks = NodeHooks()
        if type(node) is AccumulateGrad:
            AccumulateGrad.hooked = True
    return node.hooks


def make_leaf(tensor: Any) -> Any:
    """Let gradients flow to a tensor that nothing made."""
    tensor._node = AccumulateGrad(tensor)
    return tensor
