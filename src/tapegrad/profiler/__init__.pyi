# Written by `python -m tools.stubs`.

from builtins import bool as _bool
from builtins import int as _int
from builtins import str as _str
from collections.abc import Callable
from typing import Any

from tapegrad.profiler.block import record_function as record_function
from tapegrad.profiler.event import DeviceType as DeviceType
from tapegrad.profiler.execution_trace import ExecutionTraceObserver as ExecutionTraceObserver
from tapegrad.profiler.profiler import ProfilerAction as ProfilerAction
from tapegrad.profiler.profiler import ProfilerActivity as ProfilerActivity
from tapegrad.profiler.profiler import profile as profile

def kineto_available() -> _bool: ...
def schedule(
    *,
    wait: _int,
    warmup: _int,
    active: _int,
    repeat: _int = 0,
    skip_first: _int = 0,
    skip_first_wait: _int = 0,
) -> Callable[[_int], ProfilerAction]: ...
def supported_activities() -> set[ProfilerActivity]: ...
def tensorboard_trace_handler(
    dir_name: _str,
    worker_name: _str | None = None,
    use_gzip: _bool = False,
    use_python_export: _bool = False,
) -> Callable[[Any], None]: ...
