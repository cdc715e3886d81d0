"""When a profiler records: activities, actions, and schedules over the steps of a loop."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable

from tapegrad.core.errors import assertion_error


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
        text = "Profiler won't be using warmup, this can skew profiler results"
        warnings.warn(text, stacklevel=2)
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
