"""The page of all operators, docs/reference/operators.md, from the registry and two files.

How the page begins is in operators_page.md, where tapegrad is not PyTorch in the package's
compat/differences.toml.

python -m tools.operators_page              write the page
python -m tools.operators_page --check      1 if the page is not what would be written
"""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tapegrad.compat.doctor import notes
from tapegrad.dispatch.op import REGISTRY, Op, Rule
from tapegrad.operators.loading import load_operators
from tools.pytorch_names import HOMES, full_names, functions, home_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "operators.md"
INTRODUCTION = Path(__file__).with_suffix(".md")
NOTES = notes()
COLUMNS = [
    "operator",
    "computes",
    "kind",
    "node",
    "reverse: what is kept",
    "forward: what is needed",
    "kernels",
]
FAMILIES = ("tapegrad.operators.", "tapegrad.nn.functional.")


def cell(names: list[str]) -> str:
    """Names as code, in one cell of a table."""
    return ", ".join(f"`{name}`" for name in names)


def signature(op: Op) -> str:
    """The arguments as the forward function names them."""
    inputs = [f"*{name}" if op.variadic else name for name in op.inputs]
    separator = [] if op.variadic or not op.params else ["*"]
    return f"{op.name}({', '.join([*inputs, *separator, *op.params])})"


def kept(op: Op, rule: Rule) -> str:
    """The arrays a rule asks for, besides the cotangent or the tangent."""
    arrays = {*op.inputs, *(op.output_names or ()), "y"}
    names = [f"`{name}`" for name in rule.names if name in arrays]
    likes = [name for name in rule.names if name.endswith("_like")]
    names += [f"shape of `{name.removesuffix('_like')}`" for name in likes]
    return ", ".join(names) or "nothing"


def rules(op: Op, table: dict[str, Rule]) -> str:
    """For each input that has a rule, what the rule asks for; inputs that ask alike together."""
    groups: dict[str, list[str]] = {}
    for name in op.inputs:
        if name in table:
            groups.setdefault(kept(op, table[name]), []).append(name)
    return "; ".join(f"{cell(names)}: {what}" for what, names in groups.items())


def row(op: Op) -> str:
    """The row of one operator."""
    reverse, forward = rules(op, op.vjps), rules(op, op.jvps)
    if op.kind == "constant":
        reverse = forward = "none"
    elif op.kind == "linear":
        forward = "the operator itself"
    elif op.jvps == op.vjps:
        forward = "the reverse rules"
    node = "" if op.kind == "constant" else op.node_name
    cells = [
        f"`{signature(op)}`",
        sentence(op.forward),
        op.kind,
        node,
        reverse,
        forward,
        cell(list(op.kernels)),
    ]
    return f"| {' | '.join(cells)} |"


def sentence(documented: Any) -> str:
    """The first line of a docstring, without its last point, for the cell of a table."""
    line = documented.__doc__.strip().splitlines()[0]
    return line.removesuffix(".").replace("|", r"\|")


def subject(module: Any) -> str:
    """What a file is about: the first sentence of its docstring."""
    return re.split(r"\. |; ", sentence(module))[0]


def is_in_place_form(owner: Any, name: str) -> bool:
    """Whether `name` only writes what another function computes."""
    return hasattr(getattr(owner, name), "out_of_place") or (
        name.endswith("_") and hasattr(owner, name[:-1])
    )


def public_names() -> dict[str, list[str]]:
    """For each file, the public functions that it has, each under the first of its homes."""
    found: dict[str, list[str]] = {}
    seen = set()
    for home in HOMES:
        owner = home_of(home, "tapegrad")
        for name in functions(owner):
            function = getattr(owner, name)
            known = (function, name) in seen or is_in_place_form(owner, name)
            seen.add((function, name))
            if function.__module__.startswith(FAMILIES) and not known:
                found.setdefault(function.__module__, []).append(f"{home}.{name}")
    return found


