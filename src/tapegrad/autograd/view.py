"""Views: tensors that share memory with their base, and find their history through it.

A view remembers its base (never another view: chains are joined) and the steps, view operators with
their keywords, that lead from the base to it. When the base or another view was written in place,
the node a view had is out of date; it is made again, from the base's new node and the steps, when
somebody asks. Every reader of a tensor's place in the graph asks `edge_of`.
"""

import numpy as np

from tapegrad.arrays.namespaces import is_recorded, namespace_of
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.autograd.mode import MODE, is_grad_enabled
from tapegrad.autograd.node import (
    INFERENCE,
    AccumulateGrad,
    OperatorNode,
    Port,
    TupleNode,
    hooks_of,
    nowhere,
    version_of,
)
from tapegrad.autograd.node_constructor import constructor
from tapegrad.autograd.view_origin import MULTI_OUTPUT, NO_GRAD, ORDINARY, view_error
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, DTypeLike, EdgeLike, Namespace, OperatorLike
from tapegrad.core.conj_neg_view import ConjNegView
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.tensor_base import TensorBase, wrap


def view_forward(op: OperatorLike, xp: Namespace, x: Array, params: dict) -> Any:
    """What a view operator gives of an array: of a conjugate view one that is conjugate, too."""
    if type(x) is ConjNegView:
        return x.through(op.forward, namespace_of((x.raw,)), **params)
    return op.forward(xp, x, **params)


class Step:
    """One view operator applied: what it was called with, and which of its outputs is meant."""

    __slots__ = ("index", "op", "params")

    def __init__(self, op: OperatorLike, params: dict, index: int | None):
        self.op, self.params, self.index = op, params, index

    def forward(self, xp: Namespace, x: Array) -> Any:
        out = view_forward(self.op, xp, x, self.params)
        return out if self.index is None else out[self.index]


class View:
    """What a view knows of its base."""

    __slots__ = ("array", "base", "made", "seen", "steps")

    def __init__(self, base: Any, array: Any, steps: tuple[Step, ...], made: str, seen: int):
        self.base = base
        self.array = array  # what the steps begin with: the base's, unless that was reshaped
        self.steps = steps
        self.made = made  # ORDINARY, or why the view may not be written in place
        self.seen = seen  # version of the base at which the view's node is right


def shares_memory(out: Any, x: Any) -> bool:
    """Whether `out`, computed from the array `x` by a view operator, is a view of it."""
    base = getattr(out, "base", None)
    if out is x or base is x:
        return True
    return base is not None and memory_owner(base) is memory_owner(x)


