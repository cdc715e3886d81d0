"""Into a level of `vmap` and out of it: the operators that hide the batch axis and show it again.

They are linear, so that gradients and tangents pass the border of a level like any operator: what
goes out of it in reverse comes in. A tensor from outside that is the same for each sample is
lifted; the gradients of the samples are its gradient when they are added up.
"""

import numpy as np

from tapegrad.arrays.batched.array import Batched, Level, spread
from tapegrad.arrays.batched.array import Level as Batch
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.autograd.forward.mode import forward_modes
from tapegrad.autograd.mode import MODE, TRANSFORMS
from tapegrad.autograd.node import AccumulateGrad, Port
from tapegrad.autograd.view import edge_of
from tapegrad.core.annotations import Any, Array, Callable, OperatorLike, Tensor
from tapegrad.core.errors import must_be, runtime_error
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.dispatch.op import REGISTRY, linear
from tapegrad.tensors.printing import batched_repr, form, nested, place, plain_repr


def is_mapped(array: Any, level: Level) -> bool:
    """Whether an array has a batch axis in a level."""
    while type(array) is Batched:
        if array.level is level:
            return array.mapped
        array = array.value
    return False


def axis_of_batch(array: Any, level: Level) -> int:
    """Which axis of the whole the batch of a level is: the one it came in as, if nothing was
    computed since, else the first."""
    around = 0
    while type(array) is Batched:
        if array.level is level:
            return 0 if array.entered is None else array.entered[1] - around
        around += array.mapped
        array = array.value
    return 0


def _whole(array: Batched) -> tuple[Any, int]:
    """What a mapped array of a level is outside of it, and which axis the batch is there."""
    return (array.value, 0) if array.entered is None else array.entered


def transforms() -> list:
    """(number, what it is known by) of each transform that is running, innermost first."""
    found = []
    here = TRANSFORMS.get()
    while here is not None:
        here, number, what = here
        found.append((number, what))
    return found


def behind(t: Array) -> set:
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


def is_tracked(t: Array, what: Any, edges: set) -> bool:
    """Whether a tensor, its graph behind it, has derivatives in a transform that is not `vmap`."""
    if type(what) is list:
        return any(edge_of(leaf) in edges for leaf, _ in what)
    modes = forward_modes(MODE.get())
    return any(mode.level is what and mode.tangent(t) is not None for mode in modes)


def refuse_data(t: Array, value: Any) -> None:
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


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Any:
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
            array = _whole(array)[0] if array.mapped else array.value
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


def inside_repr(t: Array) -> str:
    """The text of a tensor while transforms are running."""
    return _text(t, t._array, transforms(), behind(t))


def _text(t: Array, array: Any, levels: list, edges: set) -> str:
    """The same for `array`, what is left of the tensor's below the levels further in."""
    for i, (number, what) in enumerate(levels):
        further = levels[i + 1 :]
        if type(what) is Batch:
            if type(array) is Batched and array.level is what:
                if array.mapped:
                    whole, axis = _whole(array)
                    start = f"BatchedTensor(lvl={number}, bdim={axis}"
                    return nested(start, _text(t, whole, further, edges))
                array = array.value
        elif is_tracked(t, what, edges):
            start = f"GradTrackingTensor(lvl={number}"
            return nested(start, _text(*_argument(t, array, what), further, edges))
    if type(array) is Batched:
        return batched_repr(array)
    shown = wrap(array)
    return plain_repr(t, shown, [*form(shown), *(place(t) if _has_others(edges) else ())])


def _argument(t: Array, array: Any, what: Any) -> tuple[Any, Any]:
    """For a leaf of a transform the argument it stands for; else the tensor as it is."""
    for leaf, given in what if type(what) is list else ():
        if edge_of(leaf) is edge_of(t):
            return given, given._array
    return t, array


def _has_others(edges: set) -> bool:
    """Whether a graph begins with a leaf that no transform has made."""
    made = {edge_of(leaf) for _, what in transforms() if type(what) is list for leaf, _ in what}
    return any(type(edge) is AccumulateGrad and edge not in made for edge in edges)


# --- on arrays ------------------------------------------------------------------------------------


