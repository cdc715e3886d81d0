"""Small pieces of HTML for notebooks: readable on light and on dark pages.

Colours are those of the page, with a shade of grey over it, so that nothing depends on a theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_CELL = "padding:2px 8px;border:0;background:transparent;white-space:pre;"
_BAR = "height:9px;background:#4c78c9;"
_LINE = "border-bottom:1px solid rgba(128,128,128,.45);"


def page_table(
    head: str,
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    n_text: int,
    note: str = "",
    bars: Sequence[float] = (),
) -> str:
    """A table with a line above it; its first `n_text` columns are text, the others numbers.

    `bars` are parts of one, drawn at the end of each row.

    >>> from tapegrad.inspect.rich import page_table
    >>> "<td" in page_table("Two", ["name", "n"], [["a", "1"]], n_text=1)
    True
    """

    def cell(tag: str, i: int, text: str, line: str = "") -> str:
        side = "left" if i < n_text else "right"
        return f'<{tag} style="{_CELL}{line}text-align:{side}">{escape(text)}</{tag}>'

    lines = ["".join(cell("th", i, title, _LINE) for i, title in enumerate(titles))]
    lines += ["".join(cell("td", i, text) for i, text in enumerate(row)) for row in rows]
    for i, share in enumerate(bars[: len(rows)]):
        lines[i + 1] += (
            f'<td style="{_CELL}"><div style="{_BAR}width:{80 * share:.0f}px"></div></td>'
        )
    body = "".join(f'<tr style="background:transparent">{line}</tr>' for line in lines)
    return (
        f'<div style="font-size:12px;overflow-x:auto"><div style="margin:4px 0"><b>{escape(head)}'
        '</b></div><table style="border-collapse:collapse;font-family:monospace;font-size:12px;'
        f'margin:0">{body}</table>{escape(note)}</div>'
    )


def page_text(text: str) -> str:
    """Text as it is printed, its columns kept."""
    style = "font:12px/1.35 monospace;white-space:pre;margin:0;background:transparent;"
    style += "overflow-x:auto"
    return f'<pre style="{style}">{escape(text)}</pre>'
