"""`ExecutionTraceObserver`: which operator ran on which tensors, as a graph in a file.

The file is PyTorch's, read by Chakra and its simulators: nodes with their parent, what they were
given and what they gave. Operators here have no schemas, so `op_schema` is empty, and options are
those of our own operators.
"""

from __future__ import annotations

import json
import os
import time

import numpy as np

from tapegrad.autograd.lifetime import owner
from tapegrad.core.annotations import Any, EdgeLike, Sequence
from tapegrad.core.errors import c_name
from tapegrad.profiler.event import MEMORY, events_of
from tapegrad.profiler.recorder import BACKWARD, USER, Recorder

# Of a value: what it is, its shape, its type, its strides; of a list, lists of these.
Described = tuple[Any, Any, str, Any]

_NUMBERS = {bool: "Bool", int: "Int", float: "Double", str: "String"}


class TensorValue:
    """A tensor or an array in a trace: which one, whose memory, and where in it."""

    __slots__ = ("itemsize", "memory", "n", "offset", "tensor")

    def __init__(self, x: object, array: np.ndarray):
        memory = owner(array)
        self.tensor = id(x)
        self.memory = id(memory)
        self.offset = (_address(array) - _address(memory)) // max(array.itemsize, 1)
        self.n = array.size
        self.itemsize = array.itemsize


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def described(x: object) -> Described:
    """A value of a call: a tensor, a number, a text, None, or a list of such.

    >>> from tapegrad.profiler.execution_trace import described
    >>> described(2), described([1, 2])
    ((2, [], 'Int', []), ([1, 2], [[], []], 'GenericList[Int,Int]', [[], []]))
    >>> described(torch.ones(2, 3))[1:]
    ([2, 3], 'Tensor(float)', [3, 1])
    """
    array = getattr(x, "_array", x)
    if isinstance(array, np.ndarray):
        kind = f"Tensor({c_name(array.dtype)})"
        strides = [n // max(array.itemsize, 1) for n in array.strides]
        return TensorValue(x, array), list(array.shape), kind, strides
    if isinstance(x, (list, tuple)):
        parts = [described(each) for each in x]
        values, shapes, kinds, strides_of = ([part[i] for part in parts] for i in range(4))
        return values, shapes, f"GenericList[{','.join(kinds)}]", strides_of
    if x is None:
        return "<None>", [], "None", []
    kind = _NUMBERS.get(type(x), "")
    return (x, [], kind, []) if kind else (str(x), [], type(x).__name__.capitalize(), [])


def described_call(inputs: Sequence, options: dict, result: object) -> tuple[list, list]:
    """What a call was given, options last, and what it gave."""
    given = [described(x) for x in (*inputs, *options.values())]
    return given, [described(x) for x in (result if type(result) is tuple else (result,))]


_SCHEMA = "1.1.1-chakra.0.0.4"
_NAME = "[pytorch|profiler|execution_trace|{}]"
_VARIABLE = "ENABLE_PYTORCH_EXECUTION_TRACE"


class ExecutionTraceObserver:
    """Writes what runs between `start` and `stop` as a graph of operators and tensors.

    Give it to `torch.profiler.profile(execution_trace_observer=...)`, or start and stop it by hand.
    By hand, it listens alone: a profile that is on does not hear what runs in between.

    >>> import json, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
    >>> observer = torch.profiler.ExecutionTraceObserver().register_callback(path)
    >>> observer.start()
    >>> y = torch.ones(2) * 3
    >>> observer.stop()
    >>> observer.unregister_callback()
    >>> with open(path) as file:
    ...     nodes = json.load(file)["nodes"]
    >>> [node["name"] for node in nodes if node["name"].startswith("aten")]
    ['aten::ones', 'aten::mul']
    """

    def __init__(self) -> None:
        self._path: str | None = None
        self._registered = False
        self._recorder: Recorder | None = None
        self._attached: tuple = ()
        self._running = False
        self._nodes = _Nodes()
        self._since = 0

    @staticmethod
    def build_execution_trace_obs_from_env() -> ExecutionTraceObserver | None:
        """An observer that writes into a temporary file, if the environment asks for one."""
        if os.environ.get(_VARIABLE, "0") != "1":
            return None
        import tempfile

        handle, path = tempfile.mkstemp(".et.json")
        os.close(handle)
        return ExecutionTraceObserver().register_callback(path)

    @property
    def is_registered(self) -> bool:
        """Whether there is a file to write into."""
        return self._registered

    def is_running(self) -> bool:
        """Whether it listens."""
        return self._running

    def register_callback(self, output_file_path: str) -> ExecutionTraceObserver:
        """Take the file to write into; the file is opened at once and complete at the end.

        Raises:
            OSError: the file cannot be written.
        """
        if not self._registered:
            with open(output_file_path, "w", encoding="utf-8"):
                pass
            self._path = output_file_path
            self._nodes = _Nodes()
            self._since = time.monotonic_ns()
            self._registered = True
        return self

    def get_output_file_path(self) -> str | None:
        """The file, None before there is one."""
        return self._path

    def set_extra_resource_collection(self, val: bool) -> None:
        """Accepted; there are no compiled kernels whose files could be collected."""

    def get_resources_dir(self, can_create: bool = False) -> str | None:
        """The folder of further files: there is none."""
        return None

    def start(self) -> None:
        """Listen from here on."""
        if self._registered and not self._running:
            from tapegrad.profiler.block import attach

            self._recorder = Recorder(shapes=True, values=True)
            self._attached = attach(self._recorder)
            self._recorder.start()
            self._running = True

    def stop(self) -> None:
        """Listen no more; `start` goes on in the same file."""
        if self._running and self._recorder is not None:
            from tapegrad.profiler.block import detach

            self._recorder.stop()
            detach(*self._attached)
            self._running = False
            self.take(self._recorder)

    def take(self, recorder: Recorder) -> None:
        """Add what a recorder has noted."""
        if self._registered:
            self._nodes.add(recorder)

    def unregister_callback(self) -> None:
        """Stop, and write the file."""
        self.stop()
        if not self._registered or self._path is None:
            return
        self._registered = False
        trace = {
            "schema": _SCHEMA,
            "pid": os.getpid(),
            "time": time.strftime("%Y-%m-%d %H:%M:%S"),
            "start_ts": self._since // 1_000_000,
            "nodes": self._nodes.finished(),
            "finish_ts": time.monotonic_ns() // 1_000_000,
        }
        with open(self._path, "w", encoding="utf-8") as file:
            file.write(json.dumps(trace))

    cleanup = unregister_callback


class _Nodes:
    """The nodes of a trace, each written when it has ended; numbers are given as things come."""

    def __init__(self) -> None:
        self._last = 0
        self._n_events = 0
        self._found: list[dict] = []
        self._objects: dict[tuple[str, int], int] = {}
        self._threads: dict[int, int] = {}
        self._root = self._number()

    def finished(self) -> list[dict]:
        root = _node(self._root, _NAME.format("process"), self._root, scope=USER)
        return [*self._found, root]

    def add(self, recorder: Recorder) -> None:
        for event in events_of(recorder):
            if event.cpu_parent is None and event.name != MEMORY and not event.is_python_function:
                self._write(event, self._thread(event.thread))

    def _write(self, root: EdgeLike, parent: int) -> None:
        """Write an event and those inside it, which end before it does."""
        nodes: dict[int, dict] = {}
        waiting = [(root, parent, False)]
        while waiting:
            event, above, ended = waiting.pop()
            if ended:
                self._found.append(nodes.pop(id(event)))
                continue
            node = nodes[id(event)] = self._of_event(event, above)
            waiting.append((event, above, True))
            waiting += [(child, node["id"], False) for child in reversed(event.cpu_children)]

    def _of_event(self, event: Any, parent: int) -> dict:
        self._n_events += 1
        number = self._number()
        given, gave = event.values or ((), ())
        return _node(
            number,
            event.trace_name,
            parent,
            given=[self._numbered(each) for each in given],
            gave=[self._numbered(each) for each in gave],
            event=self._n_events,
            sequence=event.sequence_nr,
            scope=event.scope,
            thread=event.thread,
        )

    def _numbered(self, value: Described) -> Described:
        what, *rest = value
        return (self._value(what), *rest)

    def _value(self, what: Any) -> Any:
        if isinstance(what, list):
            return [self._value(each) for each in what]
        if not isinstance(what, TensorValue):
            return what
        tensor = self._object("tensor", what.tensor)
        memory = self._object("memory", what.memory)
        return [tensor, memory, what.offset, what.n, what.itemsize, "cpu"]

    def _thread(self, thread: int) -> int:
        if thread not in self._threads:
            number = self._threads[thread] = self._number()
            name = _NAME.format("thread")
            self._found.append(_node(number, name, self._root, scope=USER, thread=thread))
        return self._threads[thread]

    def _object(self, kind: str, key: int) -> int:
        if (kind, key) not in self._objects:
            self._objects[kind, key] = self._number()
        return self._objects[kind, key]

    def _number(self) -> int:
        self._last += 1
        return self._last


def _node(
    number: int,
    name: str,
    parent: int,
    *,
    given: list[Described] | tuple = (),
    gave: list[Described] | tuple = (),
    event: int = 0,
    sequence: int = -1,
    scope: int = 0,
    thread: int = 0,
) -> dict:
    backward = scope == BACKWARD
    attributes = [
        ("rf_id", "uint64", event),
        ("fw_parent", "uint64", parent if backward else 0),
        ("seq_id", "int64", sequence),
        ("scope", "uint64", scope),
        ("tid", "uint64", thread),
        ("fw_tid", "uint64", int(backward)),
        *((name, "string", "") for name in ("op_schema", "kernel_backend", "kernel_file")),
        ("tensor_range", "string", ""),
    ]
    return {
        "id": number,
        "name": name,
        "ctrl_deps": parent,
        "inputs": _columns(given),
        "outputs": _columns(gave),
        "attrs": [{"name": n, "type": kind, "value": value} for n, kind, value in attributes],
    }


def _columns(values: list[Described] | tuple) -> dict:
    names = ("values", "shapes", "types", "strides")
    return {name: [value[i] for value in values] for i, name in enumerate(names)}
