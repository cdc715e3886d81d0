"""One event of a profile, and the average of many.

Times are microseconds since the profiler was switched on. `cpu_time_total` of an event is all the
time between its start and its end; `self_cpu_time_total` is that without its children.
"""

from __future__ import annotations

import enum
from bisect import bisect_right
from dataclasses import dataclass
from math import log10
from typing import Any

from tapegrad.core.errors import deprecated
from tapegrad.profiler.memory import Usage
from tapegrad.profiler.names import WHOLE, arranged, flops_of, node_title
from tapegrad.profiler.recorder import BACKWARD, FUNCTION, PYTHON, USER, Record, Recorder

_WIDTH = 12  # of a column of numbers
_SPACE = "  "  # after each column
_MEMORY_UNITS = (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10))
_FLOPS_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
_TIME_UNITS = {"s": 1e-6, "ms": 1e-3, "us": 1.0}


def format_memory(n_bytes: int) -> str:
    """A number of bytes with its unit."""
    for unit, size in _MEMORY_UNITS:
        if abs(n_bytes) >= size:
            return f"{n_bytes / size:.2f} {unit}"
    return f"{n_bytes} B"


def format_share(time_us: float, total_us: float) -> str:
    """A part of the whole, in per cent."""
    return f"{time_us * 100.0 / total_us:.2f}%" if total_us else "NaN"


@dataclass(kw_only=True)
class Layout:
    """How the table is laid out; `text` prints a list of events with it."""

    row_limit: int
    source_width: int
    name_width: int
    shapes_width: int
    header: str | None
    top_level_only: bool
    time_unit: str | None
    memory: bool
    flops: bool

    def time(self, time_us: float) -> str:
        if self.time_unit not in _TIME_UNITS:
            return format_time(time_us)
        return f"{time_us * _TIME_UNITS[self.time_unit]:.3f}{self.time_unit}"

    def text(self, events: list[Any]) -> str:
        if not events:
            return ""
        columns = self._columns(events)
        rule = "".join("-" * width + _SPACE for _, width, _, _ in columns)
        titles = "".join(align(title, width) + _SPACE for title, width, align, _ in columns)
        lines = []
        double = "=" * (len(rule) - len(_SPACE))
        if self.header is not None:
            lines += [double, self.header]
        if self.top_level_only:
            lines += [double, "This report only display top-level ops statistics"]
        lines += [rule, titles, rule]
        for event in self._rows(events):
            lines += _lines([cell(event) for *_, cell in columns], columns)
        total = sum(event.self_cpu_time_total for event in events)
        lines += [rule, f"Self CPU time total: {self.time(total)}", ""]
        return "\n".join(lines)

    def _rows(self, events: list[Any]) -> list[Any]:
        if self.top_level_only:
            events = [event for event in events if event.cpu_parent is None]
        return events if self.row_limit < 0 else events[: self.row_limit]

    def _columns(self, events: list[Any]) -> list[tuple]:
        """Title, width, on which side text stands, and what a cell says of an event."""
        total = sum(event.self_cpu_time_total for event in events)
        width = min(max(len(event.key) for event in events) + 4, self.name_width)
        columns: list[tuple] = [
            ("Name", width, self._name),
            ("Self CPU %", _WIDTH, lambda e: format_share(e.self_cpu_time_total, total)),
            ("Self CPU", _WIDTH, lambda e: self.time(e.self_cpu_time_total)),
            ("CPU total %", _WIDTH, lambda e: format_share(e.cpu_time_total, total)),
            ("CPU total", _WIDTH, lambda e: self.time(e.cpu_time_total)),
            ("CPU time avg", _WIDTH, lambda e: self.time(e.cpu_time)),
        ]
        if self.memory:
            columns += [
                ("CPU Mem", _WIDTH, lambda e: format_memory(e.cpu_memory_usage)),
                ("Self CPU Mem", _WIDTH, lambda e: format_memory(e.self_cpu_memory_usage)),
            ]
        columns.append(("# of Calls", _WIDTH, lambda e: str(e.count)))
        if any(event.input_shapes for event in events):
            longest = max(len(str(event.input_shapes)) for event in events)
            columns.append(("Input Shapes", min(longest + 4, self.shapes_width), self._shapes))
        found = [(title, width, str.rjust, cell) for title, width, cell in columns]
        longest = max((len(line) for event in events for line in event.stack or ()), default=0)
        if longest:
            width = min(longest + 4, self.source_width)
            found.append(("Source Location", width, str.ljust, lambda e: _sources(e, width)))
        if self.flops:
            found += _flops_column(events)
        return found

    def _name(self, event: Any) -> str:
        name = event.key
        cut = self.name_width - 3
        return name[:cut] + "..." if len(name) >= cut else name

    def _shapes(self, event: Any) -> str:
        return str(event.input_shapes)[: self.shapes_width]


