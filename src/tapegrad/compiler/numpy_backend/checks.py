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
    late = [x for x in block.instructions[first + 1 :] if is_check(x)]
    if late:
        needs = _Needs(block, inputs)
        for check in late:
            needed = needs.of(check, first)
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


class _Needs:
    """Who makes and writes what the instructions of a block read."""

    def __init__(self, block: Block, inputs: set[Value]):
        self.block, self.inputs = block, inputs
        self.maker: dict[Any, Instruction] = {}
        self.writers: dict[Value, list[Instruction]] = {}
        for each in block.instructions:
            for x in (*values_in(each.result), *scalars_in(each.result)):
                self.maker.setdefault(x, each)
            for root in self._written(each):
                self.writers.setdefault(root, []).append(each)

    def _written(self, each: Instruction) -> set[Value]:
        return {self.block.root(x) for x in written(each)}

    def of(self, check: Instruction, first: int) -> list[int] | None:
        """The instructions from `first` on that a check depends on, itself the last.

        None where there is an effect among them.
        """
        places = {id(x): i for i, x in enumerate(self.block.instructions)}
        found = {places[id(check)]}
        waiting = [check]
        while waiting:
            each = waiting.pop()
            before = places[id(each)]
            makers = [self.maker[x] for x in _objects(each) if x in self.maker]
            writers = [x for root in _roots(self.block, each) for x in self.writers.get(root, ())]
            for other in (*makers, *writers):
                at = places[id(other)]
                if not first <= at < before or at in found:
                    continue
                if is_opaque(other) or self._written(other) & self.inputs:
                    return None
                found.add(at)
                waiting.append(other)
        chosen = sorted(found)
        return chosen if self._is_apart(chosen, first) else None

    def _is_apart(self, found: list[int], first: int) -> bool:
        """Whether no instruction that is moved writes what one that it passes reads or writes."""
        instructions, chosen = self.block.instructions, set(found)
        writes = {root for i in found for root in self._written(instructions[i])}
        passed = range(first, found[-1]) if writes else ()
        return not any(
            writes & _roots(self.block, instructions[i]) for i in passed if i not in chosen
        )


def _objects(instruction: Instruction) -> list[Any]:
    return [*arguments(instruction), *scalars_in(instruction.args)]


def _roots(block: Block, instruction: Instruction) -> set[Value]:
    return {block.root(x) for x in arguments(instruction)}


def _move(block: Block, chosen: list[int], to: int) -> None:
    moved = [block.instructions[i] for i in chosen]
    taken = set(chosen)
    rest = [x for i, x in enumerate(block.instructions) if i >= to and i not in taken]
    block.instructions = [*block.instructions[:to], *moved, *rest]
