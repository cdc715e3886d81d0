"""Saved values: what a node saves of a call, and the check that nobody wrote to it since."""

import gc

import numpy as np

from tapegrad.arrays.signature import Like
from tapegrad.autograd.errors import modified
from tapegrad.autograd.node import (
    INFERENCE,
    AccumulateGrad,
    DetachedVersion,
    MultiNode,
    OperatorNode,
    Port,
    ReplacedVersion,
    counter_of,
)
from tapegrad.autograd.view import edge_of
from tapegrad.autograd.view_origin import MULTI_OUTPUT, short_name, view_error
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, EdgeLike
from tapegrad.core.shape import broadcast

GRAD, CONSTANT, RAW = "g", "c", "r"  # an input that requires grad, another tensor, no tensor

# nodes of tensors that were turned in place: their names, where the operators' are those of views
_IN_PLACE = {"AsStridedBackward1", "TBackward1", "TransposeBackward1", "UnsqueezeBackward1"}
_IN_PLACE |= {"SqueezeBackward3", "SqueezeBackward4", "SqueezeBackward5"}


def version_now(value: object) -> int:
    """The version of something saved: 0 for what has no counter."""
    version = getattr(value, "_counter", None)
    if version is INFERENCE:
        raise errors.inference_saved()
    return 0 if version is None else version.value


def like(value: object) -> Any:
    """What `x_like` is for an input: a Like, or the Python number or None itself."""
    signature = getattr(value, "_signature", None)
    if signature is not None and signature is not False:
        return signature.like
    array = getattr(value, "_array", value)
    return Like(array) if hasattr(array, "shape") else value


def saved_array(x: Any) -> Any:
    """What is saved of an input that requires grad: its array. Its version counter, where it has
    one because it is a view or was written, is found at the node behind it."""
    if x._counter is not None:
        version_saved(x, edge_of(x))
    return x._array


def version_saved(x: Any, edge: EdgeLike) -> int:
    """The version of `x`, whose array a node keeps; the node behind it learns of the counter."""
    counter = x._counter
    if counter is None:
        return 0
    if counter is INFERENCE:
        raise errors.inference_saved()
    if edge.output_version is not counter:
        edge.watch(counter)
    return counter.value


def saved_input(x: Any) -> Any:
    """What is saved of another input: itself, or where it has a version counter a stand-in. What is
    written through a tensor later may lead back to the node, which then would never be freed."""
    if getattr(x, "_counter", None) is None:
        return x
    stand_in = tensor_base.wrap(x._array)
    stand_in._node, stand_in._counter = x._node, x._counter
    if x._view is not None:
        stand_in.__class__ = tensor_base.KeptView
    return stand_in


def check(node: OperatorNode, place: int | None = None) -> Any:
    """Raise if something the node saved was written since; returns what it saved at a place.

    Inputs that got other values since (`x.data = values`) are saved anew.
    """
    expected = node.versions
    replaced = {}
    for i, ((where, key, _), value) in enumerate(zip(node.plan.saves, node.saved, strict=True)):
        edge = None
        if where == "input" or where == "constant output":
            if hasattr(value, "_counter"):
                version = value._counter
            else:
                edge = node.edges[key]
                version = None if edge is None else edge.output_version
                if type(version) is DetachedVersion:
                    raise _detached(version.version)
        elif where == "output":
            version = counter_of(node, key)
            edge = Port(node, key) if isinstance(node, MultiNode) else node
        elif where == "inputs":
            _check_inputs(node, value, (0,) * len(value) if expected is None else expected[i])
            continue
        else:
            continue
        want = expected[i] if expected is not None else 0
        if type(version) is ReplacedVersion:
            if version.value != want and any(old() is value for old in version.old):
                replaced[i] = _in_place_of(value, version.array)
            version = version.version
        if version is not None and version.value != want:
            array = value._array if hasattr(value, "_counter") else value
            x = _tensor_of(array, version, _is_seen_through(value, edge))
            if where == "output":
                written = x is not None and x._view is not None  # by the operator: it was in place
                origin = "output 0 of AsStrided" if written else origin_of(edge)
            else:
                behind = value._node if hasattr(value, "_node") else edge
                if x is not None and x._node is None and origin_of(behind):
                    raise _detached(version)
                origin = origin_of_saved(value, version, edge, x)
                array = array if x is None else x._array
            raise modified(array, version, want, origin, node)
    if replaced:
        node.saved = tuple([replaced.get(i, x) for i, x in enumerate(node.saved)])
    return None if place is None else node.saved[place]


