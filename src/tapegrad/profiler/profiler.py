"""`torch.profiler.profile`: a profile over the steps of a loop, in cycles.

One recorder listens for as long as the block lasts. It is switched on and off by the schedule;
what it has recorded in a cycle is then a profile of `torch.autograd.profiler`.
"""

from __future__ import annotations

import enum
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

from tapegrad.autograd import profiler as _profiler
from tapegrad.autograd.profiler_util import EventList
from tapegrad.core.errors import assertion_error, deprecated, value_error, warn
from tapegrad.profiler.execution_trace import ExecutionTraceObserver
from tapegrad.profiler.memory import export
from tapegrad.profiler.recorder import Recorder


class _ExperimentalConfig:
    """Options of PyTorch's own engine; they are kept and have no effect here."""

    def __init__(self, **options: object):
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
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops = with_stack, with_flops
        self.with_modules = with_modules
        self.experimental_config, self.acc_events = experimental_config, acc_events
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
        if not self._attached:
            self._recorder = self.profiler._new_recorder()
            self._attached = _profiler.attach(self._recorder)

    def start_trace(self) -> None:
        """Record from here on."""
        if self.profiler is None or self.profiler._recorder is not None:
            self.prepare_trace()
        self._n_cycles += 1
        if self._n_cycles == 2 and not self.acc_events:
            text = "Warning: Profiler clears events at the end of each cycle. Only events from the "
            text += "current cycle will be reported. To keep events across cycles, set "
            warn(text + "acc_events=True.", 4)
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
        deprecated(
            "`export_memory_timeline` is deprecated and will be removed in a future version. "
            "Please use `torch.cuda.memory._record_memory_history` and "
            "`torch.cuda.memory._export_memory_snapshot` instead."
        )
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


class ProfilerActivity(enum.Enum):
    """What may be recorded; here, what runs on the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 4
    CUDA = 2
    HPU = 3
    PrivateUse1 = 5

    def __int__(self) -> int:
        return self.value

    __index__ = __int__

    def __hash__(self) -> int:
        return hash(self.value)


class ProfilerAction(enum.Enum):
    """What the profiler does during one step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def supported_activities() -> set[ProfilerActivity]:
    """The activities that can be recorded.

    >>> torch.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """A function that says for the number of a step what is done during it.

    After `skip_first` steps come cycles of `wait` idle steps, `warmup` steps, and `active` steps
    that are recorded.

    Args:
        wait, warmup, active: how many steps of each; at least one is active.
        repeat: how many cycles; 0 goes on until the end.
        skip_first: steps before the first cycle.
        skip_first_wait: if not 0, the first cycle does without its idle steps.

    >>> plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    given = (wait, warmup, active, repeat, skip_first)
    if min(given) < 0 or active < 1:
        raise assertion_error(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), "
            f"warmup={warmup} (need >= 0), active={active} (need > 0), "
            f"repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0).",
            "Numbers of steps are not negative, and one step at least is active.",
        )
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results")
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step >= 0 and skip_first_wait != 0:
            step += wait  # the first cycle begins after its idle steps
        if step < 0 or (repeat > 0 and step >= repeat * cycle):
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == cycle - 1 else ProfilerAction.RECORD

    return action


def record_always(step: int) -> ProfilerAction:
    """The plan of a profile that has no schedule."""
    return ProfilerAction.RECORD


_default_schedule_fn = record_always


def tensorboard_trace_handler(
    dir_name: str,
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[Any], None]:
    """For `on_trace_ready`: write the trace into a folder, a file for each cycle.

    Args:
        dir_name: the folder; it is made if need be.
        worker_name: how the files' names begin, different for each process; None takes the names
            of the machine and the process.
        use_gzip: compress the files.
        use_python_export: accepted; there is one way to write a trace here.

    Raises:
        RuntimeError: the folder cannot be made.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> save = torch.profiler.tensorboard_trace_handler(folder, worker_name="me")
    >>> with torch.profiler.profile(on_trace_ready=save):
    ...     y = torch.ones(2) * 2
    >>> [name.endswith(".pt.trace.json") for name in os.listdir(folder)]
    [True]
    """

    def handle(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        file = f"{name}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, file))

    return handle


NONE, WARMUP = ProfilerAction.NONE, ProfilerAction.WARMUP
RECORD, SAVE = ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE


class profile(_KinetoProfile):
    """Context manager that records what runs inside it, all of it or some steps of a loop.

    Args:
        activities: of `ProfilerActivity`; the CPU is the one there is.
        schedule: a function from the number of the step to a `ProfilerAction`, as
            `torch.profiler.schedule` gives it; `step()` goes on to the next step.
        on_trace_ready: called with the profile at the end of each cycle.
        record_shapes, profile_memory, with_stack, with_flops, with_modules: as in
            `torch.autograd.profiler.profile`.
        execution_trace_observer: an `ExecutionTraceObserver`, or an object with `start`, `stop`
            and `cleanup`, which are called around each cycle and at the end.
        acc_events: keep the events of earlier cycles.
        custom_trace_id_callback: gives the name of the trace.
        use_cuda, experimental_config, post_processing_timeout_s: accepted and without effect.

    While it waits, small operators take up to half as long again, as they do while it records.

    >>> x = torch.ones(2, 3)
    >>> plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> with torch.profiler.profile(schedule=plan) as prof:
    ...     for _ in range(5):
    ...         y = x * x
    ...         prof.step()
    >>> [event.name for event in prof.events()]
    ['ProfilerStep*', 'aten::mul', 'ProfilerStep*', 'aten::mul']
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ):
        if use_cuda is not None:
            deprecated("`use_cuda` is deprecated, use `activities` argument instead")
        super().__init__(
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
        )
        self.schedule = schedule or record_always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(self.step_num)
        self.step_rec_fn: Any = None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with the first step."""
        if not self._attached:
            self._n_cycles = 0
        self.prepare_trace()
        self._go(NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """End the last step, and the recording if it is in one."""
        self._end_step()
        try:
            self._go(self.current_action, None)
        finally:  # what is called when a trace is ready may fail
            self._leave()
            if self.execution_trace_observer is not None:
                self.execution_trace_observer.cleanup()

    def step(self) -> None:
        """Say that the next step of the loop begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._go(before, self.current_action)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = _profiler.record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _go(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        """From the action of one step to that of the next; None is the end."""
        recorded = before is RECORD or before is SAVE
        if before is WARMUP and after is NONE:
            warn("Incorrect schedule: WARMUP followed by NONE", 3)
        if before is RECORD and (after is NONE or after is WARMUP):
            warn(f"Incorrect schedule: RECORD followed by {after.name}", 3)
        if recorded and (before is SAVE or after not in (RECORD, SAVE)):
            self.stop_trace()
            recorded = False
            if (before is SAVE or after is None) and self.on_trace_ready is not None:
                self.on_trace_ready(self)
        if after is RECORD or after is SAVE:
            if not recorded:
                self.start_trace()
        elif after is WARMUP:
            self.prepare_trace()
