"""Memory by operator: what calls make and save, and who was alive at the peak.

Arrays are followed from the operator that made them until Python frees them; the graph keeps some
of them for the backward pass. What was there before the block is not counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape

import numpy as np

from tapegrad.arrays.numpy.memory_pool import watch
from tapegrad.autograd import lifetime
from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.trace import Trace, frames_here
from tapegrad.core.annotations import Any, NodeLike
from tapegrad.profiler.names import node_title, title_of

WIDTH, HEIGHT, LEFT, TOP = 640, 220, 64, 24
_LEGEND = 230
_STYLE = "<style>svg{color:#1c2430}@media (prefers-color-scheme: dark){svg{color:#e6e9ef}}</style>"


def size(n_bytes: float) -> str:
    """A number of bytes with its unit.

    >>> from tapegrad.inspect.memory import size
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


class Maker:
    """An operator, or the node of one, called in one line of the user's file.

    Attributes:
        name: `aten::mul`, or `MulBackward0`.
        place: file and line, None where it is not known.
        module: the layer that was being called, `Net.body.0`; "" outside layers.
        calls: how often.
        made: bytes of the arrays that it made, those of all calls.
        kept: bytes that its nodes keep for the backward pass, each array once and with the first
            that keeps it; the memory of leaves, such as parameters, is not counted.
        at_peak: bytes of its arrays that were alive at the peak.
    """

    def __init__(self, name: str, place: tuple[str, int] | None, module: str):
        self.name, self.place, self.module = name, place, module
        self.calls = self.made = self.kept = self.at_peak = 0

    def __repr__(self) -> str:
        return f"{self.name}: {self.calls} calls made {self.made:,} bytes, keep {self.kept:,}"


class Memory:
    """What `memory` gives: a table as text, a picture, and the figures themselves.

    Attributes:
        makers: a `Maker` for each operator and line, in the order in which they came.
        changes: what happened, in order: a maker and the bytes it made, less than nought when
            they were freed.
        peak: the most bytes that were alive at one time.
        peak_at: after how many changes that was.
        total_kept: bytes that nodes kept for the backward pass.
        left: bytes that were alive at the end of the block.
    """

    def __init__(self) -> None:
        self.makers: list[Maker] = []
        self.changes: list[tuple[Maker, int]] = []
        self.peak = self.peak_at = self.left = 0

    @property
    def total_kept(self) -> int:
        return sum(maker.kept for maker in self.makers)

    def finish(self) -> None:
        """Find the peak and who was alive at it."""
        held = 0
        for number, (_, n_bytes) in enumerate(self.changes, 1):
            held += n_bytes
            if held > self.peak:
                self.peak, self.peak_at = held, number
        self.left = held
        for maker, n_bytes in self.changes[: self.peak_at]:
            maker.at_peak += n_bytes

    def __str__(self) -> str:
        return table(self)

    __repr__ = __str__

    def svg(self) -> str:
        """The picture: bytes alive over time, by the operators that made them."""
        return svg(self)

    def _repr_html_(self) -> str:
        return html(self)


class _Books:
    """Which arrays are alive, and who made them."""

    def __init__(self, report: Memory):
        self.report = report
        self.lives = lifetime.Lives(self._freed)
        self.kept: set[int] = set()
        self.makers: dict[tuple, Maker] = {}
        self.open = True

    def maker(self, name: str) -> Maker:
        modules: list = []
        trace = Trace(frames_here(modules), None, modules)
        key = (name, trace.line(), trace.module)
        found = self.makers.get(key)
        if found is None:
            found = self.makers[key] = Maker(*key)
            self.report.makers.append(found)
        found.calls += 1
        return found

    def born(self, maker: Maker, array: np.ndarray) -> None:
        """Note an array, if it is new."""
        if self.lives.born(array, (maker, id(array))):
            self.report.changes.append((maker, array.nbytes))
            maker.made += array.nbytes

    def _freed(self, note: tuple[Maker, int], n_bytes: int) -> None:
        maker, key = note
        self.kept.discard(key)
        if self.open:
            self.report.changes.append((maker, -n_bytes))

    def keeps(self, maker: Maker, node: NodeLike) -> None:
        """Note what a node keeps."""
        leaves = {
            id(lifetime.owner(edge.array)) for edge in node.edges if type(edge) is AccumulateGrad
        }
        for array in lifetime.saved_arrays(node):
            if id(array) in leaves or id(array) in self.kept:
                continue
            if self.lives.note(array) is not None:  # made here: forgotten when it is freed
                self.kept.add(id(array))
            maker.kept += array.nbytes


class _Weighing(Layered):
    """Follows the arrays that operators and nodes make, on top of another mode."""

    __slots__ = given = ("books",)
    books: _Books

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, _ = args
        given = lifetime.ids(lifetime.owners(list(inputs)))
        result = self.below(name, function, args, kwargs)
        maker = self.books.maker(title_of(name, op))
        node = lifetime.node_behind(result)
        kept = [] if node is None else lifetime.saved_arrays(node)
        for array in (*lifetime.owners(result), *kept):
            if id(array) not in given:  # no view
                self.books.born(maker, array)
        if node is not None:
            self.books.keeps(maker, node)
        return result

    def backward_node(self, node: NodeLike, function: Callable, args: tuple) -> Any:
        given = lifetime.ids(lifetime.owners(args[1])) | lifetime.ids(lifetime.saved_arrays(node))
        result = super().backward_node(node, function, args)
        maker = self.books.maker(node_title(type(node).__name__))
        for array in lifetime.made_by_node(node, given, result):
            self.books.born(maker, array)
        return result


@contextmanager
def memory() -> Iterator[Memory]:
    """A block in which memory is watched: what operators make and keep, the peak, who is in it.

    The result prints as a table, one row for each operator and line; in a notebook it is the table
    and a picture. Arrays that no operator made, such as data that is read and parameters, are not
    counted; what operators make and drop while they run is not seen.

    >>> model = torch.nn.Sequential(torch.nn.Linear(100, 50), torch.nn.Tanh())
    >>> x = torch.ones(10, 100)
    >>> with tapegrad.inspect.memory() as seen:
    ...     y = model(x)
    >>> [(maker.name, maker.module, maker.made) for maker in seen.makers]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('aten::t', 'Sequential.0', 0),
     ('aten::addmm', 'Sequential.0', 2000),
     ('aten::tanh', 'Sequential.1', 2000)]
    >>> seen.peak
    4000
    """
    report = Memory()
    books = _Books(report)
    watch(books)
    token = MODE.set(_Weighing(MODE.get(), books))
    try:
        yield report
    finally:
        MODE.reset(token)
        watch(books, on=False)
        books.open = False
        report.finish()


_ROWS = 30
_COLORS = ("#4c78c9", "#e08a3c", "#4fa36b", "#c75b7a", "#8a6fc2", "#2a9d9d", "#9a9a9a")
_POINTS = 400  # of the picture: more changes than that are thinned out


def _place(maker: NodeLike) -> str:
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
    from tapegrad.inspect.notebook import page_table

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
