"""A function that is recorded, and afterwards runs as the program that came of it.

The first call runs as it is, the second is recorded, later ones run the program. Where what the
recorded call saw is not so any more, a call is recorded again; where no program can stand for a
call, the function runs as it is, and one warning says why.
"""

import functools
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from tapegrad.autograd.layered_mode import stripped
from tapegrad.autograd.mode import EVERYWHERE, MODE, TRANSFORMS, infers
from tapegrad.compiler.argument_questions import MISS
from tapegrad.compiler.arguments import leaves_of
from tapegrad.compiler.backends import Unsupported
from tapegrad.compiler.call_source import FAILED
from tapegrad.compiler.called_functions import CalledFunctions
from tapegrad.compiler.entry import Entry
from tapegrad.compiler.explanation import Explanation
from tapegrad.compiler.floats import Floats
from tapegrad.compiler.recording import Recording
from tapegrad.compiler.runner import wait_for
from tapegrad.compiler.sources import TooManyFunctions, Uncompilable, found_by
from tapegrad.compiler.state import COMPILED, STATE
from tapegrad.compiler.stores import Replaced
from tapegrad.compiler.varying import Varying
from tapegrad.compiler.worth import Worth
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import runtime_error
from tapegrad.core.tensor_base import TensorBase
from tapegrad.core.torch_function import MODES
from tapegrad.dispatch.autocast_state import STATE as AUTOCAST

MOST = 8  # programs of one function, not counting those for tensors of other sizes
MOST_SIZES = 64  # programs that are kept
_INFERENCE = "inference"  # in the place of a grad mode, of programs for inference mode
_TRIES = 3  # calls that are recorded without success before the function stays as it is


