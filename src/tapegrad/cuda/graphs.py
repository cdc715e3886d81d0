"""Work of a GPU, recorded and done again: there is none."""

from typing import Any, NoReturn

from tapegrad.compat.absent_device import ADVICE as _ADVICE
from tapegrad.compat.absent_device import dummy as _dummy
from tapegrad.core import errors as _errors
from tapegrad.core.missing import refuses as _refuses

CUDAGraph = _dummy("CUDAGraph", "torch.cuda.graphs")
graph = _dummy("graph", "torch.cuda.graphs", "torch.cuda.Stream requires CUDA support")


def _dummy_error(name: str) -> RuntimeError:
    return _errors.runtime_error(f"Tried to instantiate dummy base class {name}", _ADVICE)


def is_current_stream_capturing() -> NoReturn:
    """Whether what is done is recorded: an error, there is no GPU."""
    raise _dummy_error("_cuda_isCurrentStreamCapturing")


def graph_pool_handle() -> NoReturn:
    """A place in memory that records share: an error, there is no GPU."""
    raise _dummy_error("_graph_pool_handle")


def make_graphed_callables(callables: Any, sample_args: Any, *options: Any, **named: Any) -> Any:
    """Functions whose work is recorded: an error, there is no GPU."""
    return CUDAGraph()


__getattr__ = _refuses(__name__)
