"""Which of the user's functions a call runs, where not all that it might run can be watched.

What a function reads is looked for in all functions that it leads to. A model of a large library
leads to thousands, most of which save files or generate text: of such a call only those count that
ran in a call before. One that runs for the first time while a call is recorded is added, and a
later call is recorded.
"""

import sys
from types import CodeType, FrameType

from tapegrad.compiler.whose_code import is_library_module
from tapegrad.core.annotations import Any, Callable

_MOST_GROWN = 8  # calls in which functions ran for the first time


class CalledFunctions:
    """The code of the user's functions that have run in calls of `run`."""

    def __init__(self) -> None:
        self.codes: set[CodeType] = set()
        self._libraries: dict[str, bool] = {}  # modules by name
        self._n_grown = 0

    def __contains__(self, code: CodeType) -> bool:
        return code in self.codes

    def run(self, function: Callable, args: tuple, kwargs: dict) -> Any:
        """`function(*args, **kwargs)`; Python's profiling says which functions it runs."""
        before = sys.getprofile()
        if before is not None and not callable(before):  # one in C, which cannot be put back
            return function(*args, **kwargs)
        sys.setprofile(self._see)
        try:
            return function(*args, **kwargs)
        finally:
            sys.setprofile(before)

    def may_grow(self) -> bool:
        """Whether one more call may be recorded in vain: who makes functions anew always will."""
        self._n_grown += 1
        return self._n_grown <= _MOST_GROWN

    def add(self, frame: FrameType) -> bool:
        """Add the function of a frame; whether it is the user's, and new."""
        if frame.f_code in self.codes:
            return False
        name = frame.f_globals.get("__name__", "")
        found = self._libraries.get(name)
        if found is None:
            found = self._libraries[name] = is_library_module(name)
        if found:
            return False
        self.codes.add(frame.f_code)
        return True

    def _see(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            self.add(frame)
