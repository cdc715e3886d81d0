"""Progress of a loop: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any, Generic, TextIO, TypeVar

from tapegrad.tensors.tensor import Tensor

Item = TypeVar("Item")

_LIVE_S = 0.1  # between two drawings where the last one is drawn over
_LOG_S = 10.0  # between two lines where each one stays
_BAR_WIDTH = 24


def progress(
    iterable: Iterable[Item],
    title: str = "",
    *,
    total: int | None = None,
    every: float | None = None,
    file: TextIO | None = None,
) -> Progress[Item]:
    """Iterate over `iterable` and show how far that is, how fast, and what `show` was given.

    In a terminal it is a bar: one of the package rich if that is installed (the extra `rich`), else
    a line that is written over. In a notebook it is that line, too. Into a file or a pipe goes a
    line every ten seconds, and one at the end. A loop within a loop may have its own.

    Args:
        iterable: a DataLoader, a range, anything to loop over.
        title: what is written in front.
        total: how many items there are, where `len` does not say.
        every: seconds between two drawings.
        file: where to write, by default the standard output.

    >>> steps = progress(range(3), "train")
    >>> for step in steps:
    ...     steps.show(loss=torch.tensor(1 / (step + 1)))  # doctest: +ELLIPSIS
    train: 3 of 3 in ... s, .../s, loss 0.3333
    """
    return Progress(iterable, title, total=total, every=every, file=file)


class Progress(Generic[Item]):
    """What `progress` returns: iterate over it, and call `show` to have values shown.

    Attributes:
        n: items that were handed out and are done with.
        total: how many there are, None where that is not known.
        title: what is written in front.

    >>> import io
    >>> steps = Progress(range(3), file=io.StringIO())
    >>> sum(steps), steps.n, len(steps)
    (3, 3, 3)
    """

    def __init__(
        self,
        iterable: Iterable[Item],
        title: str = "",
        *,
        total: int | None = None,
        every: float | None = None,
        file: TextIO | None = None,
    ) -> None:
        if total is None:
            try:
                total = len(iterable)  # type: ignore[arg-type]
            except TypeError:
                total = None  # a generator, a data set that does not know
        self.n = 0
        self.total, self.title = total, title
        self._iterable = iterable
        self._every = every
        self._file = file
        self._values: dict[str, Any] = {}
        self._start = self._end = 0.0

    def __len__(self) -> int:
        if self.total is None:
            raise TypeError(f"object of type {type(self._iterable).__name__!r} has no len()")
        return self.total

    def show(self, **values: Any) -> None:
        """Have values shown behind the title: numbers, texts, tensors of one element.

        Those of the latest call are shown. A tensor's number is read only when it is drawn.
        """
        self._values = {
            name: value.detach() if isinstance(value, Tensor) else value
            for name, value in values.items()
        }

    def __iter__(self) -> Iterator[Item]:
        display, seconds = _display_for(self, self._file or sys.stdout)
        if self._every is not None:
            seconds = self._every
        self.n = 0
        self._values = {}
        self._start = drawn = perf_counter()
        complete = False
        try:
            for item in self._iterable:
                yield item
                self.n += 1
                now = perf_counter()
                if now - drawn >= seconds:
                    drawn = self._end = now
                    display.draw(self)
            complete = True
        finally:
            self._end = perf_counter()
            display.end(self, complete)

    def facts(self, end: bool = False, complete: bool = True) -> str:
        """What is known in words: `3 of 10, 2.5/s, 3 s left, loss 0.5`."""
        elapsed = self._end - self._start
        rate = self.n / elapsed if elapsed > 0 else 0.0
        count = f"{self.n:,}" if self.total is None else f"{self.n:,} of {self.total:,}"
        if end:
            count += f" in {_duration(elapsed)}"
        facts = [count, f"{_number(rate)}/s"]
        if not end and self.total is not None and 0 < self.n < self.total:
            facts.append(f"{_duration((self.total - self.n) / rate)} left")
        facts += [f"{name} {_number(value)}" for name, value in self._values.items()]
        if not complete:
            facts.append("stopped")
        return ", ".join(facts)


def _display_for(progress, file):
    """What draws, and how many seconds shall be between two drawings."""
    if _is_terminal(file):
        try:
            return _Bar(progress, file), _LIVE_S
        except ImportError:
            return _Line(file), _LIVE_S
    if type(file).__module__.startswith("ipykernel."):
        return _Line(file), _LIVE_S
    return _Log(file), _LOG_S


def _is_terminal(file):
    isatty = getattr(file, "isatty", None)
    return isatty is not None and isatty() and os.environ.get("TERM") != "dumb"


class _Log:
    """Lines that stay."""

    def __init__(self, file):
        self._file = file

    def draw(self, progress):
        print(_titled(progress, progress.facts()), file=self._file, flush=True)

    def end(self, progress, complete):
        print(_titled(progress, progress.facts(True, complete)), file=self._file, flush=True)


class _Line:
    """A line that is written over."""

    def __init__(self, file):
        self._file = file
        self._length = 0

    def draw(self, progress):
        text = _titled(progress, progress.facts())
        if progress.total:
            full = min(progress.n * _BAR_WIDTH // progress.total, _BAR_WIDTH)
            text = f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {text}"
        self._write(text, "")

    def end(self, progress, complete):
        self._write(_titled(progress, progress.facts(True, complete)), "\n")

    def _write(self, text, end):
        import shutil

        text = text[: shutil.get_terminal_size().columns - 1]  # a longer one could not be undone
        blank = " " * (self._length - len(text))
        self._length = len(text)
        print(f"\r{text}{blank}", end=end, file=self._file, flush=True)


class _Bar:
    """A bar of rich. Bars of loops within each other share one display."""

    _displays: dict[int, list] = {}  # noqa: RUF012  by the id of a file: the display, its bars

    def __init__(self, progress, file):
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Display

        self._key = id(file)
        shared = self._displays.get(self._key)
        if shared is None:
            display = Display(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[facts]}", markup=False),
                console=Console(file=file),
                auto_refresh=False,
            )
            display.start()
            shared = self._displays[self._key] = [display, 0]
        shared[1] += 1
        self._display = shared[0]
        self._task = self._display.add_task(progress.title, total=progress.total, facts="")

    def draw(self, progress):
        self._display.update(self._task, completed=progress.n, facts=progress.facts())
        self._display.refresh()

    def end(self, progress, complete):
        text = _titled(progress, progress.facts(True, complete))
        self._display.remove_task(self._task)
        self._display.console.print(text, markup=False, highlight=False)
        shared = self._displays[self._key]
        shared[1] -= 1
        if shared[1] == 0:
            del self._displays[self._key]
            self._display.stop()


def _titled(progress, facts):
    return f"{progress.title}: {facts}" if progress.title else facts


def _duration(seconds):
    """`0.25 s`, `12 s`, `3:05`, `1:02:03`."""
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 9.5 else f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _number(value):
    if isinstance(value, Tensor):
        value = value.item()
    return f"{value:.4g}" if isinstance(value, float) else str(value)
