"""`torch.profiler`: where time and memory go, over the steps of a training loop.

>>> x = torch.ones(2, 3, requires_grad=True)
>>> with torch.profiler.profile() as prof:
...     (x * x).sum().backward()
>>> [average.count for average in prof.key_averages() if average.key == "aten::mul"]
[1]
"""

from tapegrad.autograd.profiler import kineto_available, record_function
from tapegrad.autograd.profiler_util import DeviceType
from tapegrad.profiler.execution_trace import ExecutionTraceObserver
from tapegrad.profiler.plan import (
    ProfilerAction,
    ProfilerActivity,
    schedule,
    supported_activities,
)
from tapegrad.profiler.recording import _ExperimentalConfig, _KinetoProfile
from tapegrad.profiler.session import profile
from tapegrad.profiler.trace_handler import tensorboard_trace_handler

__all__ = [
    "DeviceType",
    "ExecutionTraceObserver",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def __getattr__(name: str):
    from tapegrad.missing import missing

    raise missing(__name__, name)
