"""Constants: what depends on no input is computed once."""

import numpy as np

from tapegrad.arrays.traced.program import Constant, Instruction, Scalar, Value
from tapegrad.compiler.numpy_backend.block import Block, arguments, substituted, values_in
from tapegrad.compiler.numpy_backend.effects import is_pure, written
from tapegrad.core.annotations import Any, Array

_OF_SHAPES = frozenset("xp.full_like xp.zeros_like xp.ones_like".split())
"""Functions that read nothing of their first argument but its shape, dtype and strides."""

_MOST = 1 << 26  # bytes of a constant


def fold(block: Block) -> None:
    """Compute what depends on constants alone; what is written to is made anew in each call."""
    roots = own_roots(block)
    table: dict[Any, Any] = {}
    rest = []
    for each in block.instructions:
        each.args = substituted(each.args, table)
        each.kwargs = {k: substituted(x, table) for k, x in each.kwargs.items()}
        found = _folded(block, each, roots)
        if found is None:
            rest.append(each)
        else:
            table[each.result] = block.constant(found)
    block.instructions = rest
    block.outputs = [substituted(x, table) for x in block.outputs]


def written_roots(block: Block) -> set[Value]:
    """The memory that instructions write to."""
    return {block.root(x) for each in block.instructions for x in written(each)}


def own_roots(block: Block) -> set[Value]:
    """The memory that nothing else may stand in for: what is written to, and what is given out."""
    return written_roots(block) | {block.root(x) for x in values_in(tuple(block.outputs))}


def _folded(block: Block, instruction: Instruction, roots: set[Value]) -> Any:
    """The result of an instruction of constants; None if it is none, or more than one array."""
    result, args = instruction.result, instruction.args
    if not isinstance(result, Value) or not is_pure(instruction) or block.root(result) in roots:
        return None
    if result.dtype.itemsize * int(np.prod(result.shape)) > _MOST:
        return None
    if instruction.text in _OF_SHAPES and isinstance(args[0], Value):
        args = (_stand_in(args[0]), *args[1:])
    instruction = Instruction(instruction.text, args, instruction.kwargs, result, None)
    if arguments(instruction) or _has_scalar(args):
        return None
    try:
        found = call(block, instruction)
    except Exception:  # the instruction stays, and raises where the program does
        return None
    if not isinstance(found, (np.ndarray, np.generic)) or found.dtype != result.dtype:
        return None
    return found if (found.shape, found.strides) == (result.shape, result.strides) else None


def call(block: Block, instruction: Instruction) -> Any:
    """What an instruction of constants gives."""
    args = [plain(block, x) for x in instruction.args]
    kwargs = {k: plain(block, x) for k, x in instruction.kwargs.items()}
    text = instruction.text
    if text == "getitem":
        return args[0][args[1]]
    if text[0] == ".":
        return getattr(args[0], text[1:])(*args[1:], **kwargs)
    return block.functions[text](*args, **kwargs)


def plain(block: Block, x: Any) -> Any:
    """An argument with constants in it."""
    if isinstance(x, Constant):
        return block.constants[x.number]
    if type(x) is tuple or type(x) is list:
        return type(x)([plain(block, each) for each in x])
    if type(x) is slice:
        return slice(*[plain(block, each) for each in (x.start, x.stop, x.step)])
    return x


def _has_scalar(x: Any) -> bool:
    if type(x) is tuple or type(x) is list:
        return any(map(_has_scalar, x))
    return isinstance(x, Scalar)


def _stand_in(value: Value) -> Array:
    """An array of the shape, dtype and strides of a value."""
    axes = sorted(range(len(value.shape)), key=lambda i: -abs(value.strides[i]))
    shape = tuple([value.shape[i] for i in axes])
    return np.empty(shape, value.dtype).transpose(np.argsort(axes))
