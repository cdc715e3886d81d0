"""A picture of bytes over time: areas of several colours, one on top of the other."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT, LEFT, TOP = 640, 220, 64, 24
_LEGEND = 230
_STYLE = "<style>svg{color:#1c2430}@media (prefers-color-scheme: dark){svg{color:#e6e9ef}}</style>"


def size(n_bytes: float) -> str:
    """A number of bytes with its unit.

    >>> from tapegrad.inspect.areas import size
    >>> size(999), size(4000), size(2.5e6)
    ('999 B', '3.9 KiB', '2.4 MiB')
    """
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(n_bytes) >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes:.0f} B"


def areas(
    layers: Sequence[tuple[str, str, Sequence[float]]],
    *,
    places: Sequence[float],
    title: str,
    below: str,
    inline: bool = False,
) -> str:
    """The picture as SVG, with a line at its peak.

    Args:
        layers: of each area its label, its colour, and its bytes at the places.
        places: where on the line from left to right, growing.
        title: what the picture is of.
        below: what stands under the line.
        inline: as dark or light as the page around it; otherwise, as the reader's screen.
    """
    totals = [sum(values) for values in zip(*(layer[2] for layer in layers), strict=True)]
    top = max(max(totals), 1)
    drawn = [layer for layer in layers if any(layer[2])]
    width, bottom = LEFT + WIDTH + _LEGEND, TOP + HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 34}" '
        f'width="{width}" height="{bottom + 34}" role="img" fill="currentColor" '
        f'font-size="12" font-family="system-ui,sans-serif">{"" if inline else _STYLE}',
        f"<title>{escape(title)}</title>",
        *_polygons(drawn, places, top),
        *_lines(_across(places, places[totals.index(max(totals))]), max(totals), top, below),
        *_legend(drawn),
    ]
    return "".join(parts) + "</svg>"


def _across(places: Sequence[float], place: float) -> float:
    return LEFT + WIDTH * (place - places[0]) / max(places[-1] - places[0], 1)


def _polygons(layers: Sequence[tuple], places: Sequence[float], top: float) -> list[str]:
    def edge(values: list[float]) -> list[str]:
        points = [(places[0], values[0])]
        for i in range(1, len(values)):  # a line keeps its height until it changes
            points += [(places[i], values[i - 1]), (places[i], values[i])]
        return [
            f"{_across(places, x):.1f},{TOP + HEIGHT - HEIGHT * held / top:.1f}"
            for x, held in points
        ]

    parts = []
    below = [0.0] * len(places)
    for label, color, values in layers:
        above = [a + b for a, b in zip(below, values, strict=True)]
        around = " ".join(edge(above) + edge(below)[::-1])
        parts.append(
            f'<polygon points="{around}" fill="{color}"><title>{escape(label)}</title></polygon>'
        )
        below = above
    return parts


def _lines(peak_at: float, peak: float, top: float, below: str) -> list[str]:
    right, bottom = LEFT + WIDTH, TOP + HEIGHT
    line, text = '<line stroke="currentColor"', "<text"
    return [
        f'{line} x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>',
        f'{line} x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{bottom}"/>',
        f'{line} stroke-dasharray="4 3" x1="{peak_at:.1f}" y1="{TOP - 6}" '
        f'x2="{peak_at:.1f}" y2="{bottom}"/>',
        f'{text} x="{peak_at:.1f}" y="{TOP - 10}" text-anchor="middle">peak {size(peak)}</text>',
        f'{text} x="{LEFT - 6}" y="{bottom}" text-anchor="end">0</text>',
        f'{text} x="{LEFT - 6}" y="{TOP + 10}" text-anchor="end">{size(top)}</text>',
        f'{text} x="{(LEFT + right) / 2}" y="{bottom + 22}" text-anchor="middle">'
        f"{escape(below)}</text>",
    ]


def _legend(layers: Sequence[tuple]) -> list[str]:
    parts = []
    right = LEFT + WIDTH
    for number, (label, color, _) in enumerate(layers):
        y = TOP + 18 * number
        parts.append(f'<rect x="{right + 14}" y="{y}" width="11" height="11" fill="{color}"/>')
        parts.append(f'<text x="{right + 31}" y="{y + 10}">{escape(label)}</text>')
    return parts
