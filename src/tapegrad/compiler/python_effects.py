"""What a function does besides computing: seen by Python's own profiling while a call is recorded.

A program does not print, draw from Python's generator or append to a list of the user's. A call in
which the user's code does so is found here, with its line, and the function runs as it is.
"""

import dis
import gc
import sys
from functools import partial
from types import FrameType

from tapegrad.arrays.traced.number import TracedNumber
from tapegrad.arrays.traced.program import RECORDING
from tapegrad.compiler.options import has_number
from tapegrad.compiler.sources import position
from tapegrad.compiler.whose_code import is_library_module, names_of
from tapegrad.core.annotations import Any
from tapegrad.optim.lr_scheduler import LRScheduler
from tapegrad.tensors.tensor import Tensor

_PURE_MODULES = frozenset(
    "math cmath operator _operator itertools functools _functools collections _collections string "
    "re _sre numpy numpy.core._multiarray_umath numpy._core._multiarray_umath builtins "
    "dataclasses enum typing abc _abc copy inspect _struct struct weakref _weakref types "
    "_contextvars sys _thread gc".split()
)
_IMPURE = frozenset("print input open exec eval compile breakpoint __import__".split())
_MUTATORS = frozenset(
    "append appendleft extend extendleft insert remove pop popleft popitem clear update add "
    "discard setdefault sort reverse __setitem__ __delitem__ __iadd__".split()
)
_OF_ARRAYS = frozenset(
    "fill itemset partition put resize setfield setflags sort tofile dump".split()
)
_OF_FLOATS = frozenset("math cmath _struct decimal _decimal".split())
"""Modules whose functions take floats as they are, past what a class says of them."""

_WITH_NUMBERS = frozenset([TracedNumber, tuple, list, dict])

_IMPURE_PYTHON = frozenset(
    "random logging threading subprocess multiprocessing socket tempfile shutil pathlib io "
    "datetime time warnings asyncio concurrent queue sched secrets uuid urllib json pickle".split()
)

_GRAD: Any = getattr(Tensor, "grad").fget.__code__  # noqa: B009
_NOTED = frozenset([_GRAD.co_name, "step", "hooked"])


