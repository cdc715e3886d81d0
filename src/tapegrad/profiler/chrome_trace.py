"""Profiles as files for other tools: traces for a trace viewer, stacks for a flame graph."""

import json
import os
import sys
import time
from typing import Any


def write_trace(events: list[Any], path: str, head: dict, recorder: Any) -> None:
    """Write `events` in Chrome's trace format (chrome://tracing, Perfetto)."""
    import socket  # which takes long to import

    process = os.getpid()
    tids = recorder.thread_numbers()
    trace = {
        "schemaVersion": 1,
        "deviceProperties": [],
        **head,
        "host_name": socket.gethostname(),
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": time.time_ns() - time.perf_counter_ns(),
        "traceEvents": [
            *_names(events, process, recorder.began, tids),
            *_spans(events, process, recorder.began, tids),
            *_memory(process, recorder, tids),
        ],
        "traceName": str(path),
    }
    with open_file(path) as file:
        file.write(json.dumps(trace))  # at once: ten times as fast as piece by piece


def open_file(path: Any) -> Any:
    """The file to write; one whose name ends in `.gz` is compressed."""
    if str(path).endswith(".gz"):
        import gzip

        return gzip.open(path, "wt", encoding="utf-8")
    return open(path, "w", encoding="utf-8")


def write_events(events: list[Any], path: str) -> None:
    """Write `events` as a bare list of spans, times counted from the start of the profile."""
    spans = [
        {
            "name": event.trace_name,
            "ph": "X",
            "ts": event.time_range.start,
            "dur": event.time_range.elapsed_us(),
            "tid": event.thread,
            "pid": "CPU functions",
            "args": {},
        }
        for event in events
    ]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(spans, file)


def write_stacks(events: list[Any], path: str, metric: str) -> None:
    """For each operator the Python functions around it, outermost first, and its `metric`."""
    attribute = metric.replace("cuda", "device").replace("xpu", "device")
    attribute = attribute.replace("privateuse1", "device")
    with open(path, "w", encoding="utf-8") as file:
        for event in events:
            value = int(getattr(event, attribute))
            stack = _functions_around(event)
            if value > 0 and stack and not event.is_python_function:
                file.write(f"{';'.join(stack)} {value}\n")


def _functions_around(event: Any) -> list[str]:
    stack = []
    while event.cpu_parent is not None:
        event = event.cpu_parent
        if event.is_python_function:
            stack.append(event.name.replace(" ", "_").replace(";", "_"))
    return stack[::-1]


def _names(events: list[Any], process: int, began_ns: int, tids: dict) -> list[dict]:
    """What the viewer calls the process and its threads."""
    program = os.path.basename(sys.executable)
    names = [("process_name", 0, {"name": program}), ("process_labels", 0, {"labels": "CPU"})]
    for number in sorted({event.thread for event in events}):
        thread = tids.get(number, number)
        names.append(("thread_name", thread, {"name": f"thread {thread} ({program})"}))
    return [
        {"ph": "M", "name": name, "ts": began_ns / 1e3, "pid": process, "tid": tid, "args": args}
        for name, tid, args in names
    ]


def _spans(events: list[Any], process: int, began_ns: int, tids: dict) -> list[dict]:
    """A span for each event, and an arrow from each operator to the node it recorded."""
    spans: list[dict] = []
    operators: dict[int, dict] = {}  # sequence number -> the operator that has it
    arrows = set()
    for number, event in enumerate(events):
        if event.trace_name is None:  # memory, see `_memory`
            continue
        start = began_ns / 1e3 + event.time_range.start
        where = {"pid": process, "tid": tids.get(event.thread, event.thread), "ts": start}
        args: dict[str, Any] = {"External id": event.id, "Ev Idx": number}
        sequence = event.sequence_nr
        if sequence >= 0:
            args |= {"Sequence number": sequence, "Fwd thread id": event.fwd_thread}
        if event.input_shapes:
            args["Input Dims"] = event.input_shapes
        if event.notes:
            args |= event.notes
        if event.module_hierarchy:
            args["Module Hierarchy"] = event.module_hierarchy
        if event.stack and not event.is_python_function:
            args["Call stack"] = ";".join(event.stack)
        span = {"ph": "X", "cat": event.activity_type, "name": event.trace_name, **where}
        spans.append({**span, "dur": event.time_range.elapsed_us(), "args": args})
        if sequence < 0:
            continue
        arrow = {"id": sequence, "cat": "fwdbwd", "name": "fwdbwd"}
        if event.fwd_thread == 0:
            operators.setdefault(sequence, where)
        elif sequence in operators and sequence not in arrows:  # the outer one of the two
            arrows.add(sequence)
            spans.append({"ph": "s", **arrow, **operators[sequence]})
            spans.append({"ph": "f", "bp": "e", **arrow, **where})
    return spans


def _memory(process: int, recorder: Any, tids: dict) -> list[dict]:
    """Each array that came or went, and a counter of how much is held."""
    if recorder.allocations is None:
        return []
    numbers = recorder.threads()
    found = []
    held = {"name": "memory held", "ph": "C", "pid": process, "tid": 0}
    found.append({**held, "ts": recorder.began / 1e3, "args": {"bytes": 0}})
    for change in recorder.allocations.changes:
        number = numbers.get(change.thread, 1)
        where = {"pid": process, "tid": tids.get(number, number), "ts": change.time / 1e3}
        args = {
            "Total Reserved": 0,
            "Total Allocated": change.held,
            "Bytes": change.n_bytes,
            "Device Id": -1,
            "Device Type": 0,
            "Addr": change.block.address,
        }
        point = {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]"}
        found.append({**point, **where, "args": args})
        found.append({**held, "ts": change.time / 1e3, "args": {"bytes": change.held}})
    return found
