"""An entry of the reference: signature, docstring, derivatives, and where it is declared."""

import inspect
import re
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import tapegrad
from tapegrad.inspect.rule_text import RuleText
from tapegrad.inspect.where import declaration, operators_of
from tools.site.docstring import markdown, prose
from tools.site.names import Entry, Page

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(tapegrad.__file__).parent
COLUMNS = 76  # of a signature, before it is scrolled
MANY = 4  # operators behind a function: of more, only the names stand there
BASES = tapegrad.nn.Module, tapegrad.optim.Optimizer  # whose methods stand there alone


def text(page: Page, homes: dict[str, str], source: str) -> str:
    """The Markdown of a page; `homes` says on which page a name is, `source` is where files are."""
    parts = [f"# {page.title}", markdown(page.about)]
    for entry in page.entries:
        parts += entry_of(entry, source)
    if page.others:
        parts.append("## Other names")
        parts.append("| name | described under |\n|---|---|")
        parts[-1] += "".join(
            f"\n| `{name}` {{ #{name} }} | [`{known}`](/{homes[known]}#{known}) |"
            for name, known in sorted(page.others.items(), key=lambda each: each[0].lower())
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def overview(pages: list[Page]) -> str:
    """The Markdown of the page that leads to all others."""
    count = sum(len(page.entries) + len(page.others) for page in pages)
    rows = [
        f"| [{page.title}](/{page.path}) | {len(page.entries)} | "
        f"{prose(page.about.partition(chr(10) * 2)[0]).replace(chr(10), ' ')} |"
        for page in pages
    ]
    return (
        "# Reference\n\n"
        f"{count} public names, by PyTorch's modules. An entry has what a name computes, its "
        "shapes and errors, an example that the tests run, the derivatives of its operators as "
        "they stand in the source, what the graph keeps for each, and the line of its "
        "declaration.\n\n"
        "[The operators](/reference/operators.md) is the same from the other side: every operator "
        "in one table, what differs from PyTorch, and what is missing.\n\n"
        "| page | names described | about |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def entry_of(entry: Entry, source: str) -> Iterator[str]:
    """What is said of one name."""
    name, value = entry
    yield f"## `{name}` {{ #{name} }}"
    yield signature(name, value)
    yield markdown(inspect.getdoc(value) or "") if _is_documented(value) else f"`{value!r}`"
    if inspect.isclass(value):
        yield from _methods(value)
    yield derivatives(value, source)
    yield _link(value, source)


def _is_documented(value: Any) -> bool:
    """Whether the docstring is of the thing itself, and not of its class."""
    return callable(value) or inspect.isdatadescriptor(value)


def signature(name: str, value: Any) -> str:
    """How it is called, as a block of code; nothing where Python does not know."""
    if not callable(value):
        return ""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    bare = [each.replace(annotation=each.empty) for each in found.parameters.values()]
    arguments = found.replace(parameters=bare, return_annotation=found.empty)
    call = f"{name.rpartition('.')[2]}{arguments}"
    if len(call) > COLUMNS:
        head, _, rest = call.partition("(")
        options = {"initial_indent": "    ", "subsequent_indent": "    ", "break_long_words": False}
        call = f"{head}(\n{textwrap.fill(rest[:-1], COLUMNS, **options)}\n)"
    return f"```python\n{call}\n```"


def _methods(value: type) -> Iterator[str]:
    """A list of the public methods of a class, but for those that all layers or optimisers have."""
    items = []
    bases = [base for base in BASES if issubclass(value, base) and value is not base]
    for name in sorted(dir(value)):
        method = inspect.getattr_static(value, name)
        inherited = any(inspect.getattr_static(base, name, None) is method for base in bases)
        method = getattr(method, "__func__", method)
        about = inspect.cleandoc(method.__doc__ or "")
        ours = (getattr(method, "__module__", None) or "").startswith("tapegrad")
        if name[0] != "_" and inspect.isfunction(method) and about and ours and not inherited:
            items.append(f"- `{name}()`: {prose(about.partition(chr(10) * 2)[0])}")
    if items:
        yield "**Methods**"
        yield "\n".join(item.replace("\n", " ") for item in items)


def derivatives(value: Any, source: str) -> str:
    """The rules of the operators behind a function, as formulas where they are ones."""
    operators = operators_of(value) if callable(value) else []
    if not operators:
        return ""
    if len(operators) > MANY:
        return "**Operators:** " + ", ".join(f"`{op.name}`" for op in operators) + "."
    rows = [row for op in operators for row in _rules(op, source)]
    if not rows:
        return "**Derivative:** none."
    return (
        "**Derivatives**, `g` being the cotangent of the output `y`:\n\n"
        "| operator | gradient of | rule | kept for it |\n|---|---|---|---|\n" + "\n".join(rows)
    )


def _rules(op: Any, source: str) -> Iterator[str]:
    for name, rule in op.vjps.items():
        written = RuleText(name, rule.function)
        kept = [each for each in rule.names if each != "xp" and not op.is_cotangent(each)]
        place = f"[source]({_address(written.file, written.line, source)})"
        shown = written.formula.replace("|", "&#124;") or place
        if "<mfrac>" not in shown:  # or they are as high as the row of the table
            shown = shown.replace("<mo>(", '<mo stretchy="false">(')
            shown = shown.replace("<mo>)", '<mo stretchy="false">)')
        cells = [f"`{op.name}`", f"`{name}`", shown, ", ".join(f"`{k}`" for k in kept) or "nothing"]
        yield f"| {' | '.join(cells)} |"


def _link(value: Any, source: str) -> str:
    """A link to the declaration; nothing for what a line of another thing makes."""
    declared = declaration(value)
    declared = declared.fget if isinstance(declared, property) else declared
    try:
        file, line = inspect.getsourcefile(declared), inspect.getsourcelines(declared)[1]
    except (OSError, TypeError):
        file, line = None, 0
    if file is None or not Path(file).is_relative_to(SOURCE):  # PyTorch's, where that is loaded
        file, line = _by_its_methods(declared)
    if file is None or not Path(file).is_relative_to(SOURCE):
        return ""
    shown = escape(str(Path(file).relative_to(SOURCE)))
    return f"Declared in [{shown}, line {line}]({_address(file, line, source)})."


def _by_its_methods(declared: Any) -> tuple[str | None, int]:
    """Where a class stands that goes by the name of a module of PyTorch: where its methods do."""
    for method in vars(declared).values() if inspect.isclass(declared) else ():
        code = getattr(inspect.unwrap(getattr(method, "__func__", method)), "__code__", None)
        if code is not None and Path(code.co_filename).is_relative_to(SOURCE):
            text = Path(code.co_filename).read_text(encoding="utf-8")
            if found := re.search(rf"^class {declared.__name__}\b", text, re.MULTILINE):
                return code.co_filename, text.count("\n", 0, found.start()) + 1
    return None, 0


def _address(file: str, line: int, source: str) -> str:
    return f"{source}/src/tapegrad/{Path(file).relative_to(SOURCE)}#L{line}"
