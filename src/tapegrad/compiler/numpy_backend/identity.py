"""Instructions that give what they are given: products with 1, copies that nobody writes to."""

import numpy as np

from tapegrad.arrays.traced.program import Constant, Instruction, Value
from tapegrad.compiler.numpy_backend.block import Block, arguments, substituted
from tapegrad.compiler.numpy_backend.fold import own_roots, written_roots
from tapegrad.core.annotations import Any

_COPIES = frozenset("xp.copied xp.asarray xp.astype .copy .astype np.copy np.positive".split())


def remove_identities(block: Block) -> None:
    """Replace results that have the bits of an argument by the argument.

    Neither is written to anywhere: they would no longer be equal. What is given out is a copy.
    """
    roots, own = written_roots(block), own_roots(block)
    table: dict[Any, Any] = {}
    rest = []
    for each in block.instructions:
        each.args = substituted(each.args, table)
        each.kwargs = {k: substituted(x, table) for k, x in each.kwargs.items()}
        if each.result in arguments(each) and each.text in _COPIES:
            continue  # what it is given is what was asked for
        same = _same(block, each)
        if same is None or block.root(same) in roots or each.result in own:
            rest.append(each)
            continue
        table[each.result] = same
        block.move(each.result, same)
    block.instructions = rest
    block.outputs = [substituted(x, table) for x in block.outputs]


def _same(block: Block, instruction: Instruction) -> Value | None:
    """The argument of which the result has all bits and the strides."""
    result, args, text = instruction.result, instruction.args, instruction.text
    if not isinstance(result, Value) or result.root is not result or "out" in instruction.kwargs:
        return None
    if text in _COPIES:
        found = args[0]
    elif text in ("np.multiply", "np.divide", "np.subtract") and len(args) == 2:
        neutral = 0.0 if text == "np.subtract" else 1.0
        if _is(block, args[1], neutral):
            found = args[0]
        elif text == "np.multiply" and _is(block, args[0], neutral):
            found = args[1]
        else:
            return None
    else:
        return None
    if not isinstance(found, Value) or found.dtype != result.dtype or found is result:
        return None
    if result.dtype.kind not in "fc" and text not in _COPIES:
        return None
    return found if (found.shape, found.strides) == (result.shape, result.strides) else None


def _is(block: Block, x: Any, number: float) -> bool:
    """Whether an argument is this number, or is filled with it."""
    if isinstance(x, Constant):
        x = uniform(block.constants[x.number])
    if type(x) is np.ndarray or isinstance(x, np.generic):
        x = x.item() if x.dtype.kind in "fiu" else None
    return type(x) in (float, int) and x == number and not np.signbit(x)


def uniform(x: Any) -> Any:
    """A 0-d array for an array that is filled with one number, by its bits; None for others."""
    if not isinstance(x, (np.ndarray, np.generic)) or not x.size or x.dtype.hasobject:
        return None
    first = np.asarray(x)[(0,) * x.ndim]
    if x.ndim and any(x.strides):
        bits = np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(x.size, -1)
        if not (bits == bits[0]).all():
            return None
    return np.asarray(first)