def _sources(event: Any, width: int) -> list[str]:
    """A line for each function, of a long one the end, and one more to end them."""
    lines = (*(event.stack or ("",)), "")
    return [x if len(x) <= width else "..." + x[len(x) - width + 3 :] for x in lines]


def _lines(cells: list[Any], columns: list[tuple]) -> list[str]:
    """A row as lines: cells are texts, and the sources a list of them."""
    n = max(len(cell) if isinstance(cell, list) else 1 for cell in cells)
    lines = []
    for i in range(n):
        line = ""
        for cell, (_, width, align, _) in zip(cells, columns, strict=True):
            text = cell[i] if isinstance(cell, list) else cell if i == 0 else ""
            line += align(text, width) + _SPACE
        lines.append(line)
    return lines


def _flops_column(events: list[Any]) -> list[tuple]:
    """The column of operations, in the unit of the smallest; none if nothing was counted."""
    counted = [event.flops for event in events if event.flops and event.flops > 0]
    if not counted:
        return []
    step = min(int(log10(min(counted)) / 3), len(_FLOPS_UNITS) - 1)
    scale = 1000.0**step

    def cell(event: Any) -> str:
        return f"{event.flops / scale:.3f}" if event.flops and event.flops > 0 else "--"

    return [(f"Total {_FLOPS_UNITS[step]}", _WIDTH, str.rjust, cell)]


_KINDS = {USER: "user_annotation", PYTHON: "python_function"}


class DeviceType(enum.Enum):
    """Where an event ran."""

    CPU = 0


@dataclass(eq=False, repr=False)
class Interval:
    """From `start` to `end`, in microseconds.

    >>> torch.autograd.profiler_util.Interval(2.0, 5.0).elapsed_us()
    3.0
    """

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it lasted."""
        return self.end - self.start


def format_time(time_us: float) -> str:
    """A time with its unit, as the table prints it."""
    if time_us >= 1e6:
        return f"{time_us / 1e6:.3f}s"
    if time_us >= 1e3:
        return f"{time_us / 1e3:.3f}ms"
    return f"{time_us:.3f}us"


class _Times:
    """What events and their averages have in common.

    Nothing runs on a device: its times and its memory are nought.
    """

    count: int
    cpu_time_total: float
    self_cpu_time_total: float

    node_id = -1
    device_type = DeviceType.CPU
    use_device: str | None = None
    is_async = is_remote = is_legacy = False
    overload_name: str | None = None
    device_time = 0.0
    device_time_total = self_device_time_total = 0
    device_memory_usage = self_device_memory_usage = 0

    @property
    def cpu_time(self) -> float:
        """Time of one call, its children included, on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __getattr__(self, name: str) -> Any:
        """`cpu_time_str` and its like; `cuda_time` and its like, by the names they had."""
        if name.endswith("_time_str") or name.endswith("_time_total_str"):
            return format_time(getattr(self, name.removesuffix("_str")))
        if "cuda_" in name:
            new = name.replace("cuda_", "device_")
            value = getattr(self, new)
            deprecated(f"`{name}` is deprecated, please use `{new}` instead.")
            return value
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class FunctionEvent(_Times):
    """One call of an operator, one run of a node, one block of `record_function`.

    Attributes:
        name: `aten::mul`; `ProfilerStep*` for each step of a loop, whose number is in `trace_name`.
        thread: 1 for the thread of the profiler, then as threads come.
        time_range: start and end in microseconds, from when the profiler was switched on.
        input_shapes: of tensors; `[]` for what is none.
        stack: Python functions around it, innermost first.
        sequence_nr: of the node that an operator recorded, and of that node's own event.
        fwd_thread: the thread of its operator, for a node.
        module_hierarchy: the layer that was being called, `Net.body.0`.
        cpu_parent, cpu_children: the events around it and inside it.
    """

    count = 1
    device_index = external_id = 0
    concrete_inputs: list | None = None
    kwinputs: dict | None = None

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        overload_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: list | None = None,
        stack: list[str] | None = None,
        scope: int = FUNCTION,
        *,
        cpu_memory_usage: int = 0,
        sequence_nr: int = -1,
        node_id: int = -1,
        flops: int | None = None,
        trace_name: str | None = None,
        is_user_annotation: bool = False,
    ):
        self.id, self.name, self.trace_name = id, name, trace_name
        self.thread = self.device_resource_id = thread
        self.time_range = Interval(start_us, end_us)
        self.overload_name, self.fwd_thread = overload_name, fwd_thread
        self.input_shapes, self.stack, self.scope = input_shapes, stack, scope
        self.is_user_annotation = is_user_annotation
        self.cpu_memory_usage, self.sequence_nr = cpu_memory_usage, sequence_nr
        self.flops, self.node_id = flops, node_id
        self.module_hierarchy = ""
        self.values: tuple[list, list] | None = None  # what it was given and gave
        self.notes: dict | None = None  # of a collective: its bytes, its rank, its waiting time
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    @property
    def key(self) -> str:
        """What events are averaged by: the name."""
        return self.name

    @property
    def is_python_function(self) -> bool:
        return self.scope == PYTHON

    @property
    def activity_type(self) -> str:
        return _KINDS.get(self.scope, "cpu_op")

    @property
    def cpu_time_total(self) -> float:
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Add an event that ran inside this one."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Set the event that this one ran inside."""
        self.cpu_parent = parent

    def __repr__(self) -> str:
        device = self.use_device
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name}"
            f" device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str}"
            f" start_us={self.time_range.start} end_us={self.time_range.end}"
            f" cpu_children={[child.id for child in self.cpu_children]}"
            f" {device}_time={self.device_time_str} name={self.name} thread={self.thread}"
            f" input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}"
            f" {device}_memory_usage={self.device_memory_usage} is_async={self.is_async}"
            f" is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


