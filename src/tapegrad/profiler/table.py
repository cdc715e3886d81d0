"""The table of a profile, laid out to the character as PyTorch's."""

from __future__ import annotations

from math import log10
from typing import Any

from tapegrad.profiler.event import format_time

_WIDTH = 12  # of a column of numbers
_SPACE = "  "  # after each column
_MEMORY_UNITS = (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10))
_FLOPS_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
_TIME_UNITS = {"s": 1e-6, "ms": 1e-3, "us": 1.0}


def format_memory(n_bytes: int) -> str:
    """A number of bytes with its unit."""
    for unit, size in _MEMORY_UNITS:
        if abs(n_bytes) >= size:
            return f"{n_bytes / size:.2f} {unit}"
    return f"{n_bytes} B"


def format_share(time_us: float, total_us: float) -> str:
    """A part of the whole, in per cent."""
    return f"{time_us * 100.0 / total_us:.2f}%" if total_us else "NaN"


class Layout:
    """How the table is laid out; `text` prints a list of events with it."""

    def __init__(
        self,
        *,
        row_limit: int,
        source_width: int,
        name_width: int,
        shapes_width: int,
        header: str | None,
        top_level_only: bool,
        time_unit: str | None,
        memory: bool,
        flops: bool,
    ):
        self.row_limit = row_limit
        self.source_width = source_width
        self.name_width = name_width
        self.shapes_width = shapes_width
        self.header = header
        self.top_level_only = top_level_only
        self.time_unit = time_unit
        self.memory = memory
        self.flops = flops

    def time(self, time_us: float) -> str:
        if self.time_unit not in _TIME_UNITS:
            return format_time(time_us)
        return f"{time_us * _TIME_UNITS[self.time_unit]:.3f}{self.time_unit}"

    def text(self, events: list[Any]) -> str:
        if not events:
            return ""
        columns = self._columns(events)
        rule = "".join("-" * width + _SPACE for _, width, _, _ in columns)
        titles = "".join(align(title, width) + _SPACE for title, width, align, _ in columns)
        lines = []
        double = "=" * (len(rule) - len(_SPACE))
        if self.header is not None:
            lines += [double, self.header]
        if self.top_level_only:
            lines += [double, "This report only display top-level ops statistics"]
        lines += [rule, titles, rule]
        for event in self._rows(events):
            lines += _lines([cell(event) for *_, cell in columns], columns)
        total = sum(event.self_cpu_time_total for event in events)
        lines += [rule, f"Self CPU time total: {self.time(total)}", ""]
        return "\n".join(lines)

    def _rows(self, events: list[Any]) -> list[Any]:
        if self.top_level_only:
            events = [event for event in events if event.cpu_parent is None]
        return events if self.row_limit < 0 else events[: self.row_limit]

    def _columns(self, events: list[Any]) -> list[tuple]:
        """Title, width, on which side text stands, and what a cell says of an event."""
        total = sum(event.self_cpu_time_total for event in events)
        width = min(max(len(event.key) for event in events) + 4, self.name_width)
        columns: list[tuple] = [
            ("Name", width, self._name),
            ("Self CPU %", _WIDTH, lambda e: format_share(e.self_cpu_time_total, total)),
            ("Self CPU", _WIDTH, lambda e: self.time(e.self_cpu_time_total)),
            ("CPU total %", _WIDTH, lambda e: format_share(e.cpu_time_total, total)),
            ("CPU total", _WIDTH, lambda e: self.time(e.cpu_time_total)),
            ("CPU time avg", _WIDTH, lambda e: self.time(e.cpu_time)),
        ]
        if self.memory:
            columns += [
                ("CPU Mem", _WIDTH, lambda e: format_memory(e.cpu_memory_usage)),
                ("Self CPU Mem", _WIDTH, lambda e: format_memory(e.self_cpu_memory_usage)),
            ]
        columns.append(("# of Calls", _WIDTH, lambda e: str(e.count)))
        if any(event.input_shapes for event in events):
            longest = max(len(str(event.input_shapes)) for event in events)
            columns.append(("Input Shapes", min(longest + 4, self.shapes_width), self._shapes))
        found = [(title, width, str.rjust, cell) for title, width, cell in columns]
        longest = max((len(line) for event in events for line in event.stack or ()), default=0)
        if longest:
            width = min(longest + 4, self.source_width)
            found.append(("Source Location", width, str.ljust, lambda e: _sources(e, width)))
        if self.flops:
            found += _flops_column(events)
        return found

    def _name(self, event: Any) -> str:
        name = event.key
        cut = self.name_width - 3
        return name[:cut] + "..." if len(name) >= cut else name

    def _shapes(self, event: Any) -> str:
        return str(event.input_shapes)[: self.shapes_width]


def _sources(event: Any, width: int) -> list[str]:
    """A line for each function, and one more to end them."""
    return [_end_of(line, width) for line in (*(event.stack or ("",)), "")]


def _end_of(text: str, width: int) -> str:
    """The end of a text that is longer than a column: of a path, its file."""
    return text if len(text) <= width else "..." + text[len(text) - width + 3 :]


def _lines(cells: list[Any], columns: list[tuple]) -> list[str]:
    """A row as lines: cells are texts, and the sources a list of them."""
    n = max(len(cell) if isinstance(cell, list) else 1 for cell in cells)
    lines = []
    for i in range(n):
        line = ""
        for cell, (_, width, align, _) in zip(cells, columns, strict=True):
            text = cell[i] if isinstance(cell, list) else cell if i == 0 else ""
            line += align(text, width) + _SPACE
        lines.append(line)
    return lines


def _flops_column(events: list[Any]) -> list[tuple]:
    """The column of operations, in the unit of the smallest; none if nothing was counted."""
    counted = [event.flops for event in events if event.flops and event.flops > 0]
    if not counted:
        return []
    step = min(int(log10(min(counted)) / 3), len(_FLOPS_UNITS) - 1)
    scale = 1000.0**step

    def cell(event: Any) -> str:
        return f"{event.flops / scale:.3f}" if event.flops and event.flops > 0 else "--"

    return [(f"Total {_FLOPS_UNITS[step]}", _WIDTH, str.rjust, cell)]
