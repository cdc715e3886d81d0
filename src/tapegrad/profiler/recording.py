"""One recording: what `torch.profiler.profile` does once in each of its cycles."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from tapegrad.autograd import profiler as _profiler
from tapegrad.autograd.profiler_util import EventList
from tapegrad.core.errors import assertion_error, value_error
from tapegrad.profiler.execution_trace import ExecutionTraceObserver
from tapegrad.profiler.plan import ProfilerActivity, supported_activities
from tapegrad.profiler.recorder import Recorder


class _ExperimentalConfig:
    """Options of PyTorch's own engine; they are kept and have no effect here."""

    def __init__(self, **options: Any):
        self.__dict__.update(options)


class _KinetoProfile:
    """One recording, from `start_trace` to `stop_trace`; `profile` does it by a schedule."""

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ):
        self.activities = _activities(activities)
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.experimental_config = experimental_config
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.execution_trace_observer = (
            execution_trace_observer or ExecutionTraceObserver.build_execution_trace_obs_from_env()
        )
        self.use_device: str | None = None
        self.profiler: Any = None
        self.preset_metadata: dict[str, str] = {}
        self._metadata: dict[str, Any] = {}
        self._recorder: Recorder | None = None
        self._attached: tuple = ()
        self._n_cycles = 0

    def start(self) -> None:
        """Begin to record."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """End the recording."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Make ready what records: a profile with no events yet."""
        before, acc = self.profiler, self.acc_events
        devices = [each.name for each in self.activities if each is not ProfilerActivity.CPU]
        self.profiler = _profiler.profile(
            use_device=devices[0].lower() if devices else None,
            record_shapes=self.record_shapes,
            profile_memory=self.profile_memory,
            with_stack=self.with_stack,
            with_flops=self.with_flops,
            with_modules=self.with_modules,
            experimental_config=self.experimental_config,
            acc_events=acc,
            custom_trace_id_callback=self.custom_trace_id_callback,
        )
        self.profiler._values = self.execution_trace_observer is not None
        if acc and before is not None:
            self.profiler._earlier = list(before.function_events)
        self._listen()

    def start_trace(self) -> None:
        """Record from here on."""
        if self.profiler is None or self.profiler._recorder is not None:
            self.prepare_trace()
        self._n_cycles += 1
        if self._n_cycles == 2 and not self.acc_events:
            text = "Warning: Profiler clears events at the end of each cycle. Only events from the "
            text += "current cycle will be reported. To keep events across cycles, set "
            text += "acc_events=True."
            warnings.warn(text, stacklevel=4)
        self._metadata = {key: json.loads(value) for key, value in self.preset_metadata.items()}
        self.profiler.trace_id = self.profiler._new_trace_id()
        self.profiler._recorder = self._recorder
        observer = self.execution_trace_observer
        if observer is not None and not isinstance(observer, ExecutionTraceObserver):
            observer.start()  # of the user's own
        self.profiler._start()
        if ProfilerActivity.CPU not in self.activities:
            self._recorder.on = False  # type: ignore[union-attr]

    def stop_trace(self) -> None:
        """Record no more; the events are those since `start_trace`."""
        prof = self._begun("stopping trace")
        prof._stop()
        prof._recorder = prof._recorder.taken()  # the next cycle begins with empty lists
        observer = self.execution_trace_observer
        if isinstance(observer, ExecutionTraceObserver):
            observer.take(prof._recorder)
        elif observer is not None:
            observer.stop()
        if type(self) is _KinetoProfile:
            self._leave()

    def _listen(self) -> None:
        if not self._attached:
            self._recorder = self.profiler._new_recorder()
            self._attached = _profiler.attach(self._recorder)

    def _leave(self) -> None:
        if self._attached:
            _profiler.detach(*self._attached)
            self._attached = ()

    def _begun(self, what: str) -> Any:
        if self.profiler is None:
            raise assertion_error(
                f"Profiler must be initialized before {what}",
                "Record something first: with torch.profiler.profile() as prof: ...",
            )
        return self.profiler

    # --- what was recorded ----------------------------------------------------------------------

    def events(self) -> EventList:
        """The events of the cycle, in the order in which they began."""
        return self._begun("accessing events").function_events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """One average for each name, see `EventList.key_averages`."""
        return self._begun("getting key averages").key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write the trace for chrome://tracing or Perfetto; `.gz` at the end compresses it."""
        self._begun("exporting chrome trace").export_chrome_trace(path, self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write Python functions, outermost first, and their `metric`: for a flame graph."""
        self._begun("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Write the bytes over time, by what they were for: a picture, or numbers.

        Args:
            path: the end of the name says what is written: `.html` a page with a picture,
                `.raw.json.gz` a list of `[time in ns, action, bytes, category]`, `.json` and all
                others the times in microseconds and the bytes of each category.
            device: "cpu" or None; on other devices there is nothing.

        Raises:
            ValueError: the profile does not record shapes, memory and stacks.
        """
        text = "`export_memory_timeline` is deprecated and will be removed in a future version. "
        text += "Please use `torch.cuda.memory._record_memory_history` and "
        text += "`torch.cuda.memory._export_memory_snapshot` instead."
        warnings.warn(text, FutureWarning, stacklevel=2)
        if not (self.record_shapes and self.profile_memory and self.with_stack):
            raise value_error(
                "record_shapes=True, profile_memory=True, with_stack=True required for memory "
                "profiling.",
                "tapegrad.inspect.memory() shows the memory of a block.",
            )
        recorder = None if self.profiler is None else self.profiler._recorder
        if recorder is None or not recorder.ended:
            raise assertion_error(
                "Profiler and kineto_results must be initialized for memory profiling",
                "Record something first: with torch.profiler.profile(...) as prof: ...",
            )
        from tapegrad.profiler.memory_timeline import export

        export(recorder, path, device or "cpu")

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the averages, once there are any."""
        return None if self.profiler is None else self.key_averages()._repr_html_()

    # --- the head of the trace ------------------------------------------------------------------

    def add_metadata(self, key: str, value: str) -> None:
        """Add a text to the head of the trace, while the profile records."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a value, given as JSON, to the head of the trace, while the profile records."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Add a value, given as JSON, to the head of every trace, before the profile begins."""
        self.preset_metadata[key] = value

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Have `callback()` name the traces to come."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self) -> str | None:
        """The name of the trace, None before there is one."""
        return None if self.profiler is None else self.profiler.trace_id

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:
        """Stop to record, or go on, within the trace."""
        if self._recorder is not None and ProfilerActivity.CPU in set(activities):
            self._recorder.on = bool(enable)


def _activities(given: Iterable[Any] | None) -> set[ProfilerActivity]:
    if given is None:
        return supported_activities()
    chosen = {each for one in given for each in (one if isinstance(one, dict) else (one,))}
    chosen = {each for each in chosen if isinstance(each, ProfilerActivity)}
    if not chosen:
        raise assertion_error(
            "No valid profiler activities found",
            "Give activities=[torch.profiler.ProfilerActivity.CPU].",
        )
    return chosen