_OF_FIRST = (
    "key input_shapes stack overload_name scope is_user_annotation cpu_children cpu_parent"
).split()


class FunctionEventAvg(_Times):
    """The sum of the events of one key; `cpu_time` is their average."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.flops = 0
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: list[str] | None = None
        self.scope = FUNCTION
        self.is_user_annotation = False
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    def add(self, other: Any) -> FunctionEventAvg:
        """Add an event, or another average."""
        if self.key is None:
            for name in _OF_FIRST:
                setattr(self, name, getattr(other, name))
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.flops += other.flops or 0
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str}"
            f" cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str}"
            f" {device}_time={self.device_time_str} input_shapes={self.input_shapes}"
            f" cpu_memory_usage={self.cpu_memory_usage}"
            f" {device}_memory_usage={self.device_memory_usage}>"
        )


EVALUATE = "autograd::engine::evaluate_function: "  # around every node
MEMORY = "[memory]"  # what came or went between events


def events_of(recorder: Recorder, *, flops: bool = False, shapes: bool = True) -> list[Any]:
    """What `recorder` noted, as events with parents and children, in the order of time."""
    records = recorder.all()
    threads = recorder.threads(records)
    books = recorder.allocations
    usage = None if books is None else Usage(books.changes)
    forward: dict[int, int] = {}  # sequence number -> thread of the operator
    events: list[FunctionEvent] = []
    for record in records:
        thread = threads[record.thread]
        fwd_thread = forward.get(record.sequence, 0)
        if record.sequence >= 0 and record.scope == FUNCTION:
            forward.setdefault(record.sequence, thread)
        used = 0 if usage is None else usage.between(record.thread, record.start, record.end)
        names = _names(record)
        for name in names:
            innermost = name is names[-1]
            counted = (record.flops or flops_of(name, record.inputs or [])) if flops else 0
            event = FunctionEvent(
                len(events),
                name,
                thread,
                (record.start - recorder.began) / 1e3,
                (record.end - recorder.began) / 1e3,
                "",
                fwd_thread,
                _shapes(record, name) if shapes else [],
                [],
                record.scope if innermost else FUNCTION,
                cpu_memory_usage=used,
                sequence_nr=record.sequence,
                flops=counted if innermost else 0,
                trace_name=name,
                is_user_annotation=record.scope == USER,
            )
            event.module_hierarchy, event.notes = record.module, record.notes
            event.values = None if _is_around(record, name) else record.values
            if name.startswith("ProfilerStep#"):
                event.name = "ProfilerStep*"  # the steps of a loop are summed
            events.append(event)
    build_tree(events)
    if flops:
        _count_once(events)
    _place(events)
    if books is not None:
        _add_changes(events, recorder, threads)
    return events


def _add_changes(events: list[Any], recorder: Recorder, threads: dict[int, int]) -> None:
    """Add events of their own for memory that came or went outside all others."""
    ends: dict[int, tuple[list[float], list[float]]] = {}
    for event in events:
        if event.cpu_parent is None:
            starts, stops = ends.setdefault(event.thread, ([], []))
            starts.append(event.time_range.start)
            stops.append(event.time_range.end)
    for change in recorder.allocations.changes:
        at = (change.time - recorder.began) / 1e3
        thread = threads.get(change.thread, 1)
        starts, stops = ends.get(thread, ([], []))
        i = bisect_right(starts, at) - 1
        if i < 0 or at >= stops[i]:
            event = FunctionEvent(len(events), MEMORY, thread, at, at, "", 0, [], [])
            event.cpu_memory_usage = change.n_bytes
            events.append(event)
    events.sort(key=lambda event: event.time_range.start)


def build_tree(events: list[Any]) -> None:
    """Give every event its parent and its children, from their times."""
    _nest(events)
    while _merge(events):
        pass


def _names(record: Record) -> tuple[str, ...]:
    """The names of the events that a record stands for, outermost first."""
    if record.scope != BACKWARD:
        return (*record.above, record.name)
    name = node_title(record.name)
    return (EVALUATE + name, name)


def _is_around(record: Record, name: str) -> bool:
    """Whether a name is that of the event around a node, which has no inputs."""
    return record.scope == BACKWARD and name.startswith(EVALUATE)


def _shapes(record: Record, name: str) -> list:
    if record.inputs is None or _is_around(record, name):
        return []
    if record.scope != FUNCTION:
        return record.inputs
    return arranged(name, record.inputs, record.n_arguments if name == record.name else 0)


def _count_once(events: list[FunctionEvent]) -> None:
    """Operations of what is one operator in PyTorch count there and not further inside."""
    for event in events:
        parent = event.cpu_parent
        while parent is not None and parent.name not in WHOLE:
            parent = parent.cpu_parent
        if parent is not None:
            event.flops = 0


def _place(events: list[FunctionEvent]) -> None:
    """Give events their Python functions and their layer: a node has those of its operator."""
    forward: dict[int, FunctionEvent] = {}
    for event in events:
        parent = event.cpu_parent
        if parent is not None:
            event.stack = parent.stack
            if parent.is_python_function:
                event.stack = [parent.name, *(parent.stack or ())]
        if event.sequence_nr >= 0 and event.fwd_thread == 0:
            forward.setdefault(event.sequence_nr, event)
        elif event.sequence_nr in forward:
            event.module_hierarchy = forward[event.sequence_nr].module_hierarchy
            if event.scope == BACKWARD:
                event.stack = forward[event.sequence_nr].stack


def _nest(events: list[FunctionEvent]) -> None:
    open_events: dict[int, list[FunctionEvent]] = {}
    for event in sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end)):
        enclosing = open_events.setdefault(event.thread, [])
        while enclosing and (
            event.time_range.start >= enclosing[-1].time_range.end
            or event.time_range.end > enclosing[-1].time_range.end
        ):
            enclosing.pop()
        if enclosing:
            enclosing[-1].append_cpu_child(event)
            event.set_cpu_parent(enclosing[-1])
        enclosing.append(event)


def _merge(events: list[FunctionEvent]) -> bool:
    """Drop events that are all there is in an event of the same name; whether there were any."""
    dropped = set()
    for event in events:
        parent = event.cpu_parent
        if parent is not None and parent.name == event.name and len(parent.cpu_children) == 1:
            parent.cpu_children = event.cpu_children
            for child in event.cpu_children:
                child.set_cpu_parent(parent)
            dropped.add(event.id)
    events[:] = [event for event in events if event.id not in dropped]
    return bool(dropped)
