"""The recorder: what happened when, while a profiler is on.

It only notes names and times. Who encloses whom, and all sums, are worked out from the times when
somebody asks (profiler_util.py). Small operators take a microsecond, so most events are five
entries of a list, written when they have ended; only those of which more is noted are objects.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from copy import copy
from threading import enumerate as enumerate_threads
from threading import get_ident
from time import perf_counter_ns
from types import FrameType

import numpy as np

from tapegrad.core import collective_listener
from tapegrad.core.annotations import Any, ModuleLike

RECORDER: ContextVar[Recorder | None] = ContextVar("tapegrad_recorder", default=None)

# What a record is of, by the numbers that PyTorch gives as `scope`.
FUNCTION, BACKWARD, USER, PYTHON = 0, 1, 7, -1


class Record:
    """One stretch of time: an operator, a node of the graph, a block of the user."""

    __slots__ = (
        "above end flops inputs module n_arguments name notes scope sequence start thread values"
    ).split()

    name: str
    above: tuple[str, ...]  # names of events around it that begin and end with it, outermost first
    scope: int
    inputs: list[Any] | None  # shapes
    n_arguments: int  # where that is not the number of all operators of the name
    sequence: int
    thread: int
    flops: int  # operations, where whoever records counts them
    module: str  # the layer that was being called
    notes: dict | None  # what else a trace says of it
    values: tuple[list, list] | None  # what it was given and gave, where that is asked for
    start: int  # nanoseconds
    end: int  # 0 while it runs


class Recorder:
    """Notes what runs between `start` and `stop`; threads may share one.

    >>> from tapegrad.profiler.recorder import Recorder
    >>> recorder = Recorder()
    >>> recorder.start()
    >>> record = recorder.push("aten::mul")
    >>> recorder.pop(record)
    >>> recorder.stop()
    >>> [record.name for record in recorder.records]
    ['aten::mul']
    """

    __slots__ = (
        "allocations began brief ended flops memory modules native nodes on operators records "
        "shapes thread values"
    ).split()

    def __init__(
        self,
        *,
        shapes: bool = False,
        memory: bool = False,
        modules: bool = False,
        flops: bool = False,
        values: bool = False,
    ):
        self.on = False
        self.records: list[Record] = []
        # Of one event after the other: operator, function around operators or type of node, start
        # and end in seconds, sequence number, thread.
        self.operators: list[Any] = []
        self.nodes: list[Any] = []
        self.began = self.ended = 0
        self.brief = not (shapes or memory or modules or values)  # whether those five are all
        self.values, self.modules = values, modules
        self.shapes = shapes  # whether whoever records should note the shapes of inputs
        self.flops, self.memory = flops, memory
        self.allocations: Any = None  # where memory is followed
        self.native: dict[int, int] = {}  # the system's number of a thread, by Python's

    def taken(self) -> Recorder:
        """What was recorded so far, on its own."""
        other = copy(self)
        other.records = self.records[:]
        other.operators = self.operators[:]
        other.nodes = self.nodes[:]
        return other

    def start(self) -> None:
        """Begin to record; what was recorded before is forgotten."""
        for events in (self.records, self.operators, self.nodes):
            del events[:]  # in place: whoever writes holds them
        self.began = self.ended = 0
        self.thread = get_ident()
        if self.memory:
            from tapegrad.profiler.memory import Allocations

            self.allocations = Allocations()
            self.allocations.open()
        if self.modules:
            import tapegrad.nn  # noqa: F401  (layers are known by their class)
        self.on = True
        self.began = perf_counter_ns()

    def stop(self) -> None:
        """End the recording, and with it what still runs."""
        self.on = False
        self.ended = perf_counter_ns()
        for each in enumerate_threads():
            native = getattr(each, "native_id", None)  # which a browser's threads have not
            if each.ident is not None and native is not None:
                self.native[each.ident] = native
        for record in self.records:
            if not record.end:
                self.pop(record)
                record.end = self.ended
        if self.allocations is not None:
            self.allocations.close()

    def push(
        self, name: str, scope: int = FUNCTION, inputs: list[Any] | None = None, sequence: int = -1
    ) -> Record:
        """Note that `name` begins; give what is returned to `pop` when it ends."""
        record = Record()
        record.name = name
        record.above = ()
        record.flops = record.n_arguments = 0
        record.values = record.notes = None
        record.scope = scope
        record.inputs = inputs
        record.sequence = sequence
        record.thread = get_ident()
        record.module = module_here() if self.modules and scope != PYTHON else ""
        record.end = 0
        self.records.append(record)
        record.start = perf_counter_ns()
        return record

    def pop(self, record: Record) -> None:
        """Note that what `push` returned has ended; after `stop`, nothing."""
        if not self.ended or not record.end:
            record.end = perf_counter_ns()

    def forget(self, record: Record) -> None:
        """Strike out what `push` returned, one of the latest."""
        for i in range(len(self.records) - 1, -1, -1):
            if self.records[i] is record:
                del self.records[i]
                return

    def threads(self, records: list[Record] | None = None) -> dict[int, int]:
        """The numbers that events have for threads, by Python's: 1 for the recorder's own.

        `records` are those of `all`, where they are at hand.
        """
        numbers = {self.thread: 1}
        for record in self.all() if records is None else records:
            numbers.setdefault(record.thread, len(numbers) + 1)
        return numbers

    def thread_numbers(self) -> dict[int, int]:
        """The system's numbers of threads that still ran at the end, by those of events."""
        numbers = self.threads()
        return {n: self.native[each] for each, n in numbers.items() if each in self.native}

    def all(self) -> list[Record]:
        """Every event as a record, in the order in which they began."""
        records = list(self.records)
        from tapegrad.profiler.names import titles_of

        for flat, scope in ((self.operators, FUNCTION), (self.nodes, BACKWARD)):
            for i in range(0, len(flat), 5):
                what, start, end, sequence, thread = flat[i : i + 5]
                record = Record()
                if scope == BACKWARD:
                    titles: tuple[str, ...] = (what.__name__,)
                elif hasattr(what, "title"):  # a function around operators
                    titles = (what.title,)
                else:
                    titles = titles_of(what.name, what)
                record.name, record.above = titles[-1], titles[:-1]
                record.flops = record.n_arguments = 0
                record.values = record.notes = None
                record.start, record.end = int(start * 1e9), int(end * 1e9)
                record.sequence, record.thread = sequence, thread
                record.scope = scope
                record.inputs = None
                record.module = ""
                records.append(record)
        return sorted(records, key=lambda record: (record.start, -record.end))


