"""Sizes as arguments: one compiled file for the programs of calls with tensors of other sizes.

Two such programs are the same C but for some numbers: how long loops are, where in memory things
lie, by what a mean divides. The first is compiled as it is written. With the second one, the
numbers in which they differ become arguments, which every program has in a table of its own; the
third one is not compiled any more. Nothing is assumed of how a number depends on a size: each
program has been written for its own sizes, and whatever differs is an argument.
"""

import ctypes
import functools
import re
import threading

import numpy as np

from tapegrad.compiler.c_backend import cache
from tapegrad.compiler.c_backend.addresses import address
from tapegrad.compiler.c_backend.toolchain import compiler
from tapegrad.core.annotations import Any, Array, Callable

_NUMBER = re.compile(r"(U?INT64_C\(\d+\)|(?<![\w.])\d+(?:\.\d*)?(?:e[+-]?\d+)?f?(?![\w.]))")
_FUNCTION = re.compile(
    r"(?:(?:WHOLE )?static (?:NOINLINE )?void|(?:ONCE )?int|static int) \w+\(.*\) \{$"
)
_TABLE = re.compile(r"static const \w+ (numbers\d+)\[\] = \{.*\};$")
_NAME = re.compile(r"\bsize\d+\b")


class Sizes:
    """The programs of one function, by what they have in common."""

    def __init__(self) -> None:
        self._first: list[str] = []  # sources that nobody has compared with another one yet
        self._families: dict[str, _Family] = {}
        self._lock = threading.Lock()
        self._checks: Sizes | None = None

    def __reduce__(self) -> Any:
        return Sizes, ()

    @property
    def checks(self) -> "Sizes":
        """Those of the programs that only ask whether these hold: no others are like them."""
        if self._checks is None:
            self._checks = Sizes()
        return self._checks

    def library(self, source: str) -> "tuple[Any, Arguments | None]":
        """The compiled library of a program, and its sizes where these are arguments of it.

        Raises: CompilerMissing
        """
        with self._lock:
            if self._families or self._first:
                pieces = _NUMBER.split(source)
                for each in self._first:
                    self._family(_NUMBER.split(each))
                self._first = []
                family = self._family(pieces)
                if family.includes(pieces[1::2]):
                    shared = family.shared(pieces[::2])
                    if shared is not None:
                        return shared.library, Arguments(shared, family.table(pieces[1::2]))
            else:
                self._first.append(source)
        return cache.library(source, compiler()), None

    def _family(self, pieces: list[str]) -> "_Family":
        """The family of a program; a new one for the first."""
        common = "\0".join(pieces[::2])
        if common not in self._families:
            self._families[common] = _Family(pieces[1::2])
        return self._families[common]


class Shared:
    """A library of several programs, of which one runs at a time: all have one place for a table.

    Attributes:
        table: the one that is in that place
    """

    def __init__(self, text: str):
        self.text, self.library = text, cache.library(text, compiler())
        self.lock = threading.Lock()
        self.table: Array | None = None
        self.library.bind_sizes.argtypes, self.library.bind_sizes.restype = [ctypes.c_void_p], None


class Arguments:
    """The sizes of one program, and the library that is given them."""

    def __init__(self, shared: Shared, table: Array):
        self.shared, self.table = shared, table

    def __len__(self) -> int:
        return len(self.table)

    def given_to(self, run: Callable) -> Callable:
        """`run`, with the library having these sizes."""
        shared, table, lock = self.shared, self.table, self.shared.lock
        bind, where = shared.library.bind_sizes, address(table)

        @functools.wraps(run)
        def run_with_sizes(*inputs: Any) -> Any:
            with lock:
                if shared.table is not table:
                    bind(where)
                    shared.table = table
                return run(*inputs)

        return run_with_sizes


class _Family:
    """Programs that differ in numbers alone.

    Attributes:
        numbers: those of the first program
        differing: the places of those that were others in a later program
    """

    def __init__(self, numbers: list[str]):
        self.numbers = numbers
        self.differing: list[int] = []
        self._shared: Shared | None = None

    def includes(self, numbers: list[str]) -> bool:
        """Note in which numbers a program differs from the first; False where no program does."""
        found = {i for i, (a, b) in enumerate(zip(self.numbers, numbers, strict=True)) if a != b}
        self.differing = sorted(found.union(self.differing))
        return bool(self.differing)

    def shared(self, pieces: list[str]) -> Shared | None:
        """The library whose arguments the differing numbers are; None where C wants constants."""
        places = {at: k for k, at in enumerate(self.differing)}
        found = [pieces[0]]
        for i, (number, piece) in enumerate(zip(self.numbers, pieces[1:], strict=True)):
            found += [f"size{places[i]}" if i in places else number, piece]
        types = [_type(self.numbers[i]) for i in self.differing]
        text = _with_arguments("".join(found), types)
        if text is not None and (self._shared is None or self._shared.text != text):
            self._shared = Shared(text)
        return None if text is None else self._shared

    def table(self, numbers: list[str]) -> Array:
        """The numbers of a program that are arguments, eight bytes each."""
        values = [_value(numbers[i]) for i in self.differing]
        wide = [np.float64(x) if type(x) is float else np.uint64(x) for x in values]
        return np.array([x.view(np.uint64) for x in wide])


def _value(number: str) -> int | float:
    if _type(number) in ("float", "double"):
        return float(number.removesuffix("f"))
    return int(re.sub(r"U?INT64_C\((\d+)\)", r"\1", number))


def _type(number: str) -> str:
    """The type in C of a number as it is written."""
    if number.startswith("UINT"):
        return "uint64_t"
    if number.endswith("f"):
        return "float"
    return "double" if re.search(r"[.e]", number) else "int64_t"


def _with_arguments(text: str, types: list[str]) -> str | None:
    """A C file in whose functions the sizes are declared; None where they cannot be."""
    lines: list[str] = []
    tables: dict[str, str] = {}  # of numbers, which C wants to be constants where they stand
    head = None  # the line at which the function begins that is read
    for line in text.splitlines():
        table = _TABLE.match(line)
        if table is not None and _NAME.search(line):
            tables[table[1]] = line.removeprefix("static ")
            continue
        if _FUNCTION.match(line):
            head = len(lines)
        elif head is None and _NAME.search(line):
            return None
        lines.append(line)
        if line == "}" and head is not None:
            lines[head + 1 : head + 1] = _declared(lines[head:], tables, types)
            head = None
    first = next(i for i, line in enumerate(lines) if _FUNCTION.match(line))
    return "\n".join([*lines[:first], *_PLACE, *lines[first:], ""])


_PLACE = """\
/* What depends on the sizes of tensors, eight bytes each */
static const void *sizes;
void bind_sizes(const void *table) { sizes = table; }
""".splitlines()


def _declared(lines: list[str], tables: dict[str, str], types: list[str]) -> list[str]:
    """Declarations of what a function takes from the table."""
    body = "\n".join(lines)
    mine = [line for name, line in tables.items() if re.search(rf"\b{name}\b", body)]
    used = sorted({int(x[4:]) for x in _NAME.findall("\n".join([body, *mine]))})
    declared = []
    for k in used:
        stored = types[k] if types[k].endswith("64_t") else "double"
        declared.append(f"const {types[k]} size{k} = ((const {stored} *)sizes)[{k}];")
    return [f"    {line}" for line in [*declared, *mine]]
