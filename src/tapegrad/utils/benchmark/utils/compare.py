"""Compare: measurements side by side, in tables."""

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from math import ceil, log10
from typing import Any

from tapegrad.utils.benchmark.utils.common import (
    Measurement,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

__all__ = ["Colorize", "Compare"]

_BEST, _GOOD = "\033[92m\033[1m", "\033[34m\033[1m"
_BAD, _WORST = "\033[2m\033[91m", "\033[31m\033[1m"
_NOISE_S = 1e-7
_PLAIN = "\033[0m\033[0m"


class Colorize(Enum):
    """Whether colours compare the times of a column, of a row, or none."""

    NONE = auto()
    COLUMNWISE = auto()
    ROWWISE = auto()


class Compare:
    """Tables of measurements: one for each label, with sub-labels as rows, descriptions as columns.

    >>> from tapegrad.utils.benchmark import Compare, Measurement, TaskSpec
    >>> def measured(n, name, s):
    ...     task = TaskSpec("f(x)", "pass", label="Sum", sub_label=f"n={n}", description=name)
    ...     return Measurement(1, [s], task)
    >>> table = Compare([measured(1, "f", 1e-6), measured(1, "g", 2e-6), measured(9, "f", 3e-6)])
    >>> print(str(table).splitlines()[3])
          n=1  |  1.0  |  2.0
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trims = False
        self._colorize = Colorize.NONE
        self._warns = False

    def __str__(self) -> str:
        by_label: dict[str | None, list[Measurement]] = {}
        for each in Measurement.merge(self._results):
            by_label.setdefault(each.label, []).append(each)
        return "\n".join(self._table(results) for results in by_label.values())

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements to those there are."""
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(
                    f"Expected an instance of `Measurement`, got {type(each)} instead."
                )
            self._results.append(each)

    def trim_significant_figures(self) -> None:
        """Print no more digits than the measurements support."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Green for the best and those nearly as good, red for the slowest."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark times that vary much."""
        self._warns = True

    def print(self) -> None:
        """Print the tables."""
        print(self)

    def _table(self, results: Sequence[Measurement]) -> str:
        unit, scale = select_unit(min(each.median for each in results))
        rows = ordered_unique((r.num_threads, r.env or "", r.as_row_name) for r in results)
        rows.sort(key=lambda row: row[:2])
        columns = ordered_unique(r.description or "" for r in results)
        found = {((r.num_threads, r.env or "", r.as_row_name), r.description or ""): r
                 for r in results}  # fmt: skip
        texts = {c: self._column([found.get((row, c)) for row in rows], scale) for c in columns}
        widths = {c: max(map(len, [c, *texts[c]])) for c in columns}
        names = _row_names(rows)
        first = max(map(len, names))

        def line(name: str, cells: Iterable[str]) -> str:
            return "  |  ".join([f"  {name.ljust(first)}", *cells])

        head = line("", [c.center(widths[c]) for c in columns])

        body = []
        threads = None
        for i, row in enumerate(rows):
            if row[0] != threads:
                threads = row[0]
                body.append(f"{threads} threads: ".ljust(len(head), "-"))
            cells = []
            for c in columns:
                text = texts[c][i].center(widths[c])
                mine = found.get((row, c))
                cells.append(text if mine is None else self._colored(text, mine, row, c, found))
            body.append(line(names[i], cells))
        title = f" {results[0].label or ''} ".center(len(head) - 2, "-")
        foot = ["", f"Times are in {unit_to_english(unit)}s ({unit})."]
        if self._warns and any(each.has_warnings for each in results):
            foot.append(
                "(! XX%) Measurement has high variance, where XX is the IQR / median * 100."
            )
        return "\n".join([f"[{title}]", head, *body, *foot, ""])

    def _column(self, results: Sequence[Measurement | None], scale: float) -> list[str]:
        """The texts of a column, with as many digits as each of its times is worth."""
        there = [r for r in results if r is not None]
        digits = 1
        if self._trims:
            digits = min(r.significant_figures - ceil(log10(r.median / scale)) for r in there)
        texts = []
        for each in results:
            if each is None:
                texts.append("")
                continue
            value = each.median / scale
            if self._trims:
                value = trim_sigfig(value, each.significant_figures)
            texts.append(f"{value:.{max(digits, 0)}f}")
        width = max(map(len, texts))
        texts = [text.rjust(width) for text in texts]
        if not self._warns or not any(each.has_warnings for each in there):
            return texts
        for i, each in enumerate(results):
            if each is not None and each.has_warnings:
                texts[i] += f" (! {each.iqr / each.median * 100:.0f}%)"
            else:
                texts[i] += " " * 7
        return texts

    def _colored(
        self, text: str, mine: Measurement, row: tuple, column: str, found: dict[Any, Measurement]
    ) -> str:
        if self._colorize is Colorize.NONE:
            return text
        if self._colorize is Colorize.ROWWISE:
            rivals = [r.median for (other, _), r in found.items() if other == row]
        else:
            rivals = [r.median for (other, c), r in found.items()
                      if c == column and other[0] == row[0]]  # fmt: skip
        best = min(rivals)
        color = _color(mine.median / best, mine.median - best)
        return f"{color}{text}{_PLAIN}" if color else text


def _color(ratio: float, distance: float) -> str:
    """The colour of a time, by how it is to the best one."""
    if ratio <= 1.01 or distance <= _NOISE_S:
        return _BEST
    if ratio <= 1.1:
        return _GOOD
    if ratio < 2:
        return ""
    return _BAD if ratio <= 5 else _WORST


def _row_names(rows: Sequence[tuple]) -> list[str]:
    """The names of rows, after those of their environments."""
    width = max(len(env) for _, env, _ in rows)
    names = []
    before: Any = None
    for threads, env, name in rows:
        shown = f"({env})" if env and (threads, env) != before else ""
        before = threads, env
        names.append(f"{shown.ljust(width + 2)}  {name}")
    return names