def _listened(backend: Any) -> Any:
    """A backend of `torch.distributed` whose calls are noted while a recorder is on."""
    recorder = RECORDER.get()
    if recorder is None or not recorder.on:
        return backend
    from tapegrad.distributed.profiled import Profiled

    return Profiled(backend, recorder)


collective_listener.listened = _listened


def module_here() -> str:
    """The innermost layer that is being called, by the names on the way: `Net.body.0`."""
    from tapegrad.autograd.trace import Trace, frames_here

    modules: list = []
    frames_here(modules)
    return Trace((), None, modules).module


def shapes_of(args: Iterable[Any]) -> list[list[int]]:
    """The shapes of tensors; what is none has the shape `[]`.

    >>> from tapegrad.profiler.recorder import shapes_of
    >>> shapes_of([torch.ones(2, 3), 2.5])
    [[2, 3], []]
    """
    shapes = [getattr(x, "shape", ()) for x in args]
    return [list(shape) if isinstance(shape, tuple) else [] for shape in shapes]


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_RULES = "<tapegrad"  # the file of rules that were composed
_PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(np.__file__))) + os.sep
_KERNELS = (_PACKAGES + "numpy" + os.sep, _PACKAGES + "scipy" + os.sep)


def _is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith((_PACKAGE, _RULES))


def _title(frame: FrameType, line: int = 0) -> str:
    """`file.py(12): function`, the file as it would be imported; by default its first line."""
    code = frame.f_code
    path = code.co_filename
    for folder in sys.path:
        if folder and path.startswith(folder.rstrip(os.sep) + os.sep):
            path = path[len(folder.rstrip(os.sep)) + 1 :]
            break
    return f"{path}({line or code.co_firstlineno}): {code.co_name}"


class PythonTracer:
    """Records the Python functions of this thread between `start` and `stop`."""

    def __init__(self, recorder: Recorder):
        from tapegrad.nn.modules.module import Module

        self._recorder = recorder
        self._open: list[Record | None] = []
        self._before: Any = None
        self._layers: dict[str, list] = {}  # those that were called, by the name of their class
        self._layer = Module.__call__.__code__

    def start(self) -> None:
        """Begin with the functions that are already running."""
        frames = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if not _is_own(frame):
                frames.append(frame)
            frame = frame.f_back
        for running in reversed(frames):
            self._recorder.push(
                _title(running, running.f_lineno), PYTHON
            )  # ended when the recorder stops
        self._before = sys.getprofile()
        sys.setprofile(self._trace)

    def stop(self) -> None:
        sys.setprofile(self._before)

    def _trace(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            if frame.f_code is self._layer:
                title: str | None = self._layer_title(frame.f_locals["self"])
            else:
                title = None if self._is_hidden(frame) else _title(frame)
            self._open.append(None if title is None else self._recorder.push(title, PYTHON))
        elif event == "c_call":
            hidden = _is_own(frame) or self._in_hidden()
            self._open.append(None if hidden else self._recorder.push(repr_of(arg), PYTHON))
        elif self._open:  # a return, also of what was already running
            record = self._open.pop()
            if record is not None:
                self._recorder.pop(record)

    def _is_hidden(self, frame: FrameType) -> bool:
        if _is_own(frame):
            return True
        return frame.f_code.co_filename.startswith(_KERNELS) and self._in_hidden()

    def _in_hidden(self) -> bool:
        """Whether the innermost function that was called is one that is left out."""
        return bool(self._open) and self._open[-1] is None

    def _layer_title(self, layer: ModuleLike) -> str:
        """A layer by its class, and its number among those of this class."""
        name = type(layer).__name__
        known = self._layers.setdefault(name, [])
        for number, each in enumerate(known):
            if each is layer:
                return f"nn.Module: {name}_{number}"
        known.append(layer)
        return f"nn.Module: {name}_{len(known) - 1}"


def repr_of(function: Callable) -> str:
    """A built-in by its name, without the address of what it is bound to."""
    return repr(function).partition(" at 0x")[0].rstrip(">") + ">"
