"""The source of a block: a function that makes a workspace, and in it the program."""

import linecache
from time import perf_counter_ns

import numpy as np

from tapegrad.arrays.traced.program import Changed, Constant, Instruction, Scalar, Value
from tapegrad.compiler.numpy_backend.block import Block
from tapegrad.compiler.numpy_backend.chain_names import BlockNames
from tapegrad.compiler.numpy_backend.chains import Chain
from tapegrad.compiler.numpy_backend.geometry import is_row_major, order_of
from tapegrad.compiler.numpy_backend.last_readers import let_go_after
from tapegrad.compiler.numpy_backend.layout import Layout
from tapegrad.compiler.numpy_backend.lines import Lines, suffix
from tapegrad.compiler.numpy_backend.naming import Names
from tapegrad.compiler.numpy_backend.results import ResultMemory, laid_out, references
from tapegrad.compiler.numpy_backend.row_sums import row_of
from tapegrad.compiler.numpy_backend.run_blocks import in_blocks
from tapegrad.core.annotations import Any

_ALIGNED = 64  # bytes


def source_of(
    block: Block, given: dict[int, str] | None, is_timed: bool = False
) -> tuple[str, dict[str, Any]]:
    """The source of `workspace`, which makes a function of the inputs, and its global names."""
    return Source(block, given, is_timed).text()


def memory_of(size: int) -> np.ndarray:
    """So many bytes, from the beginning of a line of the cache on."""
    found = np.empty(size + _ALIGNED, np.uint8)
    start = -found.ctypes.data % _ALIGNED
    return found[start : start + size]


