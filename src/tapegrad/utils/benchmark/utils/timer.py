"""Timer: runs a statement often enough to say how long it takes."""

import itertools
import sys
import timeit
from collections.abc import Callable
from enum import Enum
from textwrap import dedent
from timeit import default_timer as timer
from typing import Any, NoReturn

import numpy as np

import tapegrad
from tapegrad.core import errors
from tapegrad.utils.benchmark.utils.common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]


class Language(Enum):
    """The language of a statement."""

    PYTHON = 0
    CPP = 1


def _language(given: Language | str) -> Language:
    names = {"py": Language.PYTHON, "python": Language.PYTHON, "c++": Language.CPP,
             "cpp": Language.CPP}  # fmt: skip
    found = given if isinstance(given, Language) else names.get(str(given).lower())
    if found is None:
        raise errors.value_error(f"Invalid language `{given}`.", "Statements are Python.")
    if found is Language.CPP:
        raise errors.not_implemented(
            "torch.utils.benchmark.Timer: statements in C++ cannot be compiled",
            "There is no C++ here to call: time the Python that does the same.",
        )
    return found


class Timer:
    """A statement to be timed, as Python's `timeit`; with `torch` at hand, on a single thread.

    Args:
        stmt: the statement.
        setup: runs once before each measurement.
        timer: gives the time in seconds.
        globals: names that the statement uses.
        label, sub_label, description, env: what it is called in tables of `Compare`.
        num_threads: threads for operators.
        language: Python; there is no C++ to be timed here.

    >>> from tapegrad.utils.benchmark import Timer
    >>> measurement = Timer("x.sum()", "x = torch.ones(3)").timeit(100)
    >>> measurement.median > 0
    True
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise errors.value_error(
                "Currently only a `str` stmt is supported.", "Pass the text of the statement."
            )
        self._language = _language(language)
        if global_setup:
            raise errors.value_error(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can "
                "simply be moved to `setup`.",
                "Move it to setup.",
            )
        stmt, setup = _dedented(stmt), _dedented(setup)
        self._globals = {"torch": tapegrad, **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer, self._globals)
        self._clock = timer
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        # a clock of its own may stand still
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of `number` runs, in one go, after a few to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return Measurement(number, [self._timeit(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        raise errors.not_implemented(
            "See `Timer.blocked_autorange.`", "It chooses both numbers itself."
        )

    def autorange(self, callback: Any = None) -> NoReturn:
        raise errors.not_implemented(
            "See `Timer.blocked_autorange.`", "It chooses the number of runs itself."
        )

    def _block_size(self, min_run_time: float) -> int:
        """Runs in a block, such that asking for the time is a thousandth of it or less."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(1)  # the first run loads what the statement needs
            overhead = float(np.median([self._timeit(0) for _ in range(5)]))
            number = 1
            while True:
                taken = self._timeit(number)
                if taken > min_run_time / 1000 and overhead / taken <= 1e-4:
                    return number
                if taken > min_run_time:
                    return number
                number *= 10

    def _blocks(
        self,
        number: int,
        is_done: Callable[[list[float]], bool],
        callback: Callable[[int, float], Any] | None,
    ) -> list[float]:
        times: list[float] = []
        with set_torch_threads(self._task_spec.num_threads):
            while not is_done(times):
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
        return times

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Times of blocks of runs until they come to `min_run_time` seconds together."""
        number = self._block_size(min_run_time)
        times = self._blocks(number, lambda times: sum(times) >= min_run_time, callback)
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Times of blocks until they vary little, their interquartile range by the median.

        At least `min_run_time` seconds, at most about `max_run_time`.
        """
        number = self._block_size(0.05)
        looks = itertools.count()

        def is_done(times: list[float]) -> bool:
            total = sum(times)
            if total > max_run_time:
                return True
            if len(times) < 4 or total < min_run_time or next(looks) % 3:
                return False
            return Measurement(number, times, self._task_spec).meets_confidence(threshold)

        return Measurement(number, self._blocks(number, is_done, callback), self._task_spec)

    def collect_callgrind(self, *arguments: Any, **options: Any) -> NoReturn:
        """Instruction counts: refused, for Callgrind counts those of a C++ library."""
        raise OSError(
            "torch.utils.benchmark.Timer.collect_callgrind: instructions are not counted here\n"
            "Use blocked_autorange, or run Valgrind on the whole program "
            f"({sys.executable})."
        )


def _dedented(text: str) -> str:
    """Without the indentation that a text in triple quotes has, nor empty lines around it."""
    text = dedent(text)
    while text[:1] == "\n":
        text = text[1:]
    return dedent(text).rstrip()
