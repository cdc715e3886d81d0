"""From what a recorder noted to events: their names, who encloses whom, whose line it was."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from tapegrad.profiler.event import FunctionEvent
from tapegrad.profiler.flops import WHOLE, flops_of
from tapegrad.profiler.memory import Usage
from tapegrad.profiler.names import node_title
from tapegrad.profiler.operator_arity import arranged
from tapegrad.profiler.recorder import BACKWARD, FUNCTION, USER, Record, Recorder

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
                flops=_flops(record, name) if flops and innermost else 0,
                trace_name=name,
                is_user_annotation=record.scope == USER,
            )
            event.module_hierarchy = record.module
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


def _flops(record: Record, name: str) -> int:
    return record.flops or flops_of(name, record.inputs or [])


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
