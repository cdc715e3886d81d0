"""Memory that is let go of sooner: its last reader runs as soon as its operands are there.

A step makes the cotangent of a layer's input before that of its weight, for which the input was
kept. The other way round, what was kept is gone before the memory of the first is taken.
"""

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.numpy_backend.block import Block, arguments, values_in
from tapegrad.compiler.numpy_backend.effects import is_pure, may_raise
from tapegrad.compiler.numpy_backend.geometry import n_bytes

_LARGE = 1 << 16  # bytes: with less there is little to gain


def read_sooner(block: Block) -> None:
    """Move instructions up that read large values for the last time.

    Their results are given out, so that they take memory of their own wherever they are made; what
    they read has been made and written before.
    """
    given_out = {block.root(x) for x in values_in(tuple(block.outputs))}
    fixed = given_out | {x for x in block.inputs if isinstance(x, Value)}
    last = {block.root(x): each for each in block.instructions for x in arguments(each)}
    ready: dict[Value, int] = {}  # by root: the place behind the last that made or wrote it
    views: dict[Value, int] = {}  # places of the instructions that made them
    places: list[float] = []  # by which the instructions are put in order
    for i, each in enumerate(block.instructions):
        places.append(i)
        result, pure = each.result, is_pure(each)
        is_last = any(
            last[root] is each and root not in fixed and n_bytes(root) >= _LARGE
            for root in map(block.root, arguments(each))
        )
        if is_last and pure and result in given_out and not may_raise(each, block.functions):
            chosen = _with_views(block, each, views)
            roots = {block.root(x) for member in chosen for x in arguments(member)}
            place = max([ready.get(root, 0) for root in roots]) - 0.5
            for member in chosen:
                at = views.get(member.result, i)
                places[at] = min(places[at], place)
        for x in values_in(result) if pure else (*arguments(each), *values_in(result)):
            if pure and block.root(x) is not x and x is result:
                views[x] = i
            else:
                ready[block.root(x)] = i + 1
    order = sorted(range(len(places)), key=places.__getitem__)
    block.instructions = [block.instructions[i] for i in order]


def _with_views(block: Block, each: Instruction, views: dict[Value, int]) -> list[Instruction]:
    """An instruction, and those that made the views that it reads."""
    found = [each]
    for member in found:
        found += [block.instructions[views[x]] for x in arguments(member) if x in views]
    return found
