"""Loops that threads share: which ones can be, and the C that cuts them into parts.

A loop function is called for a part of its outermost dimension, its pointers moved to where that
begins. What a loop reduces to one number each part has in a place of its own: there are as many
parts whatever the threads are, so that all give the same bits.
"""

from math import prod

from tapegrad.compiler.c_backend import c_types
from tapegrad.compiler.c_backend.ir import Reduction
from tapegrad.compiler.c_backend.loop_source import Loop, combined
from tapegrad.compiler.c_backend.pool import MOST_PARTS
from tapegrad.compiler.c_backend.schedule import Segment
from tapegrad.core.annotations import Any, Sequence

_LEAST_ROWS = 4
_LEAST = 2**15  # elements
_LONG = 2**17  # elements times statements: some tens of microseconds
_PARTS_OF_SUMS = 16


class Sharing:
    """How the pointers of a loop move with its outermost dimension.

    Attributes:
        moves: for each pointer, elements from one row to the next
        totals: the reductions to one number, by the pointers to their results
    """

    def __init__(self, moves: list[int], totals: dict[int, Reduction]):
        self.moves, self.totals = moves, totals


def sharing(segment: Segment, loop: Loop) -> Sharing | None:
    """How threads can share a loop; None for one that is too short, or whose parts would meet."""
    size = prod(loop.dims.sizes)
    if loop.n is None or loop.n < _LEAST_ROWS or size < _LEAST:
        return None
    if size * len(segment.statements) < _LONG:
        return None
    totals: dict[int, Reduction] = {}
    for each in segment.statements:
        if isinstance(each, Reduction):
            reduced = loop.dims.reduced(each)
            if reduced[0]:
                if not all(reduced):
                    return None
                totals[loop.pointer_of(each.out)] = each
    moves = []
    for at, (_, is_written) in enumerate(loop.pointers):
        found = loop.moves[at]
        if len(found) != 1:
            return None
        (step,) = found
        if is_written and not step and at not in totals:
            return None
        moves.append(step)
    return Sharing(moves, totals)


def function(name: str, types: Sequence[str], how: Sharing, rest: Sequence[str]) -> str:
    """The C function that runs a part of the loop `name`; `rest` are types of its other arguments,
    tables of numbers."""
    fields = [f"    {t}{'' if t[-1] == '*' else ' '}x{i};" for i, t in enumerate((*types, *rest))]
    given = []
    for i in range(len(types)):
        step = how.moves[i]
        if i in how.totals:
            given.append(f"x->x{i} + part")
        else:
            given.append(f"x->x{i} + first * {step}" if step else f"x->x{i}")
    given += [f"x->x{len(types) + i}" for i in range(len(rest))]
    body = "\n".join(fields)
    return (
        f"struct shared_{name} {{\n{body}\n}};\n"
        f"static void shared_{name}(void *given, int64_t first, int64_t last, int part) {{\n"
        f"    const struct shared_{name} *const x = (const struct shared_{name} *)given;\n"
        f"    (void)part;\n    {name}({', '.join([*given, 'last - first'])});\n}}\n"
    )


def call(name: str, addresses: list[str], rest: list[str], n: int, how: Sharing) -> list[str]:
    """Lines that have the threads share a loop, where there are several."""
    alone = f"{name}({', '.join([*addresses, *rest, str(n)])});"
    given = list(addresses)
    before, after = [], []
    for at, each in how.totals.items():
        c_type = c_types.name(each.out.dtype)
        before.append(f"    {c_type} totals{at}[{_PARTS_OF_SUMS}];")
        given[at] = f"totals{at}"
        is_float_sum = each.how == "sum" and each.out.dtype.kind == "f"
        kind = "double" if is_float_sum else c_type
        after += [
            f"    {kind} total{at} = totals{at}[0];",
            f"    for (int i = 1; i < parts; i++) "
            f"total{at} = {combined(each, f'total{at}', f'totals{at}[i]')};",
            f"    *({addresses[at]}) = ({c_type})total{at};",
        ]
    most = min(n, MOST_PARTS)
    parts = f"4 * threads < {most} ? 4 * threads : {most}"
    lines = [
        f"    const int parts = {min(n, _PARTS_OF_SUMS) if how.totals else parts};",
        *before,
        f"    struct shared_{name} given = {{{', '.join([*given, *rest])}}};",
        f"    tg_share(shared_{name}, &given, {n}, parts, threads, 0);",
        *after,
    ]
    if how.totals:
        return ["{", *lines, "}"]
    return ["if (threads > 1) {", *lines, "} else {", f"    {alone}", "}"]


def declaration(slot: int) -> Any:
    """The line that reads how many threads there are."""
    return f"const int threads = (int)(intptr_t)slots[{slot}];"
