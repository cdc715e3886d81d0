"""Checks of numbers that were read while a program was recorded: before anything is written.

A check that comes after the first write to an input, or after numbers were drawn, is moved before
it, with all that it depends on. Where it depends on what was written, a copy of the input is made
first, and put back if the check fails.
"""

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.numpy_backend.block import Block, arguments, values_in
from tapegrad.compiler.numpy_backend.dead import scalars_in
from tapegrad.compiler.numpy_backend.effects import is_check, is_opaque, written
from tapegrad.core.annotations import Any


def check_first(block: Block) -> None:
    """Move checks before the first effect, or note in `block.kept` which inputs need a copy."""
    inputs = {block.root(x) for x in block.inputs if isinstance(x, Value)}
    first = _first_effect(block, inputs)
    late = [i for i, x in enumerate(block.instructions) if i > first and is_check(x)]
    for i in late:
        needed = _needs(block, i, first, inputs)
        if needed is not None:
            _move(block, needed, first)
            first += len(needed)
    last = max([i for i, x in enumerate(block.instructions) if is_check(x)], default=0)
    before = block.instructions[:last]
    roots = {block.root(x) for each in before for x in written(each)} & inputs
    block.kept = [x for x in block.inputs if isinstance(x, Value) and block.root(x) in roots]


def _first_effect(block: Block, inputs: set[Value]) -> int:
    for i, each in enumerate(block.instructions):
        if is_opaque(each) or any(block.root(x) in inputs for x in written(each)):
            return i
    return len(block.instructions)


def _needs(block: Block, check: int, first: int, inputs: set[Value]) -> list[int] | None:
    """The instructions from `first` on that a check depends on, itself the last.

    None where there is an effect among them.
    """
    read, touched = set(_objects(block.instructions[check])), set()
    found = [check]
    touched |= _roots(block, block.instructions[check])
    for i in range(check - 1, first - 1, -1):
        each = block.instructions[i]
        makes = [*values_in(each.result), *scalars_in(each.result)]
        writes = {block.root(x) for x in written(each)}
        if not (read.intersection(makes) or writes & touched):
            continue
        if is_opaque(each) or writes & inputs:
            return None
        found.append(i)
        read.update(_objects(each))
        touched |= _roots(block, each)
    found.reverse()
    return found if _apart(block, found, first) else None


def _apart(block: Block, found: list[int], first: int) -> bool:
    """Whether no instruction that is moved writes what one that it passes reads or writes."""
    chosen = set(found)
    writes = {block.root(x) for i in found for x in written(block.instructions[i])}
    passed = [block.instructions[i] for i in range(first, found[-1]) if i not in chosen]
    return not any(writes & _roots(block, each) for each in passed)


def _objects(instruction: Instruction) -> list[Any]:
    return [*arguments(instruction), *scalars_in(instruction.args)]


def _roots(block: Block, instruction: Instruction) -> set[Value]:
    return {block.root(x) for x in arguments(instruction)}


def _move(block: Block, chosen: list[int], to: int) -> None:
    moved = [block.instructions[i] for i in chosen]
    taken = set(chosen)
    rest = [x for i, x in enumerate(block.instructions) if i >= to and i not in taken]
    block.instructions = [*block.instructions[:to], *moved, *rest]
