"""A docstring of the house as Markdown."""

import re
import textwrap
from collections.abc import Iterator

LABEL = re.compile(r"(Args|Attributes|Note|Raises|Returns|Shapes?|Source|Yields):(?: |$)")
ITEM = re.compile(r"(\*{0,2}\w[\w, *.]*):(?: (.*))?$")


def markdown(text: str) -> str:
    """The docstring with its labels, lists, formulas and examples.

    >>> print(markdown("Twice `x`.\\n\\n    Shape: any (N,).\\n\\n    >>> 2 * 2\\n    4"))
    Twice `x`.
    <BLANKLINE>
    **Shape:** any (N,).
    <BLANKLINE>
    ```pycon
    >>> 2 * 2
    4
    ```
    """
    first, _, rest = text.strip().partition("\n")
    lines = [first, *textwrap.dedent(rest).rstrip().splitlines()]
    return "\n\n".join(part for block in _blocks(lines) for part in _block(block))


def prose(text: str) -> str:
    """Text in which only what stands between backticks means something to Markdown."""
    parts = re.split(r"(``.*?``|`[^`]*`)", text, flags=re.DOTALL)
    for i in range(0, len(parts), 2):
        escaped = parts[i].replace("&", "&amp;").replace("<", "&lt;")
        parts[i] = re.sub(r"([\\*_\[\]])", r"\\\1", escaped)
    return "".join(parts)


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines that belong together: what no empty line, and no label or example, parts."""
    block: list[str] = []
    for line in lines:
        starts = LABEL.match(line) or (
            line.lstrip().startswith(">>> ") and block and not _is_example(block)
        )
        listed = block and LABEL.fullmatch(block[0]) and line.startswith(" ")
        if (not line.strip() or starts) and block and not listed:
            yield block
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield block


def _is_example(block: list[str]) -> bool:
    return block[0].lstrip().startswith(">>> ")


def _block(block: list[str]) -> Iterator[str]:
    """The Markdown of one block."""
    if _is_example(block):
        code = textwrap.dedent("\n".join(block))
        yield "```pycon\n" + re.sub(r" *# doctest: .*", "", code) + "\n```"
    elif LABEL.fullmatch(block[0]):
        yield f"**{block[0]}**"
        yield _list(textwrap.dedent("\n".join(block[1:])).splitlines())
    elif label := LABEL.match(block[0]):
        text = " ".join([block[0][label.end() :], *(line.strip() for line in block[1:])])
        yield f"**{label[1]}:** {prose(text.strip())}"
    elif all(line.startswith("    ") for line in block):
        yield "```text\n" + textwrap.dedent("\n".join(block)) + "\n```"
    else:
        yield prose("\n".join(line.strip() for line in block))


def _list(lines: list[str]) -> str:
    """A list of what has a name, or a paragraph of what has none."""
    items: list[str] = []
    for line in lines:
        item = None if line.startswith(" ") else ITEM.match(line)
        if item:
            items.append(f"- `{item[1]}`: {prose(item[2] or '')}".rstrip())
        elif items:
            items[-1] += f" {prose(line.strip())}"
        else:
            items.append(prose(line.strip()))
    return "\n".join(items)
