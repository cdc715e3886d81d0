"""Chains: elementwise instructions over large arrays, run block after block.

A pass over a large array costs its way through memory. A chain makes all its passes over a block
that fits the cache before it goes on to the next; what only the chain reads has the size of a
block. Instructions in between run before the chain or, where they depend on it, afterwards.
"""

from tapegrad.arrays.traced.program import Constant, Instruction, Value
from tapegrad.compiler.numpy_backend.block import Block, arguments, values_in
from tapegrad.compiler.numpy_backend.dead import scalars_in
from tapegrad.compiler.numpy_backend.effects import is_check, is_opaque, may_raise, written
from tapegrad.compiler.numpy_backend.form import Form
from tapegrad.compiler.numpy_backend.geometry import are_aligned, is_row_major, size_of
from tapegrad.compiler.numpy_backend.row_sums import parts_of, sums_rows
from tapegrad.core.annotations import Any, Sequence

LARGE = 1 << 19  # elements: the third-level cache holds a few arrays of fewer
_FAR = 100  # instructions that are left for afterwards at most


class Chain:
    """Instructions to be run block after block, and what they work on.

    Attributes:
        whole: the large values that are read or written from outside, one for each memory
        single: 0-d values that are read
        temporaries: the roots that nothing outside reads
        rows: sums of rows that it leaves
    """

    def __init__(self, instructions: list[Instruction]):
        self.instructions = instructions
        self.whole: list[Any] = []
        self.single: list[Value] = []
        self.temporaries: list[Value] = []
        self.rows = [x.result for x in instructions if x.text == "rows"]


def join_chains(block: Block, forms: dict[Instruction, Form]) -> dict[Instruction, Chain]:
    """Put an instruction `chain` in the place of the instructions of each."""
    left, done = list(block.instructions), []
    found: dict[Instruction, Chain] = {}
    while left:
        first = left[0]
        if _size(block, first, forms) < LARGE:
            done.append(left.pop(0))
            continue
        before, members, rest = _members(block, left, forms)
        if len(members) > 1:
            done += before
            chain = Chain(members)
            each = Instruction("chain", (), {}, (), members[0].line)
            found[each] = chain
            done.append(each)
            left = rest
        else:
            done.append(left.pop(0))
    block.instructions = done
    readers: dict[Value, set[Instruction]] = {}  # of each root: who reads or writes it
    for each in done:
        for member in found[each].instructions if each in found else [each]:
            for x in arguments(member):
                readers.setdefault(block.root(x), set()).add(each)
    given_out = {block.root(x) for x in values_in(tuple(block.outputs))}
    for each, chain in found.items():
        outside = given_out | {root for root, by in readers.items() if by != {each}}
        _describe(block, each, chain, forms, outside)
    return found


def _size(block: Block, each: Instruction, forms: dict[Instruction, Form]) -> int:
    """How many elements an instruction passes over one by one; 0 for other instructions."""
    form, result = forms.get(each), each.result
    if form is None or not form.elementwise or not isinstance(result, Value) or not result.shape:
        return 0
    for x in form.operands:
        if isinstance(x, Constant):
            x = block.constants[x.number]
            if x.shape and not (are_aligned(x, result) and is_row_major(x)):
                return 0
        elif isinstance(x, Value) and x.shape and not are_aligned(x, result):
            return 0
    return size_of(result) if are_aligned(result, result) else 0


def _members(block: Block, left: list[Instruction], forms: dict[Instruction, Form]) -> tuple:
    """What can run before a chain that begins with the first; its instructions; all others."""
    size = _size(block, left[0], forms)
    before: list[Instruction] = []
    members, after = _Passed(block, left[:1]), _Passed(block)
    lanes: dict[Value, set] = {}
    _note_lanes(block, left[0], forms, lanes)
    for i in range(1, len(left)):
        each = left[i]
        if len(after.instructions) > _FAR:
            return before, members.instructions, after.instructions + left[i:]
        passes = after.lets_pass(each)
        own = _size(block, each, forms)
        if own == size and passes and _note_lanes(block, each, forms, lanes):
            members.add(each)
        elif sums_rows(each, size) and passes and block.root(each.args[0]) in lanes:
            inside, form, rest = parts_of(block, each)
            forms[inside] = form
            if _note_lanes(block, inside, forms, lanes):
                members.add(inside)
                after.add(rest)
            else:
                after.add(each)
        elif own < LARGE and passes and members.lets_pass(each) and not _may_stop(block, each):
            before.append(each)
        else:
            after.add(each)
    return before, members.instructions, after.instructions


def _note_lanes(block: Block, each: Instruction, forms: dict, lanes: dict[Value, set]) -> bool:
    """Note which parts of which memory a chain works on; False where they would overlap."""
    values = [x for x in values_in((forms[each].operands, each.result)) if x.shape]
    values = values[: None if each.text != "rows" else 1]
    places = [(*block.place(x), x.dtype.itemsize) for x in values]
    for root, *rest in places:
        if lanes.get(root, {tuple(rest)}) != {tuple(rest)}:
            return False
    for root, *rest in places:
        lanes[root] = {tuple(rest)}
    return True


def _may_stop(block: Block, each: Instruction) -> bool:
    return is_check(each) or is_opaque(each) or may_raise(each, block.functions)


class _Passed:
    """Instructions that others are moved before."""

    def __init__(self, block: Block, instructions: Sequence[Instruction] = ()):
        self.instructions: list[Instruction] = []
        self._block = block
        self._made: set[Any] = set()
        self._written: set[Value] = set()
        self._touched: set[Value] = set()
        self._may_stop = False
        for each in instructions:
            self.add(each)

    def add(self, each: Instruction) -> None:
        root = self._block.root
        self.instructions.append(each)
        self._made.update(values_in(each.result), scalars_in(each.result))
        self._written.update([root(x) for x in written(each)])
        self._touched.update([root(x) for x in arguments(each)])
        self._may_stop = self._may_stop or _may_stop(self._block, each)

    def lets_pass(self, each: Instruction) -> bool:
        """Whether an instruction may run before these."""
        root = self._block.root
        given = arguments(each)
        writes = {root(x) for x in written(each)}
        read = [*given, *[root(x) for x in given], *scalars_in(each.args)]
        if self._made.intersection(read):  # views of what these make have no instruction any more
            return False
        if self._written.intersection([root(x) for x in given]) or self._touched & writes:
            return False
        return not (writes and self._may_stop)


def _describe(
    block: Block, each: Instruction, chain: Chain, forms: dict, outside: set[Value]
) -> None:
    """Find what a chain works on; `outside` are the roots that are not its own alone."""
    made: list[Value] = []
    seen: set[Any] = set()
    for member in chain.instructions:
        results = [member.result] if member.text != "rows" else []
        for x in [*forms[member].operands, *results]:
            if isinstance(x, Constant):
                if block.constants[x.number].shape and x.number not in seen:
                    seen.add(x.number)
                    chain.whole.append(x)
            elif isinstance(x, Value) and not x.shape:
                if x not in seen:
                    seen.add(x)
                    chain.single.append(x)
            elif isinstance(x, Value):
                root = block.root(x)
                if root in seen:
                    continue
                seen.add(root)
                is_new = member.result is x and not written(member)
                if is_new and root not in outside:
                    chain.temporaries.append(root)
                else:
                    chain.whole.append(x)
                    if is_new:
                        made.append(x)
    each.args = (*[x for x in chain.whole if x not in made], *chain.single)
    each.result = (*made, *chain.rows)
