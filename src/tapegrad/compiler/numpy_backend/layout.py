"""`Layout`: where each value of a block lives while it runs."""

import numpy as np

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.numpy_backend.arena import Arena
from tapegrad.compiler.numpy_backend.block import Block, arguments, values_in
from tapegrad.compiler.numpy_backend.chains import Chain, join_chains
from tapegrad.compiler.numpy_backend.effects import is_pure
from tapegrad.compiler.numpy_backend.fold import written_roots
from tapegrad.compiler.numpy_backend.form import Form
from tapegrad.compiler.numpy_backend.forms import form_of
from tapegrad.compiler.numpy_backend.geometry import are_alike, is_dense, n_bytes, size_of


class Layout:
    """Where values live.

    Attributes:
        forms: of the instructions that write into memory which is there
        offsets: in the arena, of the roots that live there
        results: roots that are given out: memory of their own, which lives on
        numbers: 0-d values that are NumPy numbers
        scalars: 0-d arrays that were NumPy numbers, of which there are no views
        views: of memory that stays: made once, not in each call
        view_instructions: those that made them, which the block has no more
        chains: by the instruction `chain` that stands for each
        of_input: views of inputs, with the input that they are seen from
        size: bytes of the arena

    All others are made in each call, by the instructions as they were recorded.
    """

    def __init__(self, block: Block):
        self.block = block
        self.forms: dict[Instruction, Form] = {}
        self.offsets: dict[Value, int] = {}
        self.results: list[Value] = []
        self.numbers: set[Value] = set()
        self.scalars: set[Value] = set()
        self.views: list[Value] = []
        self.of_input: dict[Value, Value] = {}
        self.view_instructions: list[Instruction] = []
        self.spares: set[Value] = set()  # of one element, written over their own operands
        self._written = written_roots(block)
        self._own: set[Value] = set()  # roots in the arena or among the results
        self._inputs = {x for x in block.inputs if isinstance(x, Value)}
        self._find_places()
        known = set(self.view_instructions)
        block.instructions = [x for x in block.instructions if x not in known]
        self.chains: dict[Instruction, Chain] = join_chains(block, self.forms)
        self._own.update([x for chain in self.chains.values() for x in chain.rows])
        self.size = self._plan()

    def _find_places(self) -> None:
        given_out = {self.block.root(x) for x in values_in(tuple(self.block.outputs))}
        for each in self.block.instructions:
            form = form_of(self.block, each)
            result = each.result
            if not isinstance(result, Value):
                continue
            if self._is_view(each):
                self._place_view(each)
            elif "out" in each.kwargs:
                if form is not None and result in values_in(each.kwargs["out"]):
                    self.forms[each] = form
                    if form.pointwise and size_of(result) == 1 and not form.number:
                        self.spares.add(result)
            elif result in arguments(each):
                continue  # it is there already
            elif form is not None and self.block.root(result) is result:
                if form.number and result not in self._written and self._all_0d(form):
                    self.forms[each] = form
                    self.numbers.add(result)
                elif is_dense(result):
                    self.forms[each] = form
                    self._own.add(result)
                    if not result.shape and is_scalar(self.block, each, self.scalars):
                        self.scalars.add(result)
                    if result in given_out:
                        self.results.append(result)

    def _all_0d(self, form: Form) -> bool:
        return not any(x.shape for x in values_in(form.operands))

    def _is_view(self, instruction: Instruction) -> bool:
        """Whether an instruction gives a part of memory that is there, and does nothing else."""
        result = instruction.result
        if not is_pure(instruction) or result in arguments(instruction):
            return False
        return self.block.root(result) is not result

    def _place_view(self, instruction: Instruction) -> None:
        result, x = instruction.result, instruction.args[0] if instruction.args else None
        if self.block.root(result) in self._own:
            self.views.append(result)
            self.view_instructions.append(instruction)
        elif isinstance(x, Value) and len(arguments(instruction)) == 1:
            if x in self._inputs or x in self.of_input:
                self.of_input[result] = self.of_input.get(x, x)
                self.view_instructions.append(instruction)

    # --- the arena -------------------------------------------------------------------------------

    def _plan(self) -> int:
        """Give each root in the arena its offset, used again when its last reader has run."""
        last = self._last_uses()
        arena, results = Arena(), set(self.results)
        held: dict[int, list[Value]] = {}
        for i, each in enumerate(self.block.instructions):
            for result in self._made(each):
                if result in results:
                    continue
                over = self._overwritten(each, i, last)
                if over is None:
                    self.offsets[result] = arena.take(n_bytes(result))
                else:
                    self.offsets[result] = self.offsets[over]
                    held[i].remove(over)
                held.setdefault(last.get(result, i), []).append(result)
            for root in held.pop(i, ()):
                arena.give_back(self.offsets[root], n_bytes(root))
        return arena.size

    def _made(self, each: Instruction) -> list[Value]:
        """The roots with memory of ours that an instruction makes."""
        if each not in self.chains and (each not in self.forms or "out" in each.kwargs):
            return []
        return [x for x in values_in(each.result) if x in self._own]

    def _last_uses(self) -> dict[Value, int]:
        last: dict[Value, int] = {}
        for i, each in enumerate(self.block.instructions):
            for x in arguments(each):
                last[self.block.root(x)] = i
        return last

    def _overwritten(self, each: Instruction, i: int, last: dict) -> Value | None:
        """An operand that is read here for the last time, whose memory the result may take."""
        form = self.forms.get(each)
        if (
            form is None or not form.pointwise or size_of(each.result) == 1
        ):  # where NumPy takes its long way
            return None
        operands = list(values_in(form.operands))
        for x in operands:
            root, offset = self.block.place(x)
            if root not in self.offsets or last[root] != i or offset:
                continue
            same = [y for y in operands if self.block.root(y) is root]
            if all(_is_same(self.block, y, x) for y in same) and n_bytes(x) == n_bytes(root):
                if are_alike(x, each.result):
                    return root
        return None


def _is_same(block: Block, a: Value, b: Value) -> bool:
    return block.place(a) == block.place(b) and are_alike(a, b)


def is_scalar(block: Block, instruction: Instruction, scalars: set[Value]) -> bool:
    """Whether NumPy gives a number where the result has no dimensions."""
    text, function = instruction.text, block.functions.get(instruction.text)
    if text in (".astype", "xp.astype", ".copy"):
        return instruction.args[0] in scalars
    return isinstance(function, np.ufunc) or text in _REDUCTIONS


_REDUCTIONS = frozenset("xp.sum xp.mean xp.max xp.min xp.prod xp.all xp.any xp.matmul".split())