def families() -> Iterator[str]:
    """A section for each file with operators, then a table of the files without."""
    load_operators()
    by_file: dict[str, list[Op]] = {}
    for op in REGISTRY.values():
        if op.forward.__module__.startswith(FAMILIES):  # a test may have declared others
            by_file.setdefault(op.forward.__module__, []).append(op)
    public = public_names()
    yield "## The operators, family by family\n"
    for file in sorted(by_file):
        names = cell(public.get(file, [])) or "what other files need"
        yield f"### {subject(import_module(file))}\n"
        yield f"{link(file)}: {names}.\n"
        yield f"| {' | '.join(COLUMNS)} |"
        yield "|---" * len(COLUMNS) + "|"
        yield from map(row, sorted(by_file[file], key=place))
        yield ""
    yield "## Functions composed of these operators\n"
    yield "| functions | file | what it is about |"
    yield "|---|---|---|"
    for file in sorted(public.keys() - by_file.keys()):
        yield f"| {cell(public[file])} | {link(file)} | {subject(import_module(file))} |"
    yield ""


def place(op: Op) -> tuple[int, str]:
    """Where an operator stands in its file; several may be made at one place."""
    return op.forward.__code__.co_firstlineno, op.name


def link(file: str) -> str:
    """A link to a source file, from the page."""
    path = f"src/{file.replace('.', '/')}.py"
    return f"[{path.removeprefix('src/tapegrad/')}](../../{path})"


def exists(name: str) -> bool:
    """Whether tapegrad has what PyTorch calls `name`."""
    home, _, last = name.rpartition(".")
    return hasattr(home_of(home, "tapegrad"), last)


def left_out(name: str) -> str | None:
    """The group of functions that tapegrad leaves out on purpose and `name` belongs to, if any."""
    last = name.rpartition(".")[2]
    for group, pattern in NOTES["left_out"].items():
        if re.search(pattern["names"], last):
            return group
    return None


def lacking() -> list[str]:
    """PyTorch's public functions that tapegrad lacks, without those left out on purpose."""
    return [name for name in full_names() if not exists(name) and not left_out(name)]


def rows(name: str, text: str, notes: dict[str, str]) -> Iterator[str]:
    """A table of notes by the names of functions."""
    yield f"| {name} | {text} |"
    yield "|---|---|"
    for key, note in sorted(notes.items()):
        yield f"| `{key}` | {note} |"
    yield ""


def differences() -> Iterator[str]:
    """What gives other results than PyTorch's, and what is not there."""
    yield "## Where tapegrad differs from PyTorch\n"
    yield from rows("function", "difference", NOTES["different"])
    yield "Where PyTorch's numbers are not those of the definition, tapegrad's are:\n"
    yield from rows("function", "tapegrad and PyTorch", NOTES["faults"])
    yield "And of all functions:\n"
    for text in NOTES["everywhere"]:
        yield f"- {text}"
    yield "\n## What is missing\n"
    yield "Options of functions that tapegrad has. Each raises an error that says so.\n"
    yield from rows("function", "missing", NOTES["option"])
    yield "Functions. Asking for one is an error that names it.\n"
    yield "| function | instead |"
    yield "|---|---|"
    for name in lacking():
        yield f"| `{name}` | {NOTES['instead'].get(name, '')} |"
    yield ""
    packages = [name for name in NOTES["packages"] if not exists(name)]
    absent = f"There are no packages {cell(packages)}. " if packages else ""
    yield f"{absent}Left out of the table are:\n"
    for group, pattern in NOTES["left_out"].items():
        yield f"- {group}: {pattern['text']}"
    yield ""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION.read_text(encoding="utf-8"), *families(), *differences()])


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` compare it with what is there."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    text = page()
    if arguments:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(
            "docs/reference/operators.md is out of date: python -m tools.operators_page",
            file=sys.stderr,
        )
        return 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
