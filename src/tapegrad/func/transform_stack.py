"""Which transforms a tensor takes part in, and how it prints inside them.

A level of `vmap` is seen from the array, one of forward mode from a tangent, one of reverse mode
from the graph: it leads back to the leaves that the transform gave its function.
"""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.batched.array import Batched
from tapegrad.arrays.batched.array import Level as Batch
from tapegrad.autograd.forward.mode import forward_modes
from tapegrad.autograd.mode import MODE, TRANSFORMS
from tapegrad.autograd.node import AccumulateGrad, Port
from tapegrad.autograd.view import edge_of
from tapegrad.core.errors import must_be, runtime_error
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.func.vmap_mode import is_mapped
from tapegrad.tensors.printing import batched_repr, form, nested, place, plain_repr


def transforms() -> list:
    """(number, what it is known by) of each transform that is running, innermost first."""
    found = []
    here = TRANSFORMS.get()
    while here is not None:
        here, number, what = here
        found.append((number, what))
    return found


def behind(t: Any) -> set:
    """The edges that the graph of a tensor consists of, its own included."""
    edge = edge_of(t)
    seen = set() if edge is None else {edge}
    waiting = list(seen)
    while waiting:
        node = waiting.pop()
        node = node.node if type(node) is Port else node
        new = {each for each in node.edges if each is not None and each not in seen}
        seen |= new
        waiting += new
    return seen


def is_tracked(t: Any, what: Any, edges: set) -> bool:
    """Whether a tensor, its graph behind it, has derivatives in a transform that is not `vmap`."""
    if type(what) is list:
        return any(edge_of(leaf) in edges for leaf, _ in what)
    modes = forward_modes(MODE.get())
    return any(mode.level is what and mode.tangent(t) is not None for mode in modes)


def refuse_data(t: Any, value: Any) -> None:
    """Raise where a write of `t.data = value` would change a tensor that a transform follows."""
    edges = behind(t)
    for _, what in transforms():
        if type(what) is Batch:
            if not (is_mapped(t._array, what) or is_mapped(value._array, what)):
                continue
            where = "under vmap"
        elif is_tracked(t, what, edges):
            where = "inside functorch"
        else:
            continue
        raise runtime_error(
            f"mutating directly with `.data` {where} transform is not allowed.",
            "clone() it and write into the copy.",
        )


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """What a tensor is outside of the transforms it takes part in, to look at its values.

    With `recurse` outside of all, else of the innermost. It has no place in derivatives.

    >>> seen = []
    >>> _ = torch.func.vmap(lambda x: (seen.append(torch.func.debug_unwrap(x)), x)[1])(torch.eye(2))
    >>> seen[0]
    tensor([[1., 0.],
            [0., 1.]])
    """
    if not isinstance(tensor, TensorBase):
        raise must_be("debug_unwrap", "tensor", 1, "Tensor", tensor)
    edges = behind(tensor)
    array, found = tensor._array, tensor
    for _, what in transforms():
        if type(what) is Batch:
            if not (type(array) is Batched and array.level is what):
                continue
            array = array.value
            found = wrap(array)
        elif is_tracked(tensor, what, edges):
            given, array = _argument(tensor, array, what)
            found = wrap(array[...]) if given is tensor else given  # of no tangent
            tensor = given
        else:
            continue
        if not recurse:
            break
    return found


# --- printing ------------------------------------------------------------------------------------


def inside_repr(t: Any) -> str:
    """The text of a tensor while transforms are running."""
    return _text(t, t._array, transforms(), behind(t))


def _text(t: Any, array: Any, levels: list, edges: set) -> str:
    """The same for `array`, what is left of the tensor's below the levels further in."""
    for i, (number, what) in enumerate(levels):
        further = levels[i + 1 :]
        if type(what) is Batch:
            if type(array) is Batched and array.level is what:
                if array.mapped:
                    start = f"BatchedTensor(lvl={number}, bdim=0"
                    return nested(start, _text(t, array.value, further, edges))
                array = array.value
        elif is_tracked(t, what, edges):
            start = f"GradTrackingTensor(lvl={number}"
            return nested(start, _text(*_argument(t, array, what), further, edges))
    if type(array) is Batched:
        return batched_repr(array)
    shown = wrap(array)
    return plain_repr(t, shown, [*form(shown), *(place(t) if _has_others(edges) else ())])


def _argument(t: Any, array: Any, what: Any) -> tuple[Any, Any]:
    """For a leaf of a transform the argument it stands for; else the tensor as it is."""
    for leaf, given in what if type(what) is list else ():
        if edge_of(leaf) is edge_of(t):
            return given, given._array
    return t, array


def _has_others(edges: set) -> bool:
    """Whether a graph begins with a leaf that no transform has made."""
    made = {edge_of(leaf) for _, what in transforms() if type(what) is list for leaf, _ in what}
    return any(type(edge) is AccumulateGrad and edge not in made for edge in edges)
