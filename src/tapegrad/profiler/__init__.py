"""`torch.profiler`: where time and memory go, over the steps of a training loop.

>>> x = torch.ones(2, 3, requires_grad=True)
>>> with torch.profiler.profile() as prof:
...     (x * x).sum().backward()
>>> [average.count for average in prof.key_averages() if average.key == "aten::mul"]
[1]
"""

from importlib import import_module
from typing import Any

_FILES = {
    "tapegrad.autograd.profiler": "kineto_available record_function",
    "tapegrad.autograd.profiler_util": "DeviceType",
    "tapegrad.profiler.execution_trace": "ExecutionTraceObserver",
    "tapegrad.profiler.profiler": "ProfilerAction ProfilerActivity profile schedule "
    "supported_activities tensorboard_trace_handler _ExperimentalConfig _KinetoProfile",
}
_HOME = {name: file for file, names in _FILES.items() for name in names.split()}

__all__ = [
    "DeviceType", "ExecutionTraceObserver", "ProfilerAction", "ProfilerActivity",
    "kineto_available", "profile", "record_function", "schedule", "supported_activities",
    "tensorboard_trace_handler",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """A public name, on its first use: the files behind it need the profiler of autograd."""
    if name not in _HOME:
        from tapegrad.core.missing import missing

        raise missing(__name__, name)
    globals()[name] = found = getattr(import_module(_HOME[name]), name)
    return found
