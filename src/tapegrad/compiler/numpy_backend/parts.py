"""The parts of a program in NumPy source: its instructions, and chains of them in blocks."""

from tapegrad.arrays.traced.program import Constant, Instruction, Program, Scalar, Value
from tapegrad.compiler.numpy_backend import PASSES
from tapegrad.compiler.numpy_backend.block import Block, arguments, values_in
from tapegrad.compiler.numpy_backend.effects import is_check, written
from tapegrad.compiler.numpy_backend.source import Source
from tapegrad.compiler.parts import Part, Parts, Use, add_flops, name_of
from tapegrad.core.annotations import Any, Sequence

_PRODUCTS = frozenset("np.dot np.matmul xp.matmul np.vecdot xp.vecdot".split())


def parts_of(program: Program, outputs: Sequence[Value], names: dict[int, str]) -> Parts:
    """The parts of a program that runs as NumPy source."""
    block = Block(program, outputs)
    for each in PASSES:
        each(block)
    source = Source(block, names)
    source.text()
    found = []
    for instruction, lines in source.by_instruction:
        chain = source.layout.chains.get(instruction)
        inside = [instruction] if chain is None else chain.instructions
        part = _part(source, inside, None if chain is None else _outside(block, chain))
        part.line = instruction.line
        n = lines.index("") if "" in lines else len(lines)
        part.lines, part.functions = lines[:n], ["\n".join(lines[n:]).strip()][: n < len(lines)]
        found.append((part, inside))
    add_flops(found)
    inputs = {x.number: _use(source, x) for x in block.inputs}
    results = [x for x in block.outputs if isinstance(x, (Value, Constant))]
    return Parts(
        "NumPy source", [part for part, _ in found], inputs, [_use(source, x) for x in results]
    )


def _part(source: Source, inside: list[Instruction], outside: Any) -> Part:
    """A part; of a chain only what is `outside` is read and written in memory."""
    reads: dict[Any, Use] = {}
    writes: dict[Any, Use] = {}

    def is_inner(x: Any) -> bool:
        if outside is None or not isinstance(x, Value) or not x.shape:
            return False
        return source.block.root(x) not in outside

    for each in inside:
        targets = [*_scalars([each.result]), *values_in(each.result), *written(each)]
        given = values_in(each.args) if "out" in each.kwargs else arguments(each)
        for x in (*given, *_scalars([*each.args, *each.kwargs.values()])):
            if x not in writes and not is_inner(x):
                reads.setdefault(x, _use(source, x))
        for x in targets:
            if not is_inner(x):
                writes.setdefault(x, _use(source, x))
    last = next((x for x in values_in(inside[-1].result)), None)
    if last is None:
        last = next(iter(written(inside[-1])), None)
    shape, dtype = ((), "") if last is None else (last.shape, str(last.dtype))
    operators = ["check" if x.text == "expect" else name_of(x) for x in inside]
    return Part(
        _kind(source, inside, outside), operators, shape, dtype, None, list(reads.values()),
        list(writes.values()), [],
    )  # fmt: skip


def _kind(source: Source, inside: list[Instruction], outside: Any) -> str:
    each = inside[0]
    form = source.layout.forms.get(each)
    if is_check(each):
        return "check"
    if each.text in _PRODUCTS:
        return "product"
    return "loop" if outside is not None or (form is not None and form.elementwise) else "call"


def _outside(block: Block, chain: Any) -> set[Value]:
    """The roots that a chain reads or writes outside of its blocks."""
    return {block.root(x) for x in (*chain.whole, *chain.rows) if isinstance(x, Value)}


def _scalars(given: list) -> list[Scalar]:
    return [x for x in given if isinstance(x, Scalar)]


def _use(source: Source, x: Any) -> Use:
    if isinstance(x, Scalar):
        return Use(x, (0, 8), source.names.value(x), (), "float", 8)
    if isinstance(x, Constant):
        array = source.block.constants[x.number]
        name, shape, dtype = source.names.text(x), array.shape, str(array.dtype)
        return Use(name, (0, array.nbytes), name, shape, dtype, array.nbytes, True)
    root, low = source.block.place(x)
    high, n_bytes = low + x.dtype.itemsize, x.dtype.itemsize
    for n, step in zip(x.shape, x.strides, strict=True):
        low, high = low + min(0, (n - 1) * step), high + max(0, (n - 1) * step)
        n_bytes *= n if step else 1
    return Use(root, (low, high), source.names.value(x), x.shape, str(x.dtype), n_bytes)