class Watch:
    """A block in which what the user's code does besides computing is noted in `why_not`."""

    def __init__(self, found: Any):
        self.why_not = ""
        self.stepped: set[int] = set()  # optimizers, by their identities
        self.reads_grads = False  # whether the `.grad` of some tensor was asked for
        self.found_function = False  # whether one ran that was not known to
        self._found = found
        self._called = found.called
        self._kinds: dict[str, str] = {}  # of modules, by their names
        self.gives_numbers = False  # whether functions may give recorded ones of optimizers
        self._scheduling: FrameType | None = None  # the step of a schedule that runs

    def __enter__(self) -> "Watch":
        self._states = self._random_states()
        self._before = sys.getprofile()
        if self._before is None or callable(self._before):
            see = RECORDING.get().watcher = self._see
            sys.setprofile(see)
        else:
            self.why_not = "a profiler of Python watches"
        return self

    def __exit__(self, *error: object) -> None:
        RECORDING.get().watcher = None
        if self._before is None or callable(self._before):
            sys.setprofile(self._before)
        if self.why_not:
            return
        if self._random_states() != self._states:
            self.why_not = "it draws random numbers of NumPy"
        for x, before in self._found.iterators:
            if position(x) != before:
                self.why_not = (
                    f"it takes from a {type(x).__name__}, which gives something else each time"
                )

    def _random_states(self) -> list:
        """Where NumPy's generators stand: the global one, and those that were found."""
        found: list[Any] = [
            repr(x.get_state() if hasattr(x, "get_state") else getattr(x, "bit_generator", x).state)
            for x in self._found.generators
        ]
        random = sys.modules.get("numpy.random")
        if random is not None:
            name, words, *rest = random.get_state()
            found.append((name, words.tobytes(), *rest))
        return found

    def _kind(self, frame: FrameType) -> str:
        """Whose code a frame runs: "user", "impure" of Python's library, or "pure"."""
        name = frame.f_globals.get("__name__", "")
        found = self._kinds.get(name)
        if found is None:
            found = "impure" if name.partition(".")[0] in _IMPURE_PYTHON else "pure"
            found = self._kinds[name] = found if is_library_module(name) else "user"
        return found

    def _see(self, frame: FrameType, event: str, arg: Any) -> None:
        # thousands of events: what most of them are is asked first
        if event == "c_call":
            if self._kind(frame) == "user" and not self.why_not:
                self._see_c(frame, arg)
        elif event == "call":
            name = frame.f_code.co_name
            if self._called is not None and self._called.add(frame):
                self.found_function = True
            if name in _NOTED:
                self._see_noted(frame, name)
            caller = frame.f_back
            if self._kind(frame) == "impure" and caller is not None and not self.why_not:
                if self._kind(caller) == "user":
                    root = frame.f_globals["__name__"].partition(".")[0]
                    self._note(caller, f"{root}.{name}")
        elif self.gives_numbers and event == "return":
            if type(arg) in _WITH_NUMBERS and has_number(arg) and frame.f_back is not None:
                RECORDING.get().owner.options.receivers.add(frame.f_back.f_code)
            if frame is self._scheduling:
                self._schedule_taken(frame)
        elif frame is self._scheduling and event == "return":
            self._schedule_taken(frame)

    def _schedule_taken(self, frame: FrameType) -> None:
        self._scheduling = None
        groups = frame.f_locals["self"].optimizer.param_groups
        RECORDING.get().owner.options.take_again(groups)

    def _see_noted(self, frame: FrameType, name: str) -> None:
        """A call of a Python function of a name that may mean something."""
        if frame.f_code is _GRAD:
            self.reads_grads = True
        elif self.why_not:
            return
        elif name == "step" and frame.f_back is not None:
            self._scheduled(frame)
        elif name == "hooked" and "self" in frame.f_locals:
            self.stepped.add(id(frame.f_locals["self"]))

    def _see_c(self, frame: FrameType, arg: Any) -> None:
        """A call of a function of C by the user's code."""
        owner = getattr(arg, "__self__", None)
        name = getattr(arg, "__name__", "?")
        if owner is None or isinstance(owner, type(sys)):
            module = getattr(arg, "__module__", None) or "builtins"
            root = module.partition(".")[0]
            if name in ("hasattr", "getattr"):
                self._found.asks_for_attributes = True
            if module == "builtins" and name in _IMPURE:
                self._note(frame, name)
            elif (module in _OF_FLOATS or name == "arange") and self._may_be_given_numbers(frame):
                self._note(frame, f"{module}.{name}")
            elif module not in _PURE_MODULES and root not in ("numpy", "tapegrad"):
                self._note(frame, f"{module}.{name}")
            return
        kind = _written_in_c(type(owner), name)
        if kind.__module__ == "builtins" or kind.__module__ == "collections":
            changes = name in _MUTATORS and id(owner) in self._found.seen
            if changes or kind.__name__ in ("generator", "TextIOWrapper"):
                self._note(frame, f"{kind.__name__}.{name}")
        elif kind.__module__ == "numpy":
            if name in _OF_ARRAYS:
                self._note(frame, f"{kind.__name__}.{name}")
        elif kind.__module__.partition(".")[0] not in ("tapegrad",) and not isinstance(owner, type):
            self._note(frame, f"{kind.__name__}.{name}")

    def _scheduled(self, frame: FrameType) -> None:
        """Have the step of a schedule done again each time."""
        given = dict(frame.f_locals)
        scheduler = given.pop("self", None)
        caller = frame.f_back
        if not isinstance(scheduler, LRScheduler) or caller is None:
            return
        if self._kind(caller) != "user":
            return
        if not all(type(x) in (int, float, bool, type(None)) for x in given.values()):
            self._note(caller, f"{type(scheduler).__name__}.step")
            return
        owner = RECORDING.get().owner
        owner.act(partial(scheduler.step, **given), scheduler.optimizer.param_groups)
        self._scheduling = frame

    @staticmethod
    def _may_be_given_numbers(frame: FrameType) -> bool:
        """Whether there are recorded numbers, which functions of C would take as they are."""
        program = RECORDING.get()
        if program is None:
            return False
        if program.owner.floats or program.owner.options.may_be_in(frame):
            return True
        return any(each.text == ".item" for each in program.instructions)

    def _note(self, frame: FrameType, what: str) -> None:
        of_collector = {getattr(each, "__code__", None) for each in gc.callbacks}
        around: Any = frame
        while around is not None:
            if around.f_code in of_collector:
                return  # the garbage collector calls it, whenever it runs
            if around.f_globals.get("__name__", "").startswith("importlib."):
                return  # a module is imported for the first time
            around = around.f_back
        file = frame.f_code.co_filename
        self.why_not = f"{what}() is called in line {frame.f_lineno} of {file}"


def _written_in_c(kind: type, name: str) -> type:
    """The class that has the method of this name in C: a class of Python may be made from it."""
    found = (each for each in kind.__mro__ if hasattr(vars(each).get(name), "__objclass__"))
    return next(found, kind)


def may_have_effects(function: Any) -> bool:
    """Whether a function's code names what prints or changes things, or writes to outside names.

    It is asked of backward functions, which are called once more than they would be to record them.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        return True
    if any(name in _IMPURE or name in _MUTATORS for name in names_of(code)):
        return True
    return any(
        each.opname in ("STORE_GLOBAL", "STORE_ATTR", "STORE_DEREF", "STORE_SUBSCR")
        for each in dis.get_instructions(code)
    )
