"""An entry of the reference: signature, docstring, derivatives, and where it is declared."""

import inspect
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
INHERITED = "tapegrad.nn.modules.module", "tapegrad.optim.optimizer"


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
    call = (
        f"{name.rpartition('.')[2]}{found.replace(parameters=bare, return_annotation=found.empty)}"
    )
    if len(call) > COLUMNS:
        head, _, rest = call.partition("(")
        options = {"initial_indent": "    ", "subsequent_indent": "    ", "break_long_words": False}
        call = f"{head}(\n{textwrap.fill(rest[:-1], COLUMNS, **options)}\n)"
    return f"```python\n{call}\n```"


def _methods(value: type) -> Iterator[str]:
    """A list of the public methods that a class declares itself, or its bases of the same file."""
    items = []
    for name in sorted(dir(value)):
        method = inspect.getattr_static(value, name)
        method = getattr(method, "__func__", method)
        about = inspect.getdoc(method)
        ours = getattr(method, "__module__", "") or ""
        if name[0] != "_" and inspect.isfunction(method) and about and name != "forward":
            if ours.startswith("tapegrad") and ours not in INHERITED:
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
    """A link to the declaration."""
    declared = declaration(value)
    declared = declared.fget if isinstance(declared, property) else declared
    try:
        file, (_, line) = inspect.getsourcefile(declared), inspect.getsourcelines(declared)
    except (OSError, TypeError):  # made by Python or in a line of another
        return ""
    if file is None or not Path(file).is_relative_to(SOURCE):
        return ""
    shown = escape(str(Path(file).relative_to(SOURCE)))
    return f"Declared in [{shown}, line {line}]({_address(file, line, source)})."


def _address(file: str, line: int, source: str) -> str:
    return f"{source}/src/tapegrad/{Path(file).relative_to(SOURCE)}#L{line}"
