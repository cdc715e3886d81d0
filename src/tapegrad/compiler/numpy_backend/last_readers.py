"""Where memory that kernels have made is let go of: behind the last instruction that reads it."""

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.numpy_backend.block import Block, arguments, values_in
from tapegrad.compiler.numpy_backend.geometry import n_bytes
from tapegrad.compiler.numpy_backend.layout import Layout

_LARGE = 1 << 16  # bytes: below it a line costs more than it brings


def let_go_after(block: Block, layout: Layout) -> dict[Instruction, list[Value]]:
    """By instruction: the values that nobody reads behind it, and whose memory is large.

    What a program's variables hold lives until it returns; so does the memory of views.
    """
    given_out = {block.root(x) for x in values_in(tuple(block.outputs))}
    kept = {*layout.offsets, *layout.results, *layout.numbers, *layout.spares, *given_out}
    holders: dict[Value, list[Value]] = {}  # by root
    last: dict[Value, Instruction] = {}
    for each in block.instructions:
        given = arguments(each)
        if each not in layout.chains and each not in layout.forms:
            for x in values_in(each.result):
                root = block.root(x)
                if x not in given and root not in kept and (x is root or root in holders):
                    holders.setdefault(root, []).append(x)
        for x in (*given, *values_in(each.result)):
            last[block.root(x)] = each
    found: dict[Instruction, list[Value]] = {}
    for root, names in holders.items():
        if n_bytes(root) >= _LARGE:
            found.setdefault(last[root], []).extend(names)
    return found
