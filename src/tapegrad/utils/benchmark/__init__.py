"""How long statements take: timers, their measurements, and tables that compare them."""

from timeit import default_timer as timer

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.benchmark.utils.common import (
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)
from tapegrad.utils.benchmark.utils.compare import Colorize, Compare
from tapegrad.utils.benchmark.utils.fuzzer import (
    FuzzedParameter,
    FuzzedTensor,
    Fuzzer,
    ParameterAlias,
)
from tapegrad.utils.benchmark.utils.timer import Language, Timer

__all__ = [
    "Colorize", "Compare", "FuzzedParameter", "FuzzedTensor", "Fuzzer", "Language", "Measurement",
    "ParameterAlias", "TaskSpec", "Timer", "ordered_unique", "select_unit", "set_torch_threads",
    "timer", "trim_sigfig", "unit_to_english",
]  # fmt: skip

__getattr__ = _refuses(__name__)
