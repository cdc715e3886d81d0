"""One event of a profile, and the average of many.

Times are microseconds since the profiler was switched on. `cpu_time_total` of an event is all the
time between its start and its end; `self_cpu_time_total` is that without its children.
"""

from __future__ import annotations

import enum
import warnings
from typing import Any

from tapegrad.profiler.recorder import FUNCTION, PYTHON, USER

_KINDS = {USER: "user_annotation", PYTHON: "python_function"}


class DeviceType(enum.Enum):
    """Where an event ran."""

    CPU = 0


class Interval:
    """From `start` to `end`, in microseconds.

    >>> torch.autograd.profiler_util.Interval(2.0, 5.0).elapsed_us()
    3.0
    """

    def __init__(self, start: float, end: float):
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """How long it lasted."""
        return self.end - self.start


def format_time(time_us: float) -> str:
    """A time with its unit, as the table prints it."""
    if time_us >= 1e6:
        return f"{time_us / 1e6:.3f}s"
    if time_us >= 1e3:
        return f"{time_us / 1e3:.3f}ms"
    return f"{time_us:.3f}us"


class _Times:
    """What events and their averages have in common.

    Nothing runs on a device: its times and its memory are nought.
    """

    count: int
    cpu_time_total: float
    self_cpu_time_total: float

    node_id = -1
    device_type = DeviceType.CPU
    use_device: str | None = None
    is_async = is_remote = is_legacy = False
    overload_name: str | None = None
    device_time = 0.0
    device_time_total = self_device_time_total = 0
    device_memory_usage = self_device_memory_usage = 0

    @property
    def cpu_time(self) -> float:
        """Time of one call, its children included, on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __getattr__(self, name: str) -> Any:
        """`cpu_time_str` and its like; `cuda_time` and its like, by the names they had."""
        if name.endswith("_time_str") or name.endswith("_time_total_str"):
            return format_time(getattr(self, name.removesuffix("_str")))
        if "cuda_" in name:
            new = name.replace("cuda_", "device_")
            value = getattr(self, new)
            text = f"`{name}` is deprecated, please use `{new}` instead."
            warnings.warn(text, FutureWarning, stacklevel=2)
            return value
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class FunctionEvent(_Times):
    """One call of an operator, one run of a node, one block of `record_function`.

    Attributes:
        name: `aten::mul`; `ProfilerStep*` for each step of a loop, whose number is in `trace_name`.
        thread: 1 for the thread of the profiler, then as threads come.
        time_range: start and end in microseconds, from when the profiler was switched on.
        input_shapes: of tensors; `[]` for what is none.
        stack: Python functions around it, innermost first.
        sequence_nr: of the node that an operator recorded, and of that node's own event.
        fwd_thread: the thread of its operator, for a node.
        module_hierarchy: the layer that was being called, `Net.body.0`.
        cpu_parent, cpu_children: the events around it and inside it.
    """

    count = 1
    device_index = external_id = 0
    concrete_inputs: list | None = None
    kwinputs: dict | None = None

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        overload_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: list | None = None,
        stack: list[str] | None = None,
        scope: int = FUNCTION,
        *,
        cpu_memory_usage: int = 0,
        sequence_nr: int = -1,
        flops: int | None = None,
        trace_name: str | None = None,
        is_user_annotation: bool = False,
    ):
        self.id = id
        self.name = name
        self.trace_name = trace_name
        self.thread = self.device_resource_id = thread
        self.time_range = Interval(start_us, end_us)
        self.overload_name = overload_name
        self.fwd_thread = fwd_thread
        self.input_shapes = input_shapes
        self.stack = stack
        self.scope = scope
        self.is_user_annotation = is_user_annotation
        self.cpu_memory_usage = cpu_memory_usage
        self.sequence_nr = sequence_nr
        self.flops = flops
        self.module_hierarchy = ""
        self.values: tuple[list, list] | None = None  # what it was given and gave
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    @property
    def key(self) -> str:
        """What events are averaged by: the name."""
        return self.name

    @property
    def is_python_function(self) -> bool:
        return self.scope == PYTHON

    @property
    def activity_type(self) -> str:
        return _KINDS.get(self.scope, "cpu_op")

    @property
    def cpu_time_total(self) -> float:
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Add an event that ran inside this one."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Set the event that this one ran inside."""
        self.cpu_parent = parent

    def __repr__(self) -> str:
        device = self.use_device
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name}"
            f" device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str}"
            f" start_us={self.time_range.start} end_us={self.time_range.end}"
            f" cpu_children={[child.id for child in self.cpu_children]}"
            f" {device}_time={self.device_time_str} name={self.name} thread={self.thread}"
            f" input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}"
            f" {device}_memory_usage={self.device_memory_usage} is_async={self.is_async}"
            f" is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


class FunctionEventAvg(_Times):
    """The sum of the events of one key; `cpu_time` is their average."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.flops = 0
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: list[str] | None = None
        self.scope = FUNCTION
        self.is_user_annotation = False
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    def add(self, other: Any) -> FunctionEventAvg:
        """Add an event, or another average."""
        if self.key is None:
            self.key = other.key
            self.input_shapes = other.input_shapes
            self.stack = other.stack
            self.overload_name = other.overload_name
            self.scope = other.scope
            self.is_user_annotation = other.is_user_annotation
            self.cpu_children = other.cpu_children
            self.cpu_parent = other.cpu_parent
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.flops += other.flops or 0
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str}"
            f" cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str}"
            f" {device}_time={self.device_time_str} input_shapes={self.input_shapes}"
            f" cpu_memory_usage={self.cpu_memory_usage}"
            f" {device}_memory_usage={self.device_memory_usage}>"
        )
