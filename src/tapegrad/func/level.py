"""Into a level of `vmap` and out of it: the operators that hide the batch axis and show it again.

They are linear, so that gradients and tangents pass the border of a level like any operator: what
goes out of it in reverse comes in. A tensor from outside that is the same for each member is
lifted; the gradients of the members are its gradient when they are added up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.arrays.batched.array import Batched, Level, spread
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.errors import runtime_error
from tapegrad.core.tensor_base import TensorBase
from tapegrad.dispatch.op import REGISTRY, linear

# --- on arrays ------------------------------------------------------------------------------------


def _moved(x: Any, source: int, destination: int) -> Any:
    if source == destination:
        return x[...]  # an array of its own
    if type(x) is np.ndarray:
        return np.moveaxis(x, source, destination)
    return namespace_of((x,)).moveaxis(x, source, destination)


def hidden(x: Any, axis: int, level: Level) -> Any:
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
    return Batched(level, _moved(x, axis, 0))


def shown(x: Any, axis: int, level: Level) -> Any:
    """The reverse: the batch of a level as `axis`; what has none of it is repeated."""
    if type(x) is Batched:
        if x.level.number > level.number:
            return Batched(x.level, shown(x.value, axis + x.mapped, level), x.mapped)
        if x.level is level:
            value = x.value if x.mapped else spread(x.value, level.size)
            return _moved(value, 0, axis)
    return _moved(spread(x, level.size), 0, axis)


def same_for_all(x: Any, level: Level) -> Any:
    """`x` in a level, the same for each member of the batch."""
    if type(x) is Batched and x.level.number > level.number:
        return Batched(x.level, same_for_all(x.value, level), x.mapped)
    return Batched(level, x, False)


def added_up(x: Any, level: Level) -> Any:
    """The sum over the members of the batch of a level."""
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
    """A tensor whose `axis` is the batch of a level, as each member sees it."""
    return hidden(x, axis, level)


@linear(node="ViewBackward0", view=True)
def leave(xp, x, *, axis, level):
    """A tensor of a level with the batch as `axis`."""
    return shown(x, axis, level)


@linear(node="ExpandBackward0", view=True)
def lift(xp, x, *, level):
    """A tensor from outside in a level, the same for each member."""
    return same_for_all(x, level)


@linear(node="SumBackward1")
def drop(xp, x, *, level):
    """The sum over the members of a level, outside of it."""
    return added_up(x, level)


_lift = lift.op.call


def _lifted(x: Any, *, level: Level) -> Any:
    """The same, where `x` is not of the level yet, as the tangent of one from outside may be."""
    return x if is_inside(x._array, level) else _lift(x, level=level)


lift.op.call = _lifted

for _each in ("enter", "leave", "lift", "drop"):
    del REGISTRY[_each]  # of levels: the table of samples has none


def _on(g: Any, operator: Any, function: Any) -> Any:
    """The operator for a tensor, the function for an array."""
    return operator if isinstance(g, TensorBase) else function


enter.vjp(x=lambda g, axis, level: _on(g, leave, shown)(g, axis=axis, level=level))
leave.vjp(x=lambda g, axis, level: _on(g, enter, hidden)(g, axis=axis, level=level))
lift.vjp(x=lambda g, level: _on(g, drop, added_up)(g, level=level))
drop.vjp(x=lambda g, level: _on(g, lift, same_for_all)(g, level=level))
