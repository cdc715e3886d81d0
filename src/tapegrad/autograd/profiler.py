"""The profiler: where the time of a block goes, operator by operator.

>>> x = torch.ones(2, 3, requires_grad=True)
>>> with torch.autograd.profiler.profile() as prof:
...     y = (x * 2).sum()
>>> [(average.key, average.count) for average in prof.key_averages()]
[('aten::mul', 1), ('aten::sum', 1)]
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from tapegrad.autograd.mode import MODE
from tapegrad.autograd.profile_mode import Profiling
from tapegrad.autograd.profile_recorder import RECORDER, USER, Record, Recorder
from tapegrad.autograd.profiler_util import (
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    events_of,
)
from tapegrad.errors import advised

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]

_DEVICES = ("cuda", "xpu", "mtia", "hpu", "privateuseone")


class profile:
    """Context manager that records the operators, nodes and named blocks that run inside it.

    Args:
        enabled: whether to record at all.
        use_cuda, use_device: devices to profile beside the CPU; there are none here.
        record_shapes: note the shapes of the inputs of operators.
        with_flops: estimate floating-point operations, of products of matrices, `add` and `mul`.
        profile_memory: note the bytes that Python holds more after an event than before it: arrays,
            and the tensors and nodes around them. (PyTorch counts what its allocator gives out.)
        with_stack: record Python functions too, except those of tapegrad.
        with_modules, use_kineto, use_cpu, experimental_config, acc_events,
        custom_trace_id_callback, post_processing_timeout_s, activity_filters: accepted and
            without effect, as they choose among the engines inside PyTorch's profiler.

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
        self.enabled = enabled
        self.use_cuda = use_cuda
        self.use_device: str | None = None
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.entered = False
        self._show_shapes = record_shapes
        self._recorder: Recorder | None = None
        self._tracer: Any = None
        self._tokens: tuple = ()
        self._events: EventList | None = None
        if not enabled:
            return
        if not use_cpu:
            raise advised(
                AssertionError("Device-only events supported only with Kineto (use_kineto=True)"),
                "Leave use_cpu=True: there is no other device here.",
            )
        if use_cuda:
            text = "The attribute `use_cuda` will be deprecated soon, please use"
            text += " ``use_device = 'cuda'`` instead."
            warnings.warn(text, FutureWarning, stacklevel=2)
            use_device = "cuda"
        if use_device in _DEVICES:
            name = use_device.upper()
            text = f"{name} is not available, disabling {name} profiling"
            warnings.warn(text, stacklevel=2)
        elif use_device is not None:
            warnings.warn(f"The {use_device} is not a valid device option.", stacklevel=2)

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise advised(
                RuntimeError("Profiler context manager is not reentrant"),
                "Make a new profile() for each block.",
            )
        self.entered = True
        recorder = Recorder(shapes=self.record_shapes, memory=self.profile_memory)
        recorder.start()
        if self.with_stack:
            from tapegrad.autograd.profile_python import PythonTracer

            self._tracer = PythonTracer(recorder)
            self._tracer.start()
        self._recorder = recorder
        mode = MODE.get()
        under = mode.under if isinstance(mode, Profiling) else mode
        self._tokens = RECORDER.set(recorder), MODE.set(Profiling(under, recorder))
        return self

    def __exit__(self, *error: object) -> None:
        if self._recorder is None:
            return
        recorder, mode = self._tokens
        MODE.reset(mode)
        RECORDER.reset(recorder)
        if self._tracer is not None:
            self._tracer.stop()
        self._recorder.stop()

    @property
    def function_events(self) -> EventList:
        """Every event, in the order in which they began; empty until the block has ended."""
        if self._events is None:
            recorder = self._recorder
            if recorder is None or not recorder.ended:
                return EventList()
            self._events = events_of(recorder, flops=self.with_flops, shapes=self._show_shapes)
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

    def export_chrome_trace(self, path: str, metadata: dict | None = None) -> None:
        """Write a trace for chrome://tracing or Perfetto; `metadata` is added to its head."""
        from tapegrad.autograd.profile_trace import write_trace

        write_trace(self.function_events, path, metadata, self._finished().began)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write each event's Python functions, outermost first, and its `metric`: a flame graph."""
        self._finished()
        if not self.with_stack:
            raise advised(
                AssertionError("export_stacks() requires with_stack=True"),
                "Use profile(with_stack=True).",
            )
        self.function_events.export_stacks(path, metric)

    def _finished(self) -> Recorder:
        if self._recorder is None or not self._recorder.ended:
            raise advised(
                RuntimeError("Profiler didn't finish running"),
                "Leave the block of `with profile()` first.",
            )
        return self._recorder

    def __repr__(self) -> str:
        if self._recorder is None or not self._recorder.ended:
            return "<unfinished torch.autograd.profile>"
        return repr(self.function_events)

    def __str__(self) -> str:
        if self._recorder is None or not self._recorder.ended:
            return repr(self)
        return str(self.function_events)


class record_function:
    """Context manager and decorator that gives a block a name in the profile.

    Args:
        name: what the block is called.
        args: a note, kept as the attribute `args`.

    >>> x = torch.ones(2)
    >>> with torch.autograd.profiler.profile() as prof:
    ...     with torch.autograd.profiler.record_function("my block"):
    ...         y = x * x
    >>> [event.name for event in prof.function_events]
    ['my block', 'aten::mul']
    """

    def __init__(self, name: str, args: str | None = None):
        self.name = name
        self.args = args
        self._open: tuple[Recorder, Record] | None = None

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str):
            raise advised(
                RuntimeError(
                    "profiler::_record_function_enter_new() Expected a value of type 'str' for "
                    f"argument 'name' but instead found type '{type(self.name).__name__}'."
                ),
                "Give the block a name: record_function('name').",
            )
        recorder = RECORDER.get()
        if recorder is not None:
            self._open = recorder, recorder.push(self.name, USER)
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            recorder, record = self._open
            self._open = None
            recorder.pop(record)

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapper


def __getattr__(name: str):
    from tapegrad.missing import missing

    raise missing(__name__, name)
