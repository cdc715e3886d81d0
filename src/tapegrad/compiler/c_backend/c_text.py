"""C source as a table of definitions, of which a program takes those it needs.

A definition is what begins at the left margin after an empty line or a closing brace, with the
comment before it. What it needs are the names of other definitions that occur in it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_TYPES = {"f32": "float", "f64": "double"}
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_ATTRIBUTE = re.compile(r"__attribute__\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


@dataclass
class Definition:
    """A function, a table, a type or a macro."""

    name: str
    text: str
    needs: set[str] = field(default_factory=set)


class Library:
    """Definitions by name, in the order in which a compiler has to read them.

    >>> from tapegrad.compiler.c_backend.c_text import Library
    >>> library = Library("static int one(void) { return 1; }\\n"
    ...                   "static int zero(void) { return 0; }\\n"
    ...                   "static int two(void) { return one() + one(); }\\n")
    >>> print(library.source(["two"]))
    static int one(void) { return 1; }
    static int two(void) { return one() + one(); }
    """

    def __init__(self, text: str, below: "Library | None" = None):
        self.definitions: dict[str, Definition] = {}
        if below is not None:
            self.definitions.update(below.definitions)
        mine = list(_definitions(text))
        self.definitions.update({each.name: each for each in mine})
        for each in mine:
            words = set(_WORD.findall(_COMMENT.sub("", each.text))) - {each.name}
            each.needs = words & self.definitions.keys()

    def needed(self, names: Iterable[str]) -> set[str]:
        """`names`, and all that they need."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.definitions[name].needs
        return found

    def source(self, names: Iterable[str]) -> str:
        """The text of `names` and of all that they need."""
        found = self.needed(names)
        return "\n".join(each.text for name, each in self.definitions.items() if name in found)


def of_type(text: str, suffix: str) -> str:
    """A text about `real` numbers as one about float ("f32") or double ("f64")."""
    text = re.sub(r"_real\b", f"_{suffix}", text)
    return re.sub(r"\breal\b", _TYPES[suffix], text)


def _definitions(text: str) -> Iterable[Definition]:
    """Cut a text where a line at the margin begins a definition."""
    chunk: list[str] = []
    is_in_comment = is_open = False
    for line in text.splitlines():
        if not line.strip():
            if not is_open and not is_in_comment and all(_is_comment(x) for x in chunk):
                chunk = []  # a heading, or nothing
            continue
        if line.startswith("#include"):
            continue
        chunk.append(line)
        if is_in_comment or line.startswith("/*"):
            is_in_comment = "*/" not in line
            continue
        is_open = not _ends(line, is_open)
        if not is_open:
            yield Definition(_name_of(chunk), "\n".join(chunk))
            chunk = []
    if any(not _is_comment(x) for x in chunk):
        raise ValueError(f"a definition that does not end: {chunk[0]}")


def _is_comment(line: str) -> bool:
    return line.startswith(("/*", "   "))


def _ends(line: str, is_open: bool) -> bool:
    if line.startswith("#define"):
        return not line.endswith("\\")
    code = _COMMENT.sub("", line).rstrip()
    if is_open and code.startswith((" ", "\t")):
        return False
    return code.endswith(("}", "};")) or (code.endswith(";") and not code.startswith(" "))


def _name_of(chunk: list[str]) -> str:
    """What is defined: a macro, or the last name before a bracket, a value or the end."""
    code = _ATTRIBUTE.sub("", _COMMENT.sub("", "\n".join(chunk))).strip()
    if code.startswith("#define"):
        return code.split()[1].partition("(")[0]
    if code.startswith("typedef"):
        pointer = re.search(r"\(\*(\w+)\)", code)
        return pointer[1] if pointer else _WORD.findall(code)[-1]
    names = _WORD.findall(re.split(r"[(\[=;]", code, maxsplit=1)[0])
    if not names:
        raise ValueError(f"a definition without a name: {code.splitlines()[0]}")
    return names[-1]