def _in_place_of(old: Any, array: Any) -> Any:
    """Values that a tensor got since it was saved, in the dtype of those that were."""
    broadcast(old.shape, array.shape)  # which raises where they do not go together
    return array.astype(old.dtype, copy=False)


def _check_inputs(node: OperatorNode, values: tuple, expected: tuple) -> None:
    for value, want in zip(values, expected, strict=True):
        version = getattr(value, "_counter", None)
        if version is not None and version.value != want:
            x = _tensor_of(value._array, version, _is_seen_through(value, value._node))
            array = value._array if x is None else x._array
            raise modified(array, version, want, origin_of_saved(value, version, None, x), node)


def _is_seen_through(value: object, edge: EdgeLike) -> bool:
    """Whether something saved is a view, which the node that made it tells."""
    return type(value) is tensor_base.KeptView or _is_view_node(edge)


def _tensor_of(array: Any, version: Any, is_view: bool) -> Any:
    """The user's tensor that has a saved array and its counter, if it lives; only errors ask.

    One that got another shape in place has another array at the same place.
    """
    if not isinstance(array, np.ndarray):
        return None
    tensors = [
        x
        for x in gc.get_referrers(version)
        if isinstance(x, tensor_base.TensorBase) and type(x) is not tensor_base.KeptView
    ]
    found = [x for x in tensors if x._array is array]
    if not is_view and not any(x._node is not None for x in found):
        found = [x for x in tensors if x._node is not None and _is_turned(x, array)] or found
    return max(found, key=_age, default=None)


def _detached(version: Any) -> RuntimeError:
    """A tensor that was detached in place after it was saved with its history."""
    last = f"The last write was {version.operator}: " if version.operator else ""
    return errors.runtime_error(
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This "
        "is not supported, please use out-of-place `.detach()` instead",
        f"{last}detach() makes a tensor without history.",
    )


def _is_turned(x: Any, array: np.ndarray) -> bool:
    """Whether the array of `x` is `array` with another shape, which it got in place."""
    if not isinstance(x._array, np.ndarray) or x._array.size != array.size:
        return False
    if x._array.ctypes.data != array.ctypes.data:
        return False
    node = x._node.node if type(x._node) is Port else x._node
    return x._view is None or node.name() in _IN_PLACE


def _age(x: Any) -> int:
    node = x._node.node if type(x._node) is Port else x._node
    return getattr(node, "sequence", -1)


def origin_of_saved(value: object, version: Any, edge: EdgeLike = None, x: Any = None) -> str:
    """Which output of which node a saved tensor is by now, as PyTorch words it: that of `x`.

    Raises the error for a view that may not be looked through: one of several, its base written.
    """
    if x is not None:
        return origin_of(edge_of(x, strict=True))
    edge = value._node if hasattr(value, "_node") else edge
    found = origin_of(edge)
    if _is_seen_through(value, edge):
        if edge is not None and _is_one_of_several(edge):
            raise view_error(MULTI_OUTPUT, edge, indirect=True)
        if found or version.origin:
            return "output 0 of AsStrided"  # of a base that was written, whatever the view was
    return version.origin or found


def _is_view_node(edge: EdgeLike) -> bool:
    """Whether a view operator made what is behind an edge, and not by a write of its own tensor."""
    node = edge.node if type(edge) is Port else edge
    plan = getattr(node, "plan", None)
    if plan is None:
        return False
    return not hasattr(plan, "op") or (plan.op.view and node.name() not in _IN_PLACE)


def _is_one_of_several(edge: EdgeLike) -> bool:
    """Whether what is behind an edge is one of the views that one call gave."""
    return type(edge) is Port and isinstance(edge.node, MultiNode)


def origin_of(edge: EdgeLike) -> str:
    """Which output of which node an edge points at; nothing for a leaf."""
    if edge is None or type(edge) is AccumulateGrad:
        return ""
    index = edge.index if type(edge) is Port else 0
    return f"output {index} of {short_name(edge)}"
