"""A record of memory as a table and as a picture."""

from __future__ import annotations

import os
from html import escape
from typing import Any

_ROWS = 30
_COLORS = ("#4c78c9", "#e08a3c", "#4fa36b", "#c75b7a", "#8a6fc2", "#2a9d9d", "#9a9a9a")
_WIDTH, _HEIGHT, _LEFT, _TOP = 640, 220, 64, 24
_STYLE = "<style>svg{color:#1c2430}@media (prefers-color-scheme: dark){svg{color:#e6e9ef}}</style>"
_POINTS = 400  # of the picture: more changes than that are thinned out


def size(n_bytes: float) -> str:
    """A number of bytes with its unit.

    >>> from tapegrad.inspect.memory_picture import size
    >>> size(999), size(4000), size(2.5e6)
    ('999 B', '3.9 KiB', '2.4 MiB')
    """
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(n_bytes) >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes:.0f} B"


def _place(maker: Any) -> str:
    where = "" if maker.place is None else f"{os.path.basename(maker.place[0])}:{maker.place[1]}"
    return "  ".join(part for part in (where, maker.module) if part)


def _head(memory: Any) -> str:
    return (
        f"Peak {size(memory.peak)}; kept for backward {size(memory.total_kept)}; "
        f"alive at the end {size(memory.left)}"
    )


def _rows(memory: Any) -> tuple[list[list[str]], int]:
    """The rows that matter, the largest at the peak first, and how many there are besides."""
    makers = [m for m in memory.makers if m.made or m.kept]
    makers.sort(key=lambda m: (-m.at_peak, -m.kept, -m.made))
    rows = [
        [m.name, _place(m), str(m.calls), size(m.made), size(m.kept), size(m.at_peak)]
        for m in makers[:_ROWS]
    ]
    return rows, max(len(makers) - _ROWS, 0)


_TITLES = ["Operator", "Where", "Calls", "Made", "Kept for backward", "Alive at peak"]


def table(memory: Any) -> str:
    """The record as text."""
    rows, more = _rows(memory)
    widths = [max(map(len, column)) for column in zip(_TITLES, *rows, strict=True)]
    lines = [_head(memory), ""]
    for number, row in enumerate([_TITLES, *rows]):
        cells = [
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
        if number == 0:
            lines.append("  ".join("-" * width for width in widths))
    return "\n".join(lines + ([f"... and {more} more"] if more else []))


def html(memory: Any) -> str:
    """The picture, and the table below it."""
    from tapegrad.inspect.rich import page_table

    rows, more = _rows(memory)
    note = f"... and {more} more" if more else ""
    return svg(memory, inline=True) + page_table(_head(memory), _TITLES, rows, n_text=2, note=note)


def svg(memory: Any, *, inline: bool = False) -> str:
    """Bytes alive over time, stacked by the operators that had most of them at one time.

    Text and lines are dark or light as the reader's screen; `inline`, as the page around them.
    """
    names: dict[str, int] = {}
    for maker in memory.makers:
        names[maker.name] = names.get(maker.name, 0) + maker.at_peak
    most = _most(memory)
    shown = sorted(most, key=lambda name: -most[name])[: len(_COLORS) - 1]
    layers = [*shown, "others"]
    colors = [*_COLORS[: len(shown)], _COLORS[-1]]
    curves = _curves(memory, layers)
    n, top = len(curves[0]), max(memory.peak, 1)
    right, bottom = _LEFT + _WIDTH, _TOP + _HEIGHT

    def at(i: float, held: float) -> str:
        return f"{_LEFT + _WIDTH * i / max(n - 1, 1):.1f},{bottom - _HEIGHT * held / top:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 230} {bottom + 34}" '
        f'width="{right + 230}" height="{bottom + 34}" role="img" fill="currentColor" '
        f'font-size="12" font-family="system-ui,sans-serif">{"" if inline else _STYLE}',
        f"<title>{escape(_head(memory))}</title>",
    ]
    below = [0.0] * n
    for layer, curve, color in zip(layers, curves, colors, strict=True):
        above = [a + b for a, b in zip(below, curve, strict=True)]
        edge = [at(i, v) for i, v in _steps(above)]
        edge += [at(i, v) for i, v in reversed(_steps(below))]
        if any(curve):
            parts.append(
                f'<polygon points="{" ".join(edge)}" fill="{color}"><title>{escape(layer)}'
                f"</title></polygon>"
            )
        below = above
    peak = _LEFT + _WIDTH * memory.peak_at / max(len(memory.changes), 1)
    parts += [
        f'<line stroke="currentColor" x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>',
        f'<line stroke="currentColor" x1="{_LEFT}" y1="{_TOP}" x2="{_LEFT}" y2="{bottom}"/>',
        f'<line stroke="currentColor" stroke-dasharray="4 3" x1="{peak:.1f}" y1="{_TOP - 6}" '
        f'x2="{peak:.1f}" y2="{bottom}"/>',
        f'<text x="{peak:.1f}" y="{_TOP - 10}" text-anchor="middle">'
        f"peak {size(memory.peak)}</text>",
        f'<text x="{_LEFT - 6}" y="{bottom}" text-anchor="end">0</text>',
        f'<text x="{_LEFT - 6}" y="{_TOP + 10}" text-anchor="end">{size(top)}</text>',
        f'<text x="{(_LEFT + right) / 2}" y="{bottom + 22}" text-anchor="middle">'
        "arrays made and freed, in order</text>",
    ]
    present = [each for each in zip(layers, curves, colors, strict=True) if any(each[1])]
    for number, (layer, _, color) in enumerate(present):
        y = _TOP + 18 * number
        share = f" {size(names[layer])}" if names.get(layer) else ""
        parts.append(f'<rect x="{right + 14}" y="{y}" width="11" height="11" fill="{color}"/>')
        text = escape(layer.removeprefix("aten::") + share)
        parts.append(f'<text x="{right + 31}" y="{y + 10}">{text}</text>')
    return "".join(parts) + "</svg>"


def _steps(values: list[float]) -> list[tuple[int, float]]:
    """Points of a line that keeps its height until it changes."""
    points = [(0, values[0])]
    for i in range(1, len(values)):
        points += [(i, values[i - 1]), (i, values[i])]
    return points


def _most(memory: Any) -> dict[str, int]:
    """The most bytes of each operator that were alive at one time."""
    held: dict[str, int] = {}
    most: dict[str, int] = {}
    for maker, n_bytes in memory.changes:
        name = maker.name
        held[name] = held.get(name, 0) + n_bytes
        most[name] = max(most.get(name, 0), held[name])
    return most


def _curves(memory: Any, layers: list[str]) -> list[list[float]]:
    """For each layer of the picture, the bytes alive after each change, or each of some."""
    n = len(memory.changes)
    wanted = {round(i * n / _POINTS) for i in range(_POINTS + 1)} if n > _POINTS else None
    place = {name: i for i, name in enumerate(layers)}
    held = [0.0] * len(layers)
    curves: list[list[float]] = [[0.0] for _ in layers]
    for number, (maker, n_bytes) in enumerate(memory.changes, 1):
        held[place.get(maker.name, len(layers) - 1)] += n_bytes
        if wanted is None or number in wanted or number == memory.peak_at:
            for curve, value in zip(curves, held, strict=True):
                curve.append(value)
    return curves
