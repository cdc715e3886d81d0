"""What a profiler recorded, as a list of events: nested, summed, printed, written to files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapegrad.autograd.profile_event import (
    DeviceType,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
)
from tapegrad.autograd.profile_recorder import BACKWARD, FUNCTION, Recorder
from tapegrad.errors import advised

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]


class EventList(list):
    """Events, or averages of events: a list that can print itself as a table."""

    def __init__(
        self,
        events: Iterable[Any] = (),
        *,
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
    ):
        super().__init__(events)
        self._options: dict[str, Any] = {
            "use_device": use_device,
            "profile_memory": profile_memory,
            "with_flops": with_flops,
        }

    def _build_tree(self) -> None:
        """Give every event its parent and its children, from their times."""
        _nest(self)
        while _merge(self):
            pass

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events, each moment counted once."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """One average for each name, or for each name and what else is to be told apart.

        Args:
            group_by_input_shapes: the shapes of the inputs (`record_shapes=True`).
            group_by_stack_n: so many of the innermost Python functions (`with_stack=True`).
            group_by_overload_name: operators have no overloads here; without effect.
        """
        averages: dict[tuple, FunctionEventAvg] = {}
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            stack = tuple(event.stack[:group_by_stack_n])
            key = (event.key, event.is_user_annotation, shapes, stack)
            average = averages.setdefault(key, FunctionEventAvg())
            average.add(event)
            average.stack = list(stack)
        if not group_by_input_shapes:
            for average in averages.values():
                average.input_shapes = ""
        return EventList(averages.values(), **self._options)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events, under the key `Total`."""
        total = FunctionEventAvg()
        for event in self:
            total.key = None  # what cannot be summed is the last event's
            total.add(event)
        total.key = "Total"
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as a table, ready to print.

        Args:
            sort_by: the attribute to sort by, largest first; None keeps the order of time.
            row_limit: how many rows to print, -1 for all.
            max_src_column_width: Python functions that are longer are cut, at their start.
            max_name_column_width: what is longer is cut.
            max_shapes_column_width: what is longer is cut.
            header: a line to print above the table.
            top_level_events_only: leave out events inside others.
            time_unit: `"s"`, `"ms"` or `"us"`; None chooses for each number.
        """
        from tapegrad.autograd.profile_table import Layout

        layout = Layout(
            row_limit=row_limit,
            source_width=max_src_column_width,
            name_width=max_name_column_width,
            shapes_width=max_shapes_column_width,
            header=header,
            top_level_only=top_level_events_only,
            time_unit=time_unit,
            memory=self._options["profile_memory"],
            flops=self._options["with_flops"],
        )
        events: list[Any] = self
        if sort_by is not None:
            attribute = sort_by.replace("cuda", "device")
            events = sorted(self, key=lambda event: getattr(event, attribute), reverse=True)
        return layout.text(events)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events to `path`, for a trace viewer."""
        from tapegrad.autograd.profile_trace import write_events

        write_events(self, path)

    def supported_export_stacks_metrics(self) -> list[str]:
        """The metrics that `export_stacks` takes."""
        devices = ("cpu", "cuda", "xpu", "privateuse1")
        return [f"self_{device}_time_total" for device in devices]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write each event's Python functions, outermost first, and its `metric`: a flame graph."""
        from tapegrad.autograd.profile_trace import write_stacks

        if metric not in self.supported_export_stacks_metrics():
            known = self.supported_export_stacks_metrics()
            raise advised(
                ValueError(f"metric should be one of: {known}"),
                f"Choose one of them instead of {metric!r}.",
            )
        write_stacks(self, path, metric)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        """What a notebook shows: who took most time."""
        from tapegrad.inspect.notebook import events_html

        return events_html(self)


def events_of(recorder: Recorder, *, flops: bool = False, shapes: bool = True) -> EventList:
    """What `recorder` noted, as events with parents and children."""
    from tapegrad.autograd.profile_flops import flops_of
    from tapegrad.autograd.profile_mode import EVALUATE, node_title

    threads = recorder.threads()
    forward: dict[int, int] = {}  # sequence number -> thread of the operator
    events: list[FunctionEvent] = []
    for record in recorder.all():
        thread = threads[record.thread]
        fwd_thread = forward.get(record.sequence, 0)
        if record.sequence >= 0 and record.scope == FUNCTION:
            forward.setdefault(record.sequence, thread)
        name = node_title(record.name) if record.scope == BACKWARD else record.name
        names = [EVALUATE + name, name] if record.scope == BACKWARD else [name]
        for name in names:
            event = FunctionEvent(
                len(events),
                name,
                thread,
                (record.start - recorder.began) / 1e3,
                (record.end - recorder.began) / 1e3,
                fwd_thread=fwd_thread,
                input_shapes=record.inputs if shapes and name is names[-1] else None,
                scope=record.scope,
                cpu_memory_usage=record.memory,
                sequence_nr=record.sequence,
                flops=flops_of(name, record.inputs or []) if flops else 0,
            )
            event.held = record.held
            event.module_hierarchy = record.module
            if name.startswith("ProfilerStep#"):
                event.name = "ProfilerStep*"  # the steps of a loop are summed
            events.append(event)
    result = EventList(events, profile_memory=recorder.memory, with_flops=flops)
    result._build_tree()
    _place(result)
    return result


def _place(events: list[FunctionEvent]) -> None:
    """Give events their Python functions and their layer: a node has those of its operator."""
    forward: dict[int, FunctionEvent] = {}
    for event in events:
        parent = event.cpu_parent
        if parent is not None:
            event.stack = parent.stack
            if parent.is_python_function:
                event.stack = [parent.name, *parent.stack]
        if event.sequence_nr >= 0 and event.scope == FUNCTION:
            forward.setdefault(event.sequence_nr, event)
        elif event.scope == BACKWARD and event.sequence_nr in forward:
            event.module_hierarchy = forward[event.sequence_nr].module_hierarchy
            if parent is not None and parent.scope == BACKWARD:
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
