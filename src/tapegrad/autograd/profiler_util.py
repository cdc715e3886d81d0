"""Events of a profile: nested, summed, printed, written to files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.profiler.chrome_trace import write_events, write_stacks
from tapegrad.profiler.event import (
    DeviceType,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    Layout,
    build_tree,
)

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
        build_tree(self)

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
            stack = tuple((event.stack or ())[:group_by_stack_n])
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
        write_events(self, path)

    def supported_export_stacks_metrics(self) -> list[str]:
        """The metrics that `export_stacks` takes."""
        devices = ("cpu", "cuda", "xpu", "privateuse1")
        return [f"self_{device}_time_total" for device in devices]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write each event's Python functions, outermost first, and its `metric`: a flame graph."""
        if metric not in self.supported_export_stacks_metrics():
            known = self.supported_export_stacks_metrics()
            raise value_error(
                f"metric should be one of: {known}", f"Choose one of them instead of {metric!r}."
            )
        write_stacks(self, path, metric)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        """What a notebook shows: who took most time."""
        from tapegrad.inspect.notebook import events_html

        return events_html(self)