class Compiled:
    """A function, and the programs that were made of calls of it.

    Attributes:
        compiled_function: the function as it was written
        entries: its programs, that of the last call first
        why_not: why it runs as it is; "" where it is compiled, or may be
    """

    is_compiled = True

    def __init__(
        self,
        function: Callable,
        build: Callable,
        fullgraph: bool = False,
        at_once: bool = False,
        most: int = MOST,
        dynamic: bool = True,
    ):
        functools.update_wrapper(self, function)
        self.compiled_function = function
        self.entries: list[Entry] = []
        self.why_not = ""
        self._build = build
        self._fullgraph, self._at_once, self._most = fullgraph, at_once, most
        self._dynamic = dynamic
        self._calls = self._failures = 0
        self._worth = Worth()
        self._replaced = Replaced()
        self._floats, self._varying = Floats(), Varying()
        self._called: CalledFunctions | None = None  # where not all that it may run can be watched
        self._given_up = False
        COMPILED.add(self)

    def wait(self) -> None:
        """Wait until the C of all programs is compiled that is being compiled."""
        for entry in self.entries:
            wait_for(entry)
            wait_for(entry.joint)

    @property
    def source(self) -> str:
        """The program of the last call as text: C, or NumPy source; a second one is the backward.

        Raises: RuntimeError where nothing is compiled yet.
        """
        if not self.entries:
            raise runtime_error(
                f"{self._name()} is not compiled yet" + (f": {self.why_not}" * bool(self.why_not)),
                "The first call runs as it is, the second is recorded.",
            )
        entry = self.entries[0]
        runners = [entry.runner, *([entry.joint.runner] if entry.joint is not None else [])]
        return "\n".join(each.source for each in runners)

    def explain(self) -> Explanation:
        """What was made of this function: its programs, what they depend on, what stopped it.

        >>> f = torch.compile(lambda x: (x * 2).sum(), backend="numpy")
        >>> for _ in range(3):
        ...     y = f(torch.ones(4))
        >>> print(str(f.explain()).splitlines()[0])
        <lambda>: 1 program
        """
        return Explanation(self)

    def save(self, path: str | os.PathLike) -> None:
        """Write the program of the last call as a file that runs alone: `step.py` or `step.c`.

        Raises: RuntimeError where nothing is compiled yet, or the program calls what only tapegrad
        has.
        """
        from tapegrad.compiler.standalone import save

        if not self.entries:
            self.source  # noqa: B018  raises, and says why
        save(self.entries[0], path)

    def __reduce__(self) -> Any:
        options = self._build, self._fullgraph, self._at_once, self._most, self._dynamic
        return Compiled, (self.compiled_function, *options)

    def reset(self) -> None:
        """Forget all programs."""
        self.entries, self.why_not = [], ""
        self._calls = self._failures = 0
        self._worth, self._replaced, self._called = Worth(), Replaced(), None
        self._floats, self._varying = Floats(), Varying()
        self._given_up = False

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        mode = MODE.get()
        if self._given_up or STATE.stance == "force_eager":
            return self.compiled_function(*args, **kwargs)
        if type(mode) is not bool:
            if not infers(mode):
                return self._under_mode(mode, args, kwargs)
            mode = _INFERENCE
        if EVERYWHERE or MODES.get() or TRANSFORMS.get() is not None:
            return self.compiled_function(*args, **kwargs)
        if AUTOCAST.get() is not None:
            mode = _with_autocast(mode, AUTOCAST.get())
        for entry in self.entries:
            if entry.mode is mode or entry.mode == mode:
                found = entry.call(args, kwargs)
                if found is FAILED:
                    return self._failed_run(entry, args, kwargs)
                if found is not MISS:
                    if entry is not self.entries[0]:
                        self._put_first(entry)
                    return found
        return self._record(mode, args, kwargs)

    def _under_mode(self, mode: Any, args: tuple, kwargs: dict) -> Any:
        """A call while something takes part in calls: a profile has it as one event.

        Other modes see the operators of the function, which runs as it is.
        """
        from tapegrad.profiler.block import Profiling, _profiler_enabled, record_function

        plain = stripped(mode, Profiling)
        if type(plain) is not bool:
            return self.compiled_function(*args, **kwargs)
        if _profiler_enabled():
            from tapegrad.compiler.timed import time_parts

            for entry in self.entries:
                time_parts(entry)
        with record_function(f"Torch-Compiled Region: {self._name()}"):
            token = MODE.set(plain)
            try:
                return self(*args, **kwargs)
            finally:
                MODE.reset(token)

    def _record(self, mode: Any, args: tuple, kwargs: dict) -> Any:
        function = self.compiled_function
        if STATE.stance == "fail_on_recompile" and self.entries:
            raise runtime_error(
                f"Detected recompile when torch.compile stance is 'fail_on_recompile'. "
                f"{self._name()} was called with something else: {self._why_again()}",
                'torch.compiler.set_stance("default") lets it be recorded again.',
            )
        if STATE.stance == "eager_on_recompile" and self.entries:
            return function(*args, **kwargs)
        self._calls += 1
        self._floats.note(args, kwargs)
        if self._calls == 1 and not self._at_once:
            return function(*args, **kwargs)
        leaves = leaves_of(self._floats.rest(args, kwargs))
        plain = [x for x in leaves if not isinstance(x, TensorBase)]
        if self._is_too_often(plain):
            return function(*args, **kwargs)
        if self._dynamic and len(self.entries) >= MOST:
            sizes = tuple([x.shape if isinstance(x, TensorBase) else type(x) for x in leaves])
            if not self._worth.is_reached(sizes):
                return self._worth.run(sizes, function, args, kwargs)
        return self._recorded(mode, args, kwargs, plain)

    def _recorded(self, mode: Any, args: tuple, kwargs: dict, plain: list) -> Any:
        """What the function gives for a call of which a program is made; `plain`: no tensors."""
        function = self.compiled_function
        start = perf_counter()
        try:
            recording = Recording(self._found(args, kwargs), self._floats.places(args, kwargs))
            recording.check_tensors()
            recording.opened = self._replaced.among(recording.found.places)
        except TooManyFunctions:
            self._called = CalledFunctions()
            return self._called.run(function, args, kwargs)
        except Uncompilable as error:
            self._failed(str(error))
            return function(*args, **kwargs)

        def call() -> Any:
            given, named = recording.with_numbers(args, kwargs)
            found = function(*given, **named)
            cache.clear()
            return found

        with _fresh_cache() as cache:
            result = recording.run(call)
        try:
            self._varying.confirm(recording)
            entry = Entry(function, recording, args, kwargs, self._build)
        except Uncompilable as error:
            if recording.floats:
                self._floats.stay()  # each is a condition of a program of its own
            elif not recording.again:
                self._failed(str(error))
        else:
            entry.mode, entry.plain_arguments = mode, plain
            self._put_first(entry)
            self._worth.cost = perf_counter() - start
        recording.mark_new()
        return result

    def _found(self, args: tuple, kwargs: dict) -> Any:
        """What a call leads to; numbers that are others than before are inputs from now on."""
        given = self.compiled_function, (*args, *kwargs.values()), self._called, True
        found = found_by(*given, self._varying.places)
        if self._varying.look_at(found.numbers):
            found = found_by(*given, self._varying.places)
        return found

    def _failed_run(self, entry: Entry, args: tuple, kwargs: dict) -> Any:
        """A call whose program raised an error: the function raises its own, or stays alone."""
        result = self.compiled_function(*args, **kwargs)
        self.entries = [x for x in self.entries if x is not entry]
        error = entry.error
        self._failed(f"its program raised {type(error).__name__}: {error}, and it does not")
        return result

    def _put_first(self, entry: Entry) -> None:
        """Have an entry asked first; programs that were not used for long lose their memory."""
        others = [x for x in self.entries if x is not entry]
        self.entries = [entry, *others][:MOST_SIZES]
        for each in others[MOST - 1 :]:
            each.forget_memory()

    def _is_too_often(self, plain: list) -> bool:
        """Whether enough calls were recorded; then the function is left as it is.

        Programs for tensors of other sizes are not counted: they may be many.
        """
        others = self.entries
        if self._dynamic:
            others = [x for x in others if not x.is_of_another_size(plain)]
        if len(others) >= self._most:
            self._give_up(f"it was recorded {len(others)} times; last, {self._why_again()}")
            return True
        return False

    def _failed(self, why: str) -> None:
        self._failures += 1
        if not self.why_not:
            self.why_not = why
            if not self._fullgraph:
                text = f"{self._name()} is not compiled and runs as it is: {why}"
                warnings.warn(text, UserWarning, stacklevel=4)
        if self._fullgraph:
            raise Unsupported(f"{self._name()} is not compiled: {why}")
        if self._failures >= _TRIES:
            self._given_up = True

    def _name(self) -> str:
        name = getattr(self.compiled_function, "__qualname__", None)
        return name or type(self.compiled_function).__name__

    def _why_again(self) -> str:
        entry = self.entries[0]
        return entry.changed or entry.guard.why_not() or "its arguments are others"

    def _give_up(self, why: str) -> None:
        self._failures = _TRIES
        self._failed(why)
        self._given_up = True


def _with_autocast(mode: Any, state: Any) -> Any:
    """The grad mode, and what autocast does where it is on."""
    if "cpu" not in state.enabled:
        return mode
    return mode, state.dtypes["cpu"], state.cache_enabled


@contextmanager
def _fresh_cache() -> Iterator[dict]:
    """A block in which autocast keeps its casts in a dictionary of the block's own."""
    state, cache = AUTOCAST.get(), {}  # type: ignore[var-annotated]
    if state is None:
        yield cache
        return
    token = AUTOCAST.set(
        type(state)(state.enabled, state.dtypes, state.cache_enabled, state.nesting, cache)
    )
    try:
        yield cache
    finally:
        AUTOCAST.reset(token)
