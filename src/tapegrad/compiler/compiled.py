"""A function that is recorded, and afterwards runs as the program that came of it.

The first call runs as it is, the second is recorded, later ones run the program. Where what the
recorded call saw is not so any more, a call is recorded again; where no program can stand for a
call, the function runs as it is, and one warning says why.
"""

import functools
import warnings

from tapegrad.autograd.mode import EVERYWHERE, MODE, TRANSFORMS
from tapegrad.compiler.entry import MISS, Entry
from tapegrad.compiler.recording import Recording
from tapegrad.compiler.sources import Uncompilable, found_by
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.torch_function import IN_USE
from tapegrad.dispatch.autocast_state import STATE
from tapegrad.utils._pytree.tree import tree_leaves

MOST = 8  # programs of one function
_TRIES = 3  # calls that are recorded without success before the function stays as it is


class Compiled:
    """A function, and the programs that were made of calls of it.

    Attributes:
        compiled_function: the function as it was written
        entries: its programs, that of the last call first
        why_not: why it runs as it is; "" where it is compiled, or may be
    """

    def __init__(self, function: Callable, build: Callable, fullgraph: bool = False):
        functools.update_wrapper(self, function)
        self.compiled_function = function
        self.entries: list[Entry] = []
        self.why_not = ""
        self._build = build
        self._fullgraph = fullgraph
        self._calls = self._failures = 0
        self._given_up = False
        self._current: Any = None  # `call` of the program that ran last

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        mode = MODE.get()
        if (
            self._given_up
            or type(mode) is not bool
            or EVERYWHERE
            or IN_USE
            or TRANSFORMS.get() is not None
            or STATE.get() is not None
        ):
            return self.compiled_function(*args, **kwargs)
        for entry in self.entries:
            if entry.mode is mode:
                found = entry.call(args, kwargs)
                if found is not MISS:
                    return found
        return self._record(mode, args, kwargs)

    def _record(self, mode: bool, args: tuple, kwargs: dict) -> Any:
        function = self.compiled_function
        self._calls += 1
        if self._calls == 1:
            return function(*args, **kwargs)
        if len(self.entries) >= MOST:
            self._give_up(f"it was recorded {MOST} times, and each call differs")
            return function(*args, **kwargs)
        try:
            recording = Recording(found_by(function, tree_leaves((args, kwargs))))
            recording.check_tensors()
        except Uncompilable as error:
            self._failed(str(error))
            return function(*args, **kwargs)
        result = recording.run(lambda: function(*args, **kwargs))
        try:
            entry = Entry(function, recording, args, kwargs, self._build)
        except Uncompilable as error:
            if not recording.again:
                self._failed(str(error))
        else:
            entry.mode = mode
            self.entries.insert(0, entry)
        return result

    def _failed(self, why: str) -> None:
        self._failures += 1
        if not self.why_not:
            self.why_not = why
            name = getattr(self.compiled_function, "__qualname__", None)
            name = name or type(self.compiled_function).__name__
            if self._fullgraph:
                raise Uncompilable(f"{name} is not compiled: {why}")
            warnings.warn(f"{name} is not compiled and runs as it is: {why}", stacklevel=4)
        if self._failures >= _TRIES:
            self._given_up = True

    def _give_up(self, why: str) -> None:
        self._failures = _TRIES
        self._failed(why)
        self._given_up = True
