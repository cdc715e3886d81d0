"""The C file of a program: its loops, each once, and functions that call them in order.

Calls of Python cut a program into parts; each part is a C function of the table of addresses.
"""

import linecache
import os
import re
from collections import Counter
from math import prod

import numpy as np

from tapegrad.compiler.c_backend import blas, c_library, c_types, pool, shared_loops, timed
from tapegrad.compiler.c_backend.addresses import Offsets
from tapegrad.compiler.c_backend.arena import Layout
from tapegrad.compiler.c_backend.ir import Access, Buffer, Call, Check, Literal, Product
from tapegrad.compiler.c_backend.loop_source import Loop
from tapegrad.compiler.c_backend.lower_product import order_of
from tapegrad.compiler.c_backend.schedule import Segment
from tapegrad.core.annotations import Any, Sequence

_DOUBLE = np.dtype(np.float64)
_LOOP = re.compile(r"\bloop\d+(?=\()")
_LONG = 16  # lines of a loop that is compiled once for all tables of numbers
_LONG_PRODUCT = 2**18  # multiplications from which on threads share a product, as a BLAS does
_MANY = 4  # products, each of which one thread makes
_INLINE = 8  # statements of numbers, not arrays, that stand where they are needed


class CSource:
    """What `text` says, and what the driver needs to know of it.

    Attributes:
        text: the C file
        lines: by the identity of a segment, those that run it
        failures: what to call when a part returns 1, 2, ..., or the instruction that raises then,
            and where its values lie
        products: suffixes of the dtypes in which there are products of matrices
        shares: whether threads share loops
        is_timed: whether each segment notes when it has ended
    """

    def __init__(
        self,
        parts: list[list[tuple[Segment, set[int]]]],
        layout: Layout,
        inputs: Sequence[Buffer],
        offsets: Offsets | None,
        convention: str,
        threads_slot: int | None,
        is_timed: bool = False,
    ):
        self.layout, self._threads_slot, self.is_timed = layout, threads_slot, is_timed
        self._shared: dict[str, str] = {}  # loop functions -> those that run a part of them
        self.lines: dict[int, list[str]] = {}
        self.failures: list[Any] = []
        self.part_of_failure: list[int] = []
        self._functions: dict[str, tuple[str, str]] = {}  # body -> (name, text)
        self._names: set[str] = set()
        self._numbers: list[str] = []
        self._loops = {
            id(segment): Loop(segment, stored)
            for part in parts
            for segment, stored in part
            if segment.kind == "loop"
        }
        self._variants: dict[str, set] = {}  # numbers of the loops that have all else in common
        for loop in self._loops.values():
            self._variants.setdefault(_text_of(loop), set()).add(tuple(loop.literals))
        bodies = [self._part(i, each) for i, each in enumerate(parts) if each or not i]
        called = Counter(_LOOP.findall("\n".join([*bodies, *self._shared.values()])))
        sections = [
            text if called[name] < 2 else text.replace("static void", "static NOINLINE void", 1)
            for name, text in self._functions.values()
        ]
        code = "\n".join([*sections, *bodies])
        helpers = c_library.used_by(code)
        self.shares = " tg_share;" in helpers
        self.products = [x for x in ("f32", "f64") if f" gemm_{x};" in helpers]
        if self.products and convention == "alone":
            helpers = c_library.used_by(code + "".join(f"tg_gemm_{x}()" for x in self.products))
        self.text = "\n".join(
            [
                c_library.HEADER,
                *([timed.declarations(sum(map(len, parts)))] if is_timed else []),
                helpers,
                *([blas.binding(self.products, convention)] if self.products else []),
                *([pool.BINDING] if self.shares else []),
                *sections,
                *self._numbers,
                *self._shared.values(),
                *bodies,
                _entry(inputs, offsets),
            ]
        )
        self.text = re.sub(r"\n{3,}", "\n\n", self.text)

    # --- one part --------------------------------------------------------------------------------

    def _part(self, number: int, segments: list[tuple[Segment, set[int]]]) -> str:
        self._used: dict[int, Buffer] = {}
        self._is_shared_part = False
        lines: list[str] = []
        n_failures = len(self.failures)
        last = None
        for segment, _ in segments:
            line = next((x.line for x in segment.statements if x.line), None)
            if line is not None and line != last:
                lines.append(_comment(line))
                last = line
            self.lines[id(segment)] = self._segment(segment)
            lines += self.lines[id(segment)]
            if self.is_timed:
                lines.append(timed.note(len(self.lines) - 1))
        self.part_of_failure += [number] * (len(self.failures) - n_failures)
        declared = [self._declaration(x) for x in self._used.values()]
        if self.is_timed:
            declared.append(timed.START)
        if self._is_shared_part:
            declared.append(shared_loops.declaration(self._threads_slot or 0))
        body = "\n".join(f"    {line}" for line in [*declared, *lines])
        head = f"ONCE int part{number}(char **slots) {{\n    (void)slots;"
        return f"{head}\n{body}\n    return 0;\n}}\n"

    def _declaration(self, buffer: Buffer) -> str:
        where = self.layout.offsets.get(id(buffer))
        dtype = c_types.name(buffer.dtype)
        address = f"slots[{buffer.slot}]" if where is None else f"(slots[0] + {where})"
        return f"{dtype} *const {buffer.name} = ({dtype} *){address};"

    def _segment(self, segment: Segment) -> list[str]:
        if segment.kind == "loop":
            return self._loop(segment)
        each = segment.statements[0]
        if isinstance(each, Check):
            return self._check(each)
        if isinstance(each, Product):
            return self._product(each)
        assert isinstance(each, Call)
        return self._call(each)

    def _call(self, each: Call) -> list[str]:
        """A call of a function of the library."""
        given = [self._address(x) for x in each.results]
        for x in each.arguments:
            if isinstance(x, Access):
                given.append(self._address(x))
            elif x is None:
                given.append("0")
            else:
                given.append(c_types.literal(x, _DOUBLE) if type(x) is float else str(int(x)))
        if each.scratch:
            given.append(f"(void *)(slots[0] + {self.layout.scratch[id(each)]})")
        function = each.function
        if each.shared and self._threads_slot is not None:
            function = each.shared
            given.append(self._threads())
        call = f"{function}({', '.join(given)})"
        if each.failing is None:
            return [f"{call};"]
        self.failures.append(each.failing)
        return [f"if ({call}) return {len(self.failures)};"]

    def _threads(self) -> str:
        """The number of threads, of which a part that asks for it has a variable."""
        self._is_shared_part = True
        return "threads"

    def _address(self, x: Access) -> str:
        """The address of the first element, of the type of the access."""
        self._used[id(x.buffer)] = x.buffer
        want, name = c_types.name(x.dtype), x.buffer.name
        if want == c_types.name(x.buffer.dtype) != "char" and x.offset % x.dtype.itemsize == 0:
            n = x.offset // x.dtype.itemsize
            return f"{name} + {n}" if n > 0 else f"{name} - {-n}" if n else name
        if x.offset == 0:
            return f"({want} *){name}"
        return f"({want} *)((char *){name} + {x.offset})"

    def _loop(self, segment: Segment) -> list[str]:
        loop = self._loops[id(segment)]
        addresses = [self._address(x) for x, _ in loop.pointers]
        if loop.n is None and len(segment.statements) <= _INLINE:
            body = _filled(
                _with_numbers(loop), [x if x.isidentifier() else f"({x})" for x in addresses]
            )
            return ["{", *[f"    {line}" for line in body], "}"]
        name = self._function(loop)
        tables = self._table(loop)
        how = None if self._threads_slot is None else shared_loops.sharing(segment, loop)
        if how is not None:
            self._threads()
            rest = [f"const {c_type} *" for c_type in _by_type(loop)] if tables else []
            self._shared[name] = shared_loops.function(name, _types(loop), how, rest)
            return shared_loops.call(name, addresses, tables, loop.n or 0, how)
        size = [] if loop.n is None else [str(loop.n)]
        return [f"{name}({', '.join([*addresses, *tables, *size])});"]

    def _is_shared(self, loop: Loop) -> bool:
        """Whether its numbers are given in a table, as other loops differ in these alone."""
        return len(loop.lines) > _LONG and len(self._variants[_text_of(loop)]) > 1

    def _table(self, loop: Loop) -> list[str]:
        """The arguments for the numbers of a loop: tables, one of each type."""
        if not self._is_shared(loop):
            return []
        found = []
        for c_type, numbers in _by_type(loop).items():
            name = f"numbers{len(self._numbers)}"
            found.append(name)
            text = ", ".join(loop.literals[i][1] for i in numbers)
            self._numbers.append(f"static const {c_type} {name}[] = {{{text}}};\n")
        return found

    def _function(self, loop: Loop) -> str:
        """The function of a loop, which another loop of the same text may have made."""
        is_shared = self._is_shared(loop)
        key = _text_of(loop) if is_shared else "\n".join([*_types(loop), *_with_numbers(loop)])
        found = self._functions.get(key)
        if found is not None:
            return found[0]
        name = f"loop{len(self._functions)}"
        names: list[str] = []
        for x, _ in loop.pointers:
            wanted = x.buffer.name
            while wanted in names:
                wanted += "_"
            names.append(wanted)
        parameters = [f"{t}{x}" for t, x in zip(_types(loop), names, strict=True)]
        lines = loop.lines if is_shared else _with_numbers(loop)
        if is_shared:
            for c_type, numbers in _by_type(loop).items():
                parameters.append(f"const {c_type} *{c_type}s")
                for at, i in enumerate(numbers):
                    lines = [line.replace(f"#{i}#", f"{c_type}s[{at}]") for line in lines]
        if loop.n is not None:
            parameters.append("int64_t n")
        body = "\n".join(f"    {line}" for line in _filled(lines, names))
        text = f"WHOLE static void {name}({', '.join(parameters)}) {{\n{body}\n}}\n"
        self._functions[key] = name, text
        return name

    def _check(self, each: Check) -> list[str]:
        numbers = []
        for x in each.numbers:
            if isinstance(x, Literal):
                numbers.append(c_types.literal(x.value, _DOUBLE))
            else:
                numbers.append(f"*({self._address(x)})")
        self.failures.append(each.failure)
        condition = each.condition.format(*numbers)
        return [f"if (!({condition})) return {len(self.failures)};"]

    def _product(self, each: Product) -> list[str]:
        x, y, out = each.x, each.y, each.out
        suffix = c_types.suffix(out.dtype)
        (m, k), n = x.shape[-2:], y.shape[-1]
        orders = [order_of(a) for a in (x, y, out)]
        assert all(orders)
        (x_order, x_step), (y_order, y_step), (out_order, out_step) = orders  # type: ignore[misc]
        xs, ys, outs = self._address(x), self._address(y), self._address(out)
        turned = "columns" if out_order == "rows" else "rows"
        flags = [int(x_order == turned), int(y_order == turned)]
        steps = [
            (size, *[a.strides[d] // a.dtype.itemsize for a in (x, y, out)])
            for d, size in enumerate(out.shape[:-2])
            if size != 1
        ]
        operands = [(xs, x_step), (ys, y_step)]
        if out_order == "columns":  # the transposed product
            flags, operands, m, n = flags[::-1], operands[::-1], n, m
            steps = [(size, second, first, third) for size, first, second, third in steps]
        operands.append((outs, out_step))
        count = prod(each[0] for each in steps)
        is_long = self._threads_slot is not None and count * m * n * k > _LONG_PRODUCT
        if is_long and count >= _MANY and len(steps) <= 2:
            (_, *outer), (inner, *last) = [(1, 0, 0, 0), *steps][-2:]
            moves = [str(step) for pair in zip(outer, last, strict=True) for step in pair]
            given = [*map(str, (0, count, inner)), *moves, *map(str, (*flags, m, n, k))]
            given += [f"{address}, {step}" for address, step in operands]
            return [f"tg_products_shared_{suffix}({', '.join([*given, self._threads()])});"]
        lines = [
            f"{'    ' * d}for (int64_t i{d} = 0; i{d} < {size}; i{d}++)"
            for d, (size, *_) in enumerate(steps)
        ]
        first, second, result = [
            address + "".join(f" + i{d} * {each[at]}" for d, each in enumerate(steps) if each[at])
            + f", {step}"
            for at, (address, step) in enumerate(operands, 1)
        ]  # fmt: skip
        is_long = is_long and m * n * k > _LONG_PRODUCT
        given = [*map(str, (*flags, m, n, k, 1)), first, second, "0", result]
        given += [self._threads()] if is_long else []
        name = f"tg_product{'_shared' if is_long else ''}_{suffix}"
        return [*lines, f"{'    ' * len(lines)}{name}({', '.join(given)});"]


def _types(loop: Loop) -> list[str]:
    """The types of the pointers of a loop."""
    return [
        f"{'' if is_written else 'const '}{c_types.name(x.dtype)} *"
        for x, is_written in loop.pointers
    ]


def _text_of(loop: Loop) -> str:
    """All of a loop but its numbers."""
    return "\n".join([*_types(loop), *[c_type for c_type, _ in loop.literals], *loop.lines])


def _by_type(loop: Loop) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for i, (c_type, _) in enumerate(loop.literals):
        found.setdefault(c_type, []).append(i)
    return found


def _with_numbers(loop: Loop) -> list[str]:
    return [re.sub(r"#(\d+)#", lambda x: loop.literals[int(x[1])][1], line) for line in loop.lines]


def _filled(lines: list[str], names: list[str]) -> list[str]:
    return [re.sub(r"@(\d+)@", lambda found: names[int(found[1])], line) for line in lines]


def _comment(line: tuple[str, int]) -> str:
    """The line of Python that a part comes from."""
    text = linecache.getline(*line).strip().replace("/*", "/ *").replace("*/", "* /")
    where = f"{os.path.basename(line[0])}:{line[1]}"
    return f"/* {where}: {text} */" if text else f"/* {where} */"


def _entry(inputs: Sequence[Buffer], offsets: Offsets | None) -> str:
    """The function that reads addresses from a tuple of arrays and floats."""
    if offsets is None:
        return ""
    lines = [
        "/* Python's tuple of arrays and floats: where these have their memory */",
        "int step(char *inputs, char **slots) {",
        f"    char **const items = (char **)(inputs + {offsets.items});",
    ]
    for i, buffer in enumerate(inputs):
        if buffer.value is None:
            lines.append(f"    slots[{buffer.slot}] = items[{i}] + {offsets.number};")
        else:
            lines.append(f"    slots[{buffer.slot}] = *(char **)(items[{i}] + {offsets.array});")
    return "\n".join([*lines, "    (void)items;", "    return part0(slots);", "}", ""])