def memory_owner(array: Any) -> Any:
    """What holds the memory of an array, at the end of a chain of views."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array.array if is_recorded(array) else array


def mark_view(op: Any, source: Any, out: Any, params: dict, index: int | None, mode: Any) -> None:
    """Make `out`, the result of a view operator on `source`, a view of it if it shares memory."""
    if not shares_memory(out._array, source._array):
        return
    if source._counter is INFERENCE:
        out._counter, out._node = INFERENCE, None
        return
    version = version_of(source)
    out._counter = version
    step = Step(op, params, index)
    made = NO_GRAD
    if mode:
        made = ORDINARY if index is None else MULTI_OUTPUT
    view = source._view
    if view is None:
        out._view = View(source, source._array, (step,), made, version.value)
    else:
        if made is ORDINARY:
            made = view.made
        steps = (*view.steps, step)
        out._view = View(view.base, view.array, steps, made, version.value)


def follow_from_base(out: Any, array: Any) -> None:
    """Let `out`, what `as_strided` makes of the view `array`, lead to the base in one step.

    It sees all of the memory, not only what the view does that it was asked of.
    """
    view = out._view
    if view is None or len(view.steps) < 2:
        return
    base = view.array
    if type(base) is not np.ndarray or type(array) is not np.ndarray or base.dtype != array.dtype:
        return
    if any(step.op.name in _SIGNS for step in view.steps):
        return
    start, own_start = (x.__array_interface__["data"][0] for x in (array, base))
    params = dict(view.steps[-1].params)
    params["offset"] += (start - own_start) // base.itemsize
    params["own"] = tuple([s // base.itemsize for s in base.strides])
    view.steps = (Step(view.steps[-1].op, params, None),)


def as_read(x: Any) -> Any:
    """An input as it is read: a conjugate or negative view as a tensor with memory of its own.

    It has the place in the graph, the version counter and the tangents of the view.
    """
    if not isinstance(x, TensorBase) or type(x._array) is not ConjNegView:
        return x
    found = wrap(x._array.resolved())
    found._node, found._counter = edge_of(x), x._counter
    mode = MODE.get()
    if type(mode) is not bool:
        mode.read_as(x, found)
    return found


def edge_of(tensor: Any, strict: bool = False) -> Any:
    """The node behind `tensor`, made again where the base of a view has a new history.

    Some views cannot have it. Where nothing is recorded that matters only if `strict`.
    """
    view = tensor._view
    if view is None:
        return tensor._node
    version = tensor._counter
    if view.seen != version.value:
        edge, old = view.base._node, tensor._node
        if edge is not None or (old is not None and type(old) is not AccumulateGrad):
            if view.made is not ORDINARY:
                if not strict and not is_grad_enabled():
                    return tensor._node
                raise view_error(view.made, tensor._node, indirect=True)
            check_base(view)
            tensor._node = replay(view, edge)
            move_retained(tensor, old, tensor._node)
            view.seen = version.value
    if tensor._node is None and view.base._node is not None:
        return nowhere(tensor)
    return tensor._node


def check_base(view: View) -> None:
    """Follow a base that got another shape in place, from which the steps lead first back.

    Raises where that way is not known.
    """
    if view.array is view.base._array:
        return
    for before, after, back in getattr(version_of(view.base), "reshaped", ()):
        if view.array is before:
            view.array, view.steps = after, (back, *view.steps)
    if view.array is not view.base._array:
        raise errors.runtime_error(
            "the base of this view was given another shape in place (as_strided_(), ...) "
            "after the view was made, and written since: its history cannot be followed",
            "Make the view again, or use the out-of-place form (as_strided(), ...).",
        )


def move_retained(x: object, old: Any, new: Any) -> None:
    """`retain_grad()` follows a tensor to its new node."""
    if old is None or new is None or old is new or type(old) is AccumulateGrad:
        return
    node: Any = old.node if type(old) is Port else old
    index = old.index if type(old) is Port else 0
    retained = node.hooks.retained if node.hooks is not None else {}
    if index in retained and retained[index]() is x:
        node, place = (new.node, new.index) if type(new) is Port else (new, 0)
        hooks_of(node).retained[place] = retained.pop(index)


def renamed(node: OperatorNode, shift: int) -> OperatorNode:
    """`node` as a node of the same kind, the number at the end of whose name is larger."""
    name = type(node).__name__
    return _named(node, name[:-1] + str(int(name[-1]) + shift))


def as_copy(edge: EdgeLike) -> EdgeLike:
    """The node of a view as that of a copy of it."""
    node = edge.node if type(edge) is Port else edge
    name = type(node).__name__
    if not name.endswith("_copy"):
        _named(node, f"{name}_copy")
    return edge


def _named(node: OperatorNode, name: str) -> OperatorNode:
    kind = type(node)
    if name not in _renamed:
        _renamed[name] = type(name, kind.__bases__, {"__slots__": (), "__module__": "torch"})
    node.__class__ = _renamed[name]
    return node


_renamed: dict[str, type] = {}
_SIGNS = ("conj", "_neg_view")
_NO_STRIDES = (*_SIGNS, "as_pairs", "from_pairs")
"""Views that no strides express: each of them is a node of its own."""


def replay(view: View, edge: EdgeLike) -> OperatorNode:
    """A node that takes a gradient of the view to one of the base at `edge`."""
    steps, base = view.steps, view.base._array
    if not any(step.op.name in _NO_STRIDES for step in steps):
        return _replaying((edge,), (steps, base.shape, base.dtype))
    like: Any = _Shaped(base.shape, base.dtype)
    for part in _parts(steps):
        node = _replaying((edge,), (part, like.shape, like.dtype))
        if part[0].op.name in _NO_STRIDES:
            _named(node, part[0].op.node_name)
        edge = node
        like = _through(part, like)
    return node


def _parts(steps: tuple[Step, ...]) -> list[tuple[Step, ...]]:
    """Steps that strides express in a row, and each of the others alone."""
    parts: list[tuple[Step, ...]] = []
    for step in steps:
        alone = step.op.name in _NO_STRIDES
        if parts and not alone and parts[-1][-1].op.name not in _NO_STRIDES:
            parts[-1] = (*parts[-1], step)
        else:
            parts.append((step,))
    return parts


def _through(steps: tuple[Step, ...], like: Any) -> Any:
    """Shape and dtype of what the steps give of an array of those of `like`."""
    native = isinstance(like.dtype, np.dtype)
    probe: Any = np.empty(like.shape, like.dtype if native else bool)
    for step in steps:
        probe = step.forward(numpy_namespace, probe)
    return _Shaped(probe.shape, probe.dtype if native else like.dtype)


class AsStridedBackward0(TupleNode):
    """The node of a view whose base was written in place since the view was made."""

    __slots__ = ()


class _Replay:
    """How such a node runs: the steps' own rules, backwards."""

    __slots__ = ()
    saves_tensors = False
    saves = ()

    def run(self, node: OperatorNode, g: Array, retain: bool) -> tuple:
        """The edge and its gradient."""
        return (node.edges[0], *self.gradients(node, g))

    def gradients(self, node: OperatorNode, g: Array) -> tuple:
        """The gradient of the base."""
        steps, shape, dtype = node.saved
        return (adjoint(namespace_of((g,)), steps, g, shape, dtype),)

    def run_on_tensors(self, node: OperatorNode, g: Array) -> tuple:
        namespace = TENSOR_NAMESPACE()

        steps, shape, dtype = node.saved
        return (adjoint(namespace, steps, g, shape, dtype),)

    def saved_value(self, node: OperatorNode, name: str) -> Any:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")


