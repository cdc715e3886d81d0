"""A record of memory as a table and as a picture."""

from __future__ import annotations

import os
from typing import Any

from tapegrad.inspect.areas import areas, size

_ROWS = 30
_COLORS = ("#4c78c9", "#e08a3c", "#4fa36b", "#c75b7a", "#8a6fc2", "#2a9d9d", "#9a9a9a")
_POINTS = 400  # of the picture: more changes than that are thinned out


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
    at_peak: dict[str, int] = {}
    for maker in memory.makers:
        at_peak[maker.name] = at_peak.get(maker.name, 0) + maker.at_peak
    most = _most(memory)
    shown = sorted(most, key=lambda name: -most[name])[: len(_COLORS) - 1]
    places, curves = _curves(memory, [*shown, "others"])
    colors = [*_COLORS[: len(shown)], _COLORS[-1]]
    labels = [name.removeprefix("aten::") for name in shown]
    for i, name in enumerate(shown):
        labels[i] += f" {size(at_peak[name])}" if at_peak.get(name) else ""
    return areas(
        list(zip([*labels, "others"], colors, curves, strict=True)),
        places=places,
        title=_head(memory),
        below="arrays made and freed, in order",
        inline=inline,
    )


def _most(memory: Any) -> dict[str, int]:
    """The most bytes of each operator that were alive at one time."""
    held: dict[str, int] = {}
    most: dict[str, int] = {}
    for maker, n_bytes in memory.changes:
        name = maker.name
        held[name] = held.get(name, 0) + n_bytes
        most[name] = max(most.get(name, 0), held[name])
    return most


def _curves(memory: Any, layers: list[str]) -> tuple[list[int], list[list[float]]]:
    """Numbers of changes, all or some of them, and for each layer the bytes alive after them."""
    n = len(memory.changes)
    wanted = {round(i * n / _POINTS) for i in range(_POINTS + 1)} if n > _POINTS else None
    place = {name: i for i, name in enumerate(layers)}
    held = [0.0] * len(layers)
    numbers = [0]
    curves: list[list[float]] = [[0.0] for _ in layers]
    for number, (maker, n_bytes) in enumerate(memory.changes, 1):
        held[place.get(maker.name, len(layers) - 1)] += n_bytes
        if wanted is None or number in wanted or number == memory.peak_at:
            numbers.append(number)
            for curve, value in zip(curves, held, strict=True):
                curve.append(value)
    return numbers, curves
