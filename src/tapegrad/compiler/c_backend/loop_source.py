"""One loop as a C function: elementwise statements, and reductions of what they compute."""

import re
from math import prod

import numpy as np

from tapegrad.compiler.c_backend import c_types
from tapegrad.compiler.c_backend.ir import Access, Literal, Pointwise, Reduction
from tapegrad.compiler.c_backend.loop_dims import dims_of
from tapegrad.compiler.c_backend.schedule import Segment
from tapegrad.core.annotations import Any

BLOCK = 4096
"""Elements that are summed in float32 before the sum goes on in double precision."""


class Loop:
    """The body of a function, in which pointers are `@0@`, `@1@`, ... and numbers `#0#`, `#1#`, ...

    Attributes:
        lines: of the body
        pointers: (access of the first element, whether it is written) of each parameter
        literals: (type, number as C writes it)
        moves: elements from one step of the outermost dimension to the next, of each pointer
        n: the size of the outermost dimension, which is a parameter; None for a single pass
    """

    def __init__(self, segment: Segment, stored: set[int]):
        self.lines: list[str] = []
        self.pointers: list[list] = []
        self.literals: list[tuple[str, str]] = []
        self.moves: list[set[int]] = []
        self.stored = stored
        self._index: dict[Any, int] = {}
        self._locals: dict[Any, str] = {}
        self._n_locals = 0
        statements = segment.statements
        self._last = {x.out.key: x for x in statements if isinstance(x, Pointwise)}
        self.dims = dims_of(segment.shape, self._memory(statements), statements)
        sizes = self.dims.sizes
        self.n = sizes[0] if sizes else None
        self._at: list[list[str]] = [[] for _ in range(len(sizes) + 1)]  # lines before each depth
        self._after: list[list[str]] = [[] for _ in range(len(sizes) + 1)]
        self._clauses: list[str] = []
        self._body: list[str] = []
        self._blocks: list[tuple[str, str, str]] = []
        for each in statements:
            if isinstance(each, Pointwise):
                self._pointwise(each)
            elif isinstance(each, Reduction):
                self._reduction(each)
        self._write()

    def _memory(self, statements: list) -> list[Access]:
        """The accesses that go to memory."""
        found: dict[Any, Access] = {}
        written: set = set()
        for each in statements:
            for x in each.reads:
                if x.key not in written:
                    found[x.key] = x
            if isinstance(each, Reduction):
                found["out", each.out.key] = each.out
            else:
                written.add(each.out.key)
                if id(each.out.buffer) in self.stored:
                    found[each.out.key] = each.out
        return list(found.values())

    # --- names -----------------------------------------------------------------------------------

    def _pointer(self, access: Access, is_write: bool) -> str:
        key = id(access.buffer), access.offset, access.dtype.char
        at = self._index.get(key)
        if at is None:
            at = self._index[key] = len(self.pointers)
            self.pointers.append([access, is_write])
            self.moves.append(set())
        self.pointers[at][1] |= is_write
        return f"@{at}@"

    def _element(self, access: Access, is_write: bool = False) -> str:
        strides = self.dims.strides(access)
        pointer = self._pointer(access, is_write)
        if strides:
            self.moves[self.pointer_of(access)].add(strides[0])
        terms = [f"i{k}" if s == 1 else f"i{k} * {s}" for k, s in enumerate(strides) if s]
        return f"{pointer}[{' + '.join(terms) or '0'}]"

    def pointer_of(self, access: Access) -> int:
        """The number of the pointer to the first element of an access."""
        return self._index[id(access.buffer), access.offset, access.dtype.char]

    def _name(self) -> str:
        self._n_locals += 1
        return f"x{self._n_locals - 1}"

    def _operand(self, x: Any, dtype: Any) -> str:
        """An argument in the dtype of the loop."""
        if isinstance(x, Literal):
            self.literals.append((c_types.name(dtype), c_types.literal(x.value, dtype)))
            return f"#{len(self.literals) - 1}#"
        name = self._locals.get(x.key)
        if name is None:
            name = self._locals[x.key] = self._name()
            strides = self.dims.strides(x)
            depth = max((k + 1 for k, s in enumerate(strides) if s), default=0)
            line = f"const {c_types.name(x.dtype)} {name} = {self._element(x)};"
            (self._body if depth == len(strides) else self._at[depth]).append(line)
        return c_types.cast(name, x.dtype, dtype)

    # --- statements ------------------------------------------------------------------------------

    def _pointwise(self, each: Pointwise) -> None:
        args = [self._operand(x, t) for x, t in zip(each.args, each.types, strict=True)]
        if len(each.expression) > 3:
            args = [x if re.fullmatch(r"#\d+#|[\w.]+", x) else f"({x})" for x in args]
        text = each.expression.format(*args)
        out = each.out
        if out.dtype != each.result:
            text = c_types.cast(f"({text})", each.result, out.dtype)
        name = self._name()
        self._body.append(f"const {c_types.name(out.dtype)} {name} = {text};")
        self._locals[out.key] = name
        if id(out.buffer) in self.stored and self._last[out.key] is each:
            self._body.append(f"{self._element(out, is_write=True)} = {name};")

    def _reduction(self, each: Reduction) -> None:
        x = self._operand(each.arg, each.arg.dtype)
        reduced = self.dims.reduced(each)
        out = self._element(each.out, is_write=True)
        depth = len(reduced)
        while depth and reduced[depth - 1]:
            depth -= 1
        if not any(reduced):
            self._body.append(f"{out} = {x};")
            return
        outer = any(reduced[:depth])
        if outer:
            self._initialise(each, out, reduced)
        if depth == len(reduced):  # rows are added to each other in memory
            self._body.append(f"{out} = {combined(each, out, x)};")
            return
        result = self._accumulated(each, x, depth)
        text = combined(each, out, result) if outer else result
        self._after[depth].append(f"{out} = {text};")

    def _initialise(self, each: Reduction, out: str, reduced: list[bool]) -> None:
        """Set the results before a loop that adds to them."""
        indent, lines, n = "", [], 0
        for k, size in enumerate(self.dims.sizes):
            if not reduced[k]:
                bound = "n" if k == 0 else str(size)
                lines.append(f"{indent}for (int64_t i{k} = 0; i{k} < {bound}; i{k}++)")
                indent += "    "
                n += 1
        lines.append(f"{indent}{out} = {_initial(each)};")
        self._at[0] += lines

    def _accumulated(self, each: Reduction, x: str, depth: int) -> str:
        """A local variable into which the innermost loops reduce; what it is in the end."""
        dtype = each.out.dtype
        name = self._name()
        c_type = c_types.name(dtype)
        floating = dtype.kind == "f"
        if each.how in ("sum", "prod"):
            sign = "+" if each.how == "sum" else "*"
            self._clauses.append(f"reduction({sign}:{name})")
            self._body.append(f"{name} {sign}= {x};")
            n = prod(self.dims.sizes[depth:])
            if each.how == "sum" and dtype.itemsize == 4 and floating and n > BLOCK:
                total = self._name()
                self._at[depth].append(f"double {total} = 0;")
                self._blocks.append((name, total, c_type))
                return f"({c_type}){total}"
            self._at[depth].append(f"{c_type} {name} = {_initial(each)};")
            return name
        self._at[depth].append(f"{c_type} {name} = {_initial(each)};")
        if each.how in ("any", "all"):
            sign = "|" if each.how == "any" else "&"
            self._clauses.append(f"reduction({sign}:{name})")
            self._body.append(f"{name} {sign}= {x};")
            return name
        self._clauses.append(f"reduction({each.how}:{name})")
        compare = ">" if each.how == "max" else "<"
        self._body.append(f"{name} = {x} {compare} {name} ? {x} : {name};")
        if not floating:
            return name
        bad = self._name()  # nan is lost in comparisons
        self._at[depth].append(f"int32_t {bad} = 0;")
        self._clauses.append(f"reduction(|:{bad})")
        self._body.append(f"{bad} |= {x} != {x};")
        return f"{bad} ? ({c_type})NAN : {name}"

    # --- text ------------------------------------------------------------------------------------

    def _write(self) -> None:
        sizes = self.dims.sizes
        indent = ""
        for k, size in enumerate(sizes):
            self.lines += [indent + line for line in self._at[k]]
            bound = "n" if k == 0 else str(size)
            if k < len(sizes) - 1:
                self.lines.append(f"{indent}for (int64_t i{k} = 0; i{k} < {bound}; i{k}++) {{")
                indent += "    "
            else:
                self._write_innermost(indent, k, bound, size)
        if not sizes:
            self.lines += self._at[0] + self._body
        for k in range(len(sizes) - 1, -1, -1):
            if k < len(sizes) - 1:
                indent = indent[4:]
                self.lines.append(f"{indent}}}")
            self.lines += [indent + line for line in self._after[k]]

    def _write_innermost(self, indent: str, k: int, bound: str, size: int) -> None:
        start = "0"
        blocked = bool(self._blocks) and size > BLOCK
        if blocked:
            self.lines.append(f"{indent}for (int64_t b = 0; b < {bound}; b += {BLOCK}) {{")
            indent += "    "
            self.lines.append(
                f"{indent}const int64_t end = b + {BLOCK} < {bound} ? b + {BLOCK} : {bound};"
            )
            start, bound = "b", "end"
        for name, _, c_type in self._blocks:
            self.lines.append(f"{indent}{c_type} {name} = 0;")
        clauses = "".join(f" {x}" for x in self._clauses)
        self.lines.append(f"{indent}#pragma omp simd{clauses}")
        self.lines.append(f"{indent}for (int64_t i{k} = {start}; i{k} < {bound}; i{k}++) {{")
        self.lines += [f"{indent}    {line}" for line in self._body]
        self.lines.append(f"{indent}}}")
        for name, total, _ in self._blocks:
            self.lines.append(f"{indent}{total} += {name};")
        if blocked:
            self.lines.append(f"{indent[4:]}}}")


def _initial(each: Reduction) -> str:
    dtype = each.out.dtype
    if each.how in ("sum", "any"):
        return "0"
    if each.how in ("prod", "all"):
        return "1"
    if dtype.kind == "f":
        return "-INFINITY" if each.how == "max" else "INFINITY"
    if dtype.kind == "b":
        return "0" if each.how == "max" else "1"
    info = np.iinfo(dtype)
    return c_types.literal(info.min if each.how == "max" else info.max, dtype)


def combined(each: Reduction, a: str, b: str) -> str:
    """Two partial results as one."""
    b = b if re.fullmatch(r"\w+", b) else f"({b})"
    if each.how in ("max", "min"):
        compare = ">=" if each.how == "max" else "<="
        return f"{a} {compare} {b} || {a} != {a} ? {a} : {b}"
    sign = {"sum": "+", "prod": "*", "any": "|", "all": "&"}[each.how]
    return f"{a} {sign} {b}"