def _moved(x: Any, source: int, destination: int) -> Any:
    if source == destination:
        return x[...]  # an array of its own
    if type(x) is np.ndarray:
        return np.moveaxis(x, source, destination)
    return namespace_of((x,)).moveaxis(x, source, destination)


def hidden(x: Tensor, axis: int, level: Level) -> Any:
    """`x` with `axis` as the batch of a level, below the levels that came later."""
    if type(x) is Batched and x.level.number > level.number:
        return Batched(x.level, hidden(x.value, axis + x.mapped, level), x.mapped)
    if is_inside(x, level):
        raise runtime_error(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to "
            "call in-place operation that would mutate a captured Tensor. This is not "
            "supported; please rewrite the function being transformed to explicitly accept "
            "the mutated Tensor(s) as inputs.",
            "Make the tensor that is written inside the function.",
        )
    made = Batched(level, _moved(x, axis, 0))
    made.entered = x, axis
    return made


def shown(x: Tensor, axis: int, level: Level) -> Any:
    """The reverse: the batch of a level as `axis`; what has none of it is repeated."""
    if type(x) is Batched:
        if x.level.number > level.number:
            return Batched(x.level, shown(x.value, axis + x.mapped, level), x.mapped)
        if x.level is level:
            if x.entered is not None and x.entered[1] == axis:
                return x.entered[0][...]
            value = x.value if x.mapped else spread(x.value, level.size)
            return _moved(value, 0, axis)
    return _moved(spread(x, level.size), 0, axis)


def same_for_all(x: Tensor, level: Level) -> Any:
    """`x` in a level, the same for each sample of the batch."""
    if type(x) is Batched and x.level.number > level.number:
        return Batched(x.level, same_for_all(x.value, level), x.mapped)
    return Batched(level, x, False)


def added_up(x: Tensor, level: Level) -> Any:
    """The sum over the samples of the batch of a level."""
    if type(x) is Batched:
        if x.level.number > level.number:
            return Batched(x.level, added_up(x.value, level), x.mapped)
        if x.level is level:
            if x.mapped:
                return namespace_of((x.value,)).sum(x.value, axis=0)
            return x.value * level.size
    return x * level.size


def is_inside(array: Any, level: Level) -> bool:
    """Whether an array is of a level, or holds one that is."""
    while type(array) is Batched:
        if array.level is level:
            return True
        array = array.value
    return False


# --- on tensors -----------------------------------------------------------------------------------


@linear(node="ViewBackward0", view=True)
def enter(xp, x, *, axis, level):
    """A tensor whose `axis` is the batch of a level, as each sample sees it."""
    return hidden(x, axis, level)


@linear(node="ViewBackward0", view=True)
def leave(xp, x, *, axis, level):
    """A tensor of a level with the batch as `axis`."""
    return shown(x, axis, level)


@linear(node="ExpandBackward0", view=True)
def lift(xp, x, *, level):
    """A tensor from outside in a level, the same for each sample."""
    return same_for_all(x, level)


@linear(node="SumBackward1")
def drop(xp, x, *, level):
    """The sum over the samples of a level, outside of it."""
    return added_up(x, level)


_lift = lift.op.call


def _lifted(x: Tensor, *, level: Level) -> Any:
    """The same, where `x` is not of the level yet, as the tangent of one from outside may be."""
    return x if is_inside(x._array, level) else _lift(x, level=level)


lift.op.call = _lifted

for _each in ("enter", "leave", "lift", "drop"):
    del REGISTRY[_each]  # of levels: the table of samples has none


def _on(g: Array, operator: OperatorLike, function: Callable) -> Any:
    """The operator for a tensor, the function for an array."""
    return operator if isinstance(g, TensorBase) else function


enter.vjp(x=lambda g, axis, level: _on(g, leave, shown)(g, axis=axis, level=level))
leave.vjp(x=lambda g, axis, level: _on(g, enter, hidden)(g, axis=axis, level=level))
lift.vjp(x=lambda g, level: _on(g, drop, added_up)(g, level=level))
drop.vjp(x=lambda g, level: _on(g, lift, same_for_all)(g, level=level))
