"""Functions without a rule for batches, called for each sample in turn."""

from collections.abc import Callable
from typing import Any

from tapegrad.arrays.batched.array import Level
from tapegrad.arrays.batched.per_sample import warn_of_loop
from tapegrad.core.tensor_base import TensorBase
from tapegrad.func.level import enter, is_inside, leave, lift
from tapegrad.func.randomness import outside
from tapegrad.func.vmap import lowered
from tapegrad.func.vmap_mode import is_mapped
from tapegrad.operators.random.fill import level_mode
from tapegrad.operators.shape.cat_stack import stack
from tapegrad.utils._pytree.tree import tree_flatten as flatten
from tapegrad.utils._pytree.tree import tree_unflatten as unflatten
from tapegrad.utils._pytree.treespec import TreeSpec


def called_in_turn(
    again: Callable, function: Callable, name: str, args: tuple, kwargs: dict
) -> Any:
    """`function(*args, **kwargs)` inside a level: in turn, if a tensor is mapped over there."""
    mapping = level_mode()
    if mapping is None:
        return function(*args, **kwargs)
    leaves, structure = flatten((list(args), kwargs))
    level = mapping.level
    inside = [isinstance(x, TensorBase) and is_inside(x._array, level) for x in leaves]
    if True not in inside:
        return function(*args, **kwargs)
    if not any(is_mapped(x._array, level) for x, own in zip(leaves, inside, strict=True) if own):
        return _called_once(again, level, leaves, structure, inside)
    warn_of_loop(name)
    shown = [
        leave(x, axis=0, level=level) if own else x for x, own in zip(leaves, inside, strict=True)
    ]
    rows = []
    own_structure: Any = None
    with outside(level):
        for i in range(max(level.size, 1)):
            member = [_member(x, i) if own else x for x, own in zip(shown, inside, strict=True)]
            new, named = unflatten(member, structure)
            outs, own_structure = flatten(again(*new, **named))
            rows.append(outs)
        columns = [stack(list(column))[: level.size] for column in zip(*rows, strict=True)]
        return unflatten([enter(y, axis=0, level=level) for y in columns], own_structure)


def _called_once(
    again: Callable, level: Level, leaves: list, structure: TreeSpec, inside: list
) -> Any:
    """One call for all members, whose tensors are the same."""
    same = [lowered(x, level) if own else x for x, own in zip(leaves, inside, strict=True)]
    new, named = unflatten(same, structure)
    with outside(level):
        outs, own_structure = flatten(again(*new, **named))
        return unflatten([lift(y, level=level) for y in outs], own_structure)


def _member(x: Any, i: int) -> Any:
    """One of a batch; zeros stand for it where there is none."""
    return x[i] if len(x) else x.new_zeros(x.shape[1:])