class Source:
    """Writes the source; `by_instruction` are the lines of each, be it a chain of them.

    Where it `is_timed`, the program notes in a list `ends` when each of these has ended.
    """

    def __init__(self, block: Block, given: dict[int, str] | None, is_timed: bool = False):
        self.block, self.layout, self._is_timed = block, Layout(block), is_timed
        self.names = Names(block, given)
        self.inputs = [self.names.value(x) for x in block.inputs]
        self.lines = Lines(block, self.layout, self.names)
        if is_timed:
            self.names.scope.update(ends=[], clock=perf_counter_ns)
        self.names.scope.update(ndarray=np.ndarray, references=references, memory_of=memory_of)
        self.before: list[str] = []  # in the workspace
        self.parts: list[str] = []  # functions in the workspace
        self.nonlocals: list[str] = []
        self.by_instruction: list[tuple[Instruction, list[str]]] = []

    def text(self) -> tuple[str, dict[str, Any]]:
        body = [*self._results(), *self._views_of_inputs()]
        body += [line for x in self.block.inputs for line in self.lines.cast(x)]
        body += self._kept(self._instructions())
        body.append(f"return {self._returned()}")
        self._memory()
        text = [f"# {name} = {_shown(x)}" for name, x in self.names.constants()]
        text += ["def workspace():"]
        text += [f"    {line}" for line in self.before]
        text += ["", *[f"    {line}".rstrip() for line in self.parts]]
        text += [f"    def program({', '.join(self.inputs)}):"]
        if self.nonlocals:
            text.append(f"        nonlocal {', '.join(self.nonlocals)}")
        text += [f"        {line}" for line in body]
        text += ["", "    return program", ""]
        return "\n".join(text), self.names.scope

    # --- memory ----------------------------------------------------------------------------------

    def _memory(self) -> None:
        """The arrays of temporaries, which stay where they are."""
        layout, names = self.layout, self.names
        lines = [f"memory = memory_of({layout.size})"] if layout.offsets else []
        for x, offset in layout.offsets.items():
            lines.append(f"{names.value(x)} = {self._seen(x, 'memory', offset)}")
        for x in layout.views:
            root, offset = self.block.place(x)
            if root in layout.offsets:
                place = layout.offsets[root] + offset
                lines.append(f"{names.value(x)} = {self._seen(x, 'memory', place)}")
        for x in sorted(self.lines.numbers_as_arrays, key=lambda x: x.number):
            lines.append(f"{names.value(x, '_0d')} = ndarray((), {names.text(x.dtype)})")
        for x in sorted(layout.spares, key=lambda x: x.number):
            lines.append(f"{names.value(x, '_spare')} = {self._new(x)}")
        for cast in [cast for found in self.lines.casts.values() for cast in found]:
            name = names.value(cast.scalar, suffix(cast.dtype))
            lines.append(f"{name} = ndarray((), {names.text(cast.dtype)})")
        self.before = lines + self.before

    def _seen(self, x: Value, memory: str, offset: int) -> str:
        shape, dtype = x.shape, self.names.text(x.dtype)
        text = f"ndarray({shape!r}, {dtype}, {memory}, {offset}"
        if is_row_major(x):
            return f"{text})"
        return f"{text}, {x.strides!r})"

    def _new(self, x: Value) -> str:
        return f"ndarray({x.shape!r}, {self.names.text(x.dtype)})"

    def _results(self) -> list[str]:
        """Lines that take other memory for results that somebody has kept."""
        lines = []
        for root in self.layout.results:
            made = [root, *[x for x in self.layout.views if self.block.root(x) is root]]
            names = [self.names.value(x) for x in made]
            owner = order_of(root) != tuple(range(len(root.shape)))
            whole = [self.names.value(root, "_memory")] if owner else []
            make = self.names.new(f"new_{names[0]}")
            self.names.scope[make] = self._maker(root, made[1:])
            memory = self.names.new(f"memory_of_{names[0]}")
            self.names.scope["ResultMemory"] = ResultMemory
            targets = ", ".join(whole + names) + ","
            self.before += [f"{memory} = ResultMemory({make})", f"{targets} = {memory}.other()"]
            self.nonlocals += whole + names
            outs = {x for x in self.block.outputs if isinstance(x, Value)}
            asked = (whole or names[:1]) + [
                self.names.value(x) for x in made if x in outs and (whole or x is not root)
            ]
            counts = []
            for name in asked:
                count = self.names.new(f"{name}_users")
                self.before.append(f"{count} = references({name})")
                counts.append(f"references({name}) != {count}")
            # none is held until the first call, which has let go of other results before
            self.before += [f"{memory}.forget()", f"{' = '.join(whole + names)} = None"]
            lines += [f"if {' or '.join(counts)}:", f"    {targets} = {memory}.other()"]
        return lines

    def _maker(self, root: Value, views: list[Value]) -> Any:
        """A function that makes memory for a result, and the views of it."""
        order = order_of(root)
        seen = [(x.shape, x.dtype, self.block.place(x)[1], x.strides) for x in views]

        def make() -> tuple:
            found = laid_out(root.shape, root.dtype, order)
            owner = found if found.base is None else found.base
            first = (found,) if owner is found else (owner, found)
            return *first, *[np.ndarray(s, d, owner, at, st) for s, d, at, st in seen]

        return make

    def _views_of_inputs(self) -> list[str]:
        """Lines that make views of inputs, where an input is another array than last time."""
        of_input: dict[Value, list[str]] = {}
        for each in self.layout.view_instructions:
            x = each.result
            if x in self.layout.of_input:
                found = of_input.setdefault(self.layout.of_input[x], [])
                found += self.lines.of(each)
                self.nonlocals.append(self.names.value(x))
                self.before.append(f"{self.nonlocals[-1]} = None")
        lines = []
        for x, made in of_input.items():
            before = self.names.value(x, "_before")
            self.nonlocals.append(before)
            self.before.append(f"{before} = None")
            name = self.names.value(x)
            lines += [f"if {name} is not {before}:", *[f"    {line}" for line in made]]
            lines.append(f"    {before} = {name}")
        return lines

    # --- lines -----------------------------------------------------------------------------------

    def _instructions(self) -> list[str]:
        lines: list[str] = []
        let_go = let_go_after(self.block, self.layout)
        place = None
        for each in self.block.instructions:
            gone = ", ".join([self.names.value(x) for x in let_go.get(each, ())])
            if each in self.layout.chains:
                n = len(self.parts)
                call = self._chain(self.layout.chains[each])
                if gone:
                    call.append(f"del {gone}")
                self.by_instruction.append((each, [*call, "", *self.parts[n:]]))
                lines += [*call, *self._noted()]
                continue
            if each.line is not None and each.line != place:
                place = each.line
                lines.append(_comment(*place))
            written = self.lines.of(each)
            if gone:
                written.append(f"del {gone}")
            self.by_instruction.append((each, written))
            lines += [*written, *self._noted()]
        return lines

    def _noted(self) -> list[str]:
        """A line that notes when it is reached, where that is asked for."""
        return ["ends.append(clock())"] * self._is_timed

    def _chain(self, chain: Chain) -> list[str]:
        """A call that runs a chain; the chain is a function in the workspace."""
        names, part = self.names, self.names.new("chain")
        blocks = BlockNames(self.block, self.layout, chain)
        inner = Lines(self.block, self.layout, names, blocks)
        whole = [names.text(x) for x in chain.whole]
        single = [names.text(x) for x in chain.single]
        rows = [names.text(x) for x in chain.rows]
        spares = [f"spare{i}" for i in range(len(blocks.spares))]
        place, lines = None, []
        for each in chain.instructions:
            if each.line is not None and each.line != place:
                place = each.line
                lines.append(_comment(*place))
            lines += inner.of(each)
        self.parts += [f"def {part}({', '.join([*whole, *rows, *single, *spares])}):"]
        self.parts += [*[f"    {line}" for line in lines], ""]
        names.scope["in_blocks"] = in_blocks
        flat = [_flat(self.block, x, name) for x, name in zip(chain.whole, whole, strict=True)]
        dtypes = ", ".join([names.text(x) for x in blocks.spares])
        given = [_tuple(flat), _tuple(single), f"[{dtypes}]"]
        given += [_tuple(rows), str(row_of(blocks.size))] if rows else []
        return [f"in_blocks({part}, {blocks.size}, {', '.join(given)})"]

    def _kept(self, lines: list[str]) -> list[str]:
        """The lines, and what puts inputs back if a number is not the recorded one."""
        if not self.block.kept:
            return lines
        self.names.scope["Changed"] = Changed
        names = [self.names.value(x) for x in self.block.kept]
        copies = [self.names.value(x, "_was") for x in self.block.kept]
        pairs = list(zip(names, copies, strict=True))
        return [
            *[f"{copy} = {name}.copy()" for name, copy in pairs],
            "try:",
            *[f"    {line}" for line in lines],
            "except Changed:",
            *[f"    {name}[...] = {copy}" for name, copy in pairs],
            "    raise",
        ]

    def _returned(self) -> str:
        texts = []
        for x in self.block.outputs:
            text = self.names.text(x)
            if isinstance(x, Scalar) or (isinstance(x, Value) and not x.shape):
                known = x in self.layout.results or x in self.layout.views or x in self.block.inputs
                if not known:
                    self.names.scope["asarray"] = np.asarray
                    text = f"asarray({text})"
            texts.append(text)
        return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def _tuple(texts: list[str]) -> str:
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def _flat(block: Block, x: Any, name: str) -> str:
    """A large value as one row of its memory."""
    thing = block.constants[x.number] if isinstance(x, Constant) else x
    if len(thing.shape) == 1:
        return name
    if is_row_major(thing):
        return f"{name}.reshape(-1)"
    return f"{name}.transpose({order_of(thing)!r}).reshape(-1)"


def _comment(file: str, line: int) -> str:
    text = linecache.getline(file, line).strip()
    return f"# {file.rpartition('/')[2]}:{line}  {text}".rstrip()


def _shown(x: Any) -> str:
    if isinstance(x, np.ndarray) and x.size > 1:
        return f"array of {x.dtype}{list(x.shape)}"
    text = " ".join(repr(x).split())
    return text if len(text) < 80 else f"{text[:76]} ..."
