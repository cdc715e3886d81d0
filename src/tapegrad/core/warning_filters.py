"""NumPy's warnings of numbers, which no program that computes with tensors is to see.

A kernel that divides by zero gives infinity, as PyTorch's does, without a word: NumPy's warning is
ignored by a filter. A program may put filters in front of it at any time, and pytest does for each
test that runs with `filterwarnings = error`: a division would raise there. To say in each call that
infinity is an answer (`numpy.errstate`) would cost three times as much as a small operator, and to
say it once (`numpy.seterr`) would silence the program's own arrays, and those of its first thread
alone. So the filter is put first again whenever `warnings` notes that its filters have changed.
What warns in modules other than tapegrad's, NumPy's functions in a program included, meets the
program's filters alone.
"""

import re
import warnings
from collections.abc import Callable
from typing import Any


class _Beginning:
    """What a filter asks of a text: to begin in one of these ways; made sooner than a pattern."""

    __slots__ = ("ways",)

    def __init__(self, *ways: str):
        self.ways = ways

    def match(self, text: str) -> bool:
        """What `warnings` calls, as of a pattern."""
        return text.startswith(self.ways)

    @property
    def pattern(self) -> str:
        """The same as text, for a program that makes its filters anew, in a worker for instance."""
        return "|".join(re.escape(way) for way in self.ways)


_OF_NUMBERS = _Beginning(
    *("divide by zero encountered", "overflow encountered", "underflow encountered"),
    *("invalid value encountered", "Mean of empty slice", "Degrees of freedom <= 0", "All-NaN "),
)
IGNORED = ("ignore", _OF_NUMBERS, RuntimeWarning, _Beginning("tapegrad."), 0)
"""Of NumPy's texts alone: a program's own warning may name a place in tapegrad, whom it called."""

_NOTES = ("_filters_mutated", "_filters_mutated_lock_held")
"""What `warnings` calls behind each change of its filters; the second since Python 3.14."""


def _put_first() -> None:
    filters: Any = warnings.filters
    if not filters or filters[0] is not IGNORED:
        filters[:] = [IGNORED, *(item for item in filters if item is not IGNORED)]


def _putting_first(note: Callable) -> Callable:
    def noted() -> None:
        _put_first()
        note()

    noted.puts_first = True  # type: ignore[attr-defined]
    return noted


def install() -> None:
    """Put the filter first, from now on."""
    for name in _NOTES:
        note = getattr(warnings, name, None)
        if note is not None and not hasattr(note, "puts_first"):
            setattr(warnings, name, _putting_first(note))
    # by the function that notes the change
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tapegrad\.")
