"""What was measured: the task, its times, and how they are printed."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tapegrad.settings import get_num_threads, set_num_threads

__all__ = ["Measurement", "TaskSpec", "ordered_unique", "select_unit", "set_torch_threads",
           "trim_sigfig", "unit_to_english"]  # fmt: skip

_MAX_DIGITS = 4
_LEAST_INTERVAL_S = 25e-9  # no clock is better than that
_Z_90 = 1.645  # half the width of a 90 % interval of a normal distribution, in deviations
_ABOUT_UNSTEADY = 0.1
_UNSTEADY = 0.25

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
_ENGLISH = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


@dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """A statement, its setup, and what it is called in tables."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """Its label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        name = f" ({self.sub_label})" if self.sub_label else ""
        return f"stmt:{name}\n{_indented(self.stmt)}"

    def setup_str(self) -> str:
        if self.setup == "pass" or not self.setup:
            return ""
        if "\n" in self.setup:
            return f"setup:\n{_indented(self.setup)}"
        return f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup; a blank line after what has several lines."""
        sections = [s for s in (self.title, self.description or "", self.setup_str()) if s]
        return "\n".join(f"{s}\n" if "\n" in s else s for s in sections)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


@dataclass(init=True, repr=False)
class Measurement:
    """Times of a statement, and what they say.

    Args:
        number_per_run: how often the statement ran for each of `raw_times`.
        raw_times: seconds.
        task_spec: what ran.

    >>> from tapegrad.utils.benchmark import Measurement, TaskSpec
    >>> task = TaskSpec("x.sum()", "pass", label="Sum")
    >>> m = Measurement(10, [1e-3, 1.1e-3, 1.2e-3], task)
    >>> print(m.median, m.title)
    0.00011 Sum
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        """What the task knows: `stmt`, `label`, `num_threads` and so on."""
        spec = self.__dict__.get("task_spec")
        if name[:2] != "__" and spec is not None and hasattr(spec, name):
            return getattr(spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """Seconds of a single run."""
        return [t / self.number_per_run for t in self.raw_times]

    @cached_property
    def _sorted(self) -> np.ndarray:
        return np.array(sorted(self.times), np.float64)

    @property
    def median(self) -> float:
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        return math.fsum(self.times) / len(self.times) if self.raw_times else -1.0

    @property
    def iqr(self) -> float:
        """The interquartile range: the middle half of the times lies in it."""
        return self._quantile(0.75) - self._quantile(0.25)

    def _quantile(self, q: float) -> float:
        return float(np.quantile(self._sorted, q)) if self.raw_times else -1.0

    @property
    def significant_figures(self) -> int:
        """Digits of the median that are worth printing.

        As many as the interval leaves fixed that has the mean with 90 % of confidence, going by the
        middle half of the times: the slowest ones are other programs' doing.
        """
        n = len(self.raw_times)
        middle = self._sorted[n // 4 : math.ceil(3 * n / 4)]
        deviation = float(np.std(middle)) / math.sqrt(len(middle))
        interval = max(_Z_90 * deviation, _LEAST_INTERVAL_S)
        digits = math.floor(math.log10(self.median / interval))
        return min(max(digits, 1), _MAX_DIGITS)

    @property
    def has_warnings(self) -> bool:
        """Whether the times vary so much that the median says little."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _ABOUT_UNSTEADY) -> bool:
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        return self.task_spec.title

    @property
    def env(self) -> str | None:
        return self.task_spec.env

    @property
    def as_row_name(self) -> str:
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        name = f"torch.utils.benchmark.utils.common.{type(self).__name__}"
        unit, scale = select_unit(self.median)
        n = len(self.raw_times)
        lines = [f"<{name} object at {hex(id(self))}>", self.task_spec.summarize()]
        median = f"{self.median / scale:.2f} {unit}"
        lines.append(f"  {median}" if n == 1 else f"  Median: {median}")
        low, high = self._quantile(0.25), self._quantile(0.75)
        if n >= 4:
            lines.append(
                f"  IQR:    {(high - low) / scale:.2f} {unit} "
                f"({low / scale:.2f} to {high / scale:.2f})"
            )
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        plural = ("s", "per measurement") if n > 1 else ("", "")
        lines.append(
            f"  {n} measurement{plural[0]}, {self.number_per_run} runs {plural[1]}, {threads}"
        )
        if n > 1 and self.has_warnings:
            share = self.iqr / self.median
            reason = (
                "This suggests significant environmental influence."
                if share >= _UNSTEADY
                else "This could indicate system fluctuation."
            )
            lines.append(
                f"  WARNING: Interquartile range is {share:.1%} of the median measurement.\n"
                f"           {reason}"
            )
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable["Measurement"]) -> list["Measurement"]:
        """One measurement for each task, with all its times."""
        times: dict[TaskSpec, list[float]] = {}
        for each in measurements:
            times.setdefault(each.task_spec, []).extend(each.times)
        return [Measurement(1, found, task) for task, found in times.items()]


def select_unit(t: float) -> tuple[str, float]:
    """The unit for a time in seconds, and its length.

    >>> from tapegrad.utils.benchmark import select_unit
    >>> select_unit(2e-6)
    ('us', 1e-06)
    """
    thousands = int(math.log10(t) // 3) if t > 0 else 0
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(thousands, "s")
    return unit, _UNITS[unit]


def unit_to_english(u: str) -> str:
    """The name of a unit.

    >>> from tapegrad.utils.benchmark import unit_to_english
    >>> unit_to_english("us")
    'microsecond'
    """
    return _ENGLISH[u]


def trim_sigfig(x: float, n: int) -> float:
    """`x` rounded to `n` digits, in single precision.

    >>> from tapegrad.utils.benchmark import trim_sigfig
    >>> trim_sigfig(123456, 2)
    120000.0
    """
    single = np.float32(x)
    magnitude = math.ceil(np.log10(np.abs(single)))
    scale = np.float32(10.0 ** (magnitude - n))
    return float(np.round(single / scale) * scale)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The elements, each once, in their order.

    >>> from tapegrad.utils.benchmark import ordered_unique
    >>> ordered_unique([3, 1, 3])
    [3, 1]
    """
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """`n` threads for operators inside the `with`."""
    before = get_num_threads()
    try:
        set_num_threads(n)
        yield
    finally:
        set_num_threads(before)
