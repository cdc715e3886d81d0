"""The parts of a program in C: its segments, with the memory that they touch and their lines."""

import re

from tapegrad.arrays.traced.program import Instruction, Program, Value
from tapegrad.compiler.c_backend.ir import Access, Pointwise, Reduction, Statement
from tapegrad.compiler.c_backend.lowered import Compiled
from tapegrad.compiler.c_backend.schedule import Segment
from tapegrad.compiler.parts import Part, Parts, Use, add_flops, name_of
from tapegrad.core.annotations import Any, Sequence

_CALLED = re.compile(r"\b((?:shared_)?loop\d+|tg_\w+)\(")


def parts_of(program: Program, outputs: Sequence[Value], names: dict[int, str]) -> Parts:
    """The parts of a program that runs as C."""
    compiled = Compiled(program, outputs, names)
    functions = _functions(compiled.source)
    found: list[Part] = []
    made_of: list[list[Instruction]] = []
    for at, segment in enumerate(compiled.segments):
        part = _part(segment, compiled.in_memory[at])
        part.lines = compiled.lines_of(segment)
        called = dict.fromkeys(_CALLED.findall("\n".join(part.lines)))
        part.functions = [functions[x] for x in called if x in functions]
        found.append(part)
        made_of.append([x.origin for x in segment.statements if x.origin and not _is_copy(x)])
    add_flops(list(zip(found, made_of, strict=True)))
    inputs = {
        x.number: _input(x, buffer)
        for x, buffer in zip(program.inputs, compiled.inputs, strict=True)
    }
    return Parts("C", found, inputs, [_use(x) for x in compiled.places])


def _part(segment: Segment, in_memory: set[int]) -> Part:
    first = segment.statements[0]
    line = next((x.line for x in segment.statements if x.line), None)
    kind = "product" if type(first).__name__ == "Product" else segment.kind
    reads: dict[Any, Use] = {}
    writes: dict[Any, Use] = {}
    made: set = set()
    for each in segment.statements:
        for x in each.reads:
            if kind != "loop" or x.key not in made:  # else it is in a register
                reads.setdefault(x.key, _use(x))
        for x in each.writes:
            made.add(x.key)
            if kind != "loop" or id(x.buffer) in in_memory:
                writes[x.key] = _use(x)
    shape, dtype = segment.shape, next((x.dtype for x in (*first.writes, *first.reads)), "")
    if kind != "loop":
        shape = first.writes[0].shape if first.writes else ()
    operators = [_operator(x) for x in segment.statements]
    return Part(
        kind, operators, shape, str(dtype), line, list(reads.values()), list(writes.values()), []
    )


def _operator(each: Statement) -> str:
    if _is_copy(each) or each.origin is None:
        return "copy"
    name = name_of(each.origin)
    if isinstance(each, Reduction) and name not in ("max", "min", "prod", "any", "all"):
        return "sum"
    return "check" if name == "expect" else name


def _is_copy(each: Statement) -> bool:
    return isinstance(each, Pointwise) and each.expression == "{0}"


def _use(x: Access) -> Use:
    """An access less its repetitions."""
    shape = tuple(n for n, s in zip(x.shape, x.strides, strict=True) if s or n < 2 or not x.size)
    n_bytes = x.dtype.itemsize
    for n in shape:
        n_bytes *= n
    is_constant = x.buffer.kind == "constant"
    return Use(_key(x.buffer), x.span, x.buffer.name, shape, str(x.dtype), n_bytes, is_constant)


def _input(x: Any, buffer: Any) -> Use:
    if isinstance(x, Value):
        return _use(Access(buffer, 0, x.shape, x.strides, x.dtype))
    return Use(_key(buffer), (0, 8), buffer.name, (), "float", 8)


def _key(buffer: Any) -> Any:
    return buffer.kind, buffer.name


def _functions(source: str) -> dict[str, str]:
    """The functions of a C file, by their names."""
    found = {}
    for text in re.findall(r"^(?:static|INLINE|WHOLE)[^;\n]*\([^;]*?\{.*?^\}", source, re.M | re.S):
        name = re.search(r"(\w+)\(", text.replace("__attribute__((always_inline))", ""))
        if name is not None:
            found[name[1]] = text
    return found
