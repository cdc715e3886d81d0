"""The profiler: where the time of a block goes, operator by operator.

>>> x = torch.ones(2, 3, requires_grad=True)
>>> with torch.autograd.profiler.profile() as prof:
...     y = (x * 2).sum()
>>> [(average.key, average.count) for average in prof.key_averages()]
[('aten::mul', 1), ('aten::sum', 1)]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tapegrad.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg
from tapegrad.core.errors import assertion_error, deprecated, runtime_error, warn
from tapegrad.core.missing import refuses as _refuses
from tapegrad.profiler.block import attach, detach, emit_itt, emit_nvtx, record_function
from tapegrad.profiler.chrome_trace import write_trace
from tapegrad.profiler.event import events_of
from tapegrad.profiler.recorder import PythonTracer, Recorder

__all__ = [
    "EventList", "FunctionEvent", "FunctionEventAvg", "emit_itt", "emit_nvtx", "kineto_available",
    "profile", "record_function",
]  # fmt: skip

_DEVICES = ("cuda", "xpu", "mtia", "hpu", "privateuseone")


def _ranks() -> dict:
    """Which rank this is, for a trace; empty without a process group."""
    groups = sys.modules.get("tapegrad.distributed.groups")
    if groups is None or not groups.is_initialized():
        return {}
    told = {
        "backend": groups.get_backend(),
        "rank": groups.get_rank(),
        "world_size": groups.get_world_size(),
        "pg_count": groups.get_pg_count(),
    }
    return {"distributedInfo": told}


class profile:
    """Context manager that records the operators, nodes and named blocks that run inside it.

    Args:
        enabled: whether to record at all.
        use_cuda, use_device: devices to profile beside the CPU; there are none here.
        record_shapes: note the shapes of the inputs of operators.
        with_flops: estimate floating-point operations, of products of matrices, `add` and `mul`.
        profile_memory: note the bytes that Python holds more after an event than before it: arrays,
            and the tensors and nodes around them. (PyTorch counts what its allocator gives out.)
        with_stack: record Python functions and calls of layers too, except functions of tapegrad.
        with_modules: note the layer in which an operator ran, `Net.body.0`, as
            `module_hierarchy` of the event and in the trace.
        acc_events: keep the events of earlier cycles, see `torch.profiler.profile`.
        custom_trace_id_callback: gives the name of the trace, `trace_id` in its file.
        use_kineto, use_cpu, experimental_config, post_processing_timeout_s, activity_filters:
            accepted and without effect, as they choose among the engines inside PyTorch's profiler.

    A second profiler inside the block has its block for itself.

    >>> x = torch.ones(2, 3)
    >>> with torch.autograd.profiler.profile(record_shapes=True) as prof:
    ...     y = x * x
    >>> prof.function_events[0].input_shapes
    [[2, 3], [2, 3]]
    >>> print(prof.key_averages().table().splitlines()[-1].split(":")[0])
    Self CPU time total
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: dict | None = None,
    ):
        self.enabled, self.use_cuda = enabled, use_cuda
        self.use_device: str | None = None
        self.record_shapes = record_shapes or with_flops
        self.with_flops, self.profile_memory = with_flops, profile_memory
        self.with_stack, self.with_modules = with_stack, with_modules
        self.entered = False
        self._show_shapes = record_shapes
        self._values = False  # whether an execution trace is written as well
        self._recorder: Recorder | None = None
        self._tracer: Any = None
        self._attached: tuple = ()
        self._earlier: list[Any] = []  # events of earlier cycles, where they are saved
        self.trace_id = ""
        self._new_trace_id = custom_trace_id_callback or _trace_id
        self.acc_events = acc_events
        self._events: EventList | None = None
        if not enabled:
            return
        if not use_cpu:
            raise assertion_error(
                "Device-only events supported only with Kineto (use_kineto=True)",
                "Leave use_cpu=True: there is no other device here.",
            )
        if use_cuda:
            deprecated(
                "The attribute `use_cuda` will be deprecated soon, please use ``use_device = "
                "'cuda'`` instead."
            )
            use_device = "cuda"
        if use_device in _DEVICES:
            name = use_device.upper()
            warn(f"{name} is not available, disabling {name} profiling")
        elif use_device is not None:
            warn(f"The {use_device} is not a valid device option.")

    def __enter__(self) -> Any:  # None where it is not enabled
        if not self.enabled:
            return None
        if self.entered:
            raise runtime_error(
                "Profiler context manager is not reentrant", "Make a new profile() for each block."
            )
        self.entered = True
        self._recorder = self._new_recorder()
        self._attached = attach(self._recorder)
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._recorder is None:
            return
        self._stop()
        detach(*self._attached)

    def _new_recorder(self) -> Recorder:
        return Recorder(
            shapes=self.record_shapes,
            memory=self.profile_memory,
            modules=self.with_modules,
            flops=self.with_flops,
            values=self._values,
        )

    def _start(self) -> None:
        recorder = self._recorder
        if recorder is None:
            raise AssertionError("a recorder is made before it starts")
        recorder.start()
        if self.with_stack:
            self._tracer = PythonTracer(recorder)
            self._tracer.start()

    def _stop(self) -> None:
        if self._tracer is not None:
            self._tracer.stop()
        self._recorder.stop()  # type: ignore[union-attr]

    @property
    def function_events(self) -> EventList:
        """Every event, in the order in which they began; empty until the block has ended."""
        if self._events is None:
            recorder = self._recorder
            if recorder is None or not recorder.ended:
                return EventList()
            events = events_of(recorder, flops=self.with_flops, shapes=self._show_shapes)
            self._events = EventList(
                [*self._earlier, *events],
                profile_memory=self.profile_memory,
                with_flops=self.with_flops,
            )
        return self._events

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events in microseconds, each moment counted once."""
        return self.function_events.self_cpu_time_total

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """One average for each name, or for each name and shapes of the inputs."""
        return self.function_events.key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events, under the key `Total`."""
        return self.function_events.total_average()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """Every event as a row of a table; see `EventList.table`."""
        return self.function_events.table(
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
        )

    def export_chrome_trace(
        self, path: str, metadata: dict | None = None, use_python_export: bool = False
    ) -> None:
        """Write a trace for chrome://tracing or Perfetto; `metadata` is added to its head.

        Args:
            path: a name that ends in `.gz` gives a compressed file.
            metadata: keys and values for the head of the trace.
            use_python_export: accepted; there is one way to write a trace here.
        """
        recorder = self._finished()
        options = {
            "trace_id": self.trace_id,
            "profile_memory": self.profile_memory,
            "with_stack": self.with_stack,
            "record_shapes": self._show_shapes,
            "with_modules": self.with_modules,
            "with_flops": self.with_flops,
        }
        head: dict[str, Any] = {
            name: int(v) if v is True else v for name, v in options.items() if v
        }
        write_trace(self.function_events, path, head | _ranks() | (metadata or {}), recorder)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write each event's Python functions, outermost first, and its `metric`: a flame graph."""
        self._finished()
        if not self.with_stack:
            raise assertion_error(
                "export_stacks() requires with_stack=True", "Use profile(with_stack=True)."
            )
        self.function_events.export_stacks(path, metric)

    def _finished(self) -> Recorder:
        if self._recorder is None or not self._recorder.ended:
            raise runtime_error(
                "Profiler didn't finish running", "Leave the block of `with profile()` first."
            )
        return self._recorder

    def _repr_html_(self) -> str:
        """What a notebook shows: the averages."""
        return self.key_averages()._repr_html_()

    def __repr__(self) -> str:
        if self._recorder is None or not self._recorder.ended:
            return "<unfinished torch.autograd.profile>"
        return repr(self.function_events)

    def __str__(self) -> str:
        if self._recorder is None or not self._recorder.ended:
            return repr(self)
        return str(self.function_events)


def _trace_id() -> str:
    from uuid import uuid4

    return uuid4().hex.upper()


def kineto_available() -> bool:
    """Whether there is a profiler to record with: there is.

    >>> torch.autograd.profiler.kineto_available()
    True
    """
    return True


__getattr__ = _refuses(__name__)
