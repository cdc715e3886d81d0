"""`torch.profiler.profile`: a profile over the steps of a loop, in cycles.

One recorder listens for as long as the block lasts. It is switched on and off by the schedule;
what it has recorded in a cycle is then a profile of `torch.autograd.profiler`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from tapegrad.autograd import profiler as _profiler
from tapegrad.profiler.plan import ProfilerAction, record_always
from tapegrad.profiler.recording import _KinetoProfile

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
            text = "`use_cuda` is deprecated, use `activities` argument instead"
            warnings.warn(text, FutureWarning, stacklevel=2)
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
            warnings.warn("Incorrect schedule: WARMUP followed by NONE", stacklevel=3)
        if before is RECORD and (after is NONE or after is WARMUP):
            text = f"Incorrect schedule: RECORD followed by {after.name}"
            warnings.warn(text, stacklevel=3)
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