REPLAY = _Replay()
_replaying = constructor(AsStridedBackward0, REPLAY)


class _Shaped:
    """A stand-in with shape and dtype, for steps whose input is not there."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: DTypeLike):
        self.shape, self.dtype = shape, dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)


def adjoint(
    xp: Namespace, steps: tuple[Step, ...], g: Array, shape: tuple, dtype: DTypeLike
) -> Any:
    """The gradient of the base from that of a view: each step's reverse rule, last step first."""
    # only its shapes are used, and its memory never touched
    probe: Any = np.empty(shape, dtype if isinstance(dtype, np.dtype) else bool)
    input_metadata: list[Any] = []
    for step in steps:
        input_metadata.append(
            _Shaped(probe.shape, probe.dtype if isinstance(dtype, np.dtype) else dtype)
        )
        outs = view_forward(step.op, numpy_namespace, probe, step.params)
        probe = outs if step.index is None else outs[step.index]
        if step.index is not None:
            input_metadata[-1] = (input_metadata[-1], [o.shape for o in outs])
    for step, like in zip(reversed(steps), reversed(input_metadata), strict=True):
        if step.index is not None:
            like, shapes = like
            g = [g if i == step.index else xp.zeros(s, dtype=g.dtype) for i, s in enumerate(shapes)]
        name = step.op.inputs[0]
        rule = step.op.vjps[name]
        values = {"xp": xp, "g": g, name + "_like": like, **step.params}
        g = rule.function(*[values[n] for n in rule.names])
    return g
