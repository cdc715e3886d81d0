"""`torch.cuda` as it is on a machine without a GPU: questions have answers, work is refused."""

from collections import OrderedDict as _OrderedDict
from typing import Any, NoReturn

from tapegrad.compat.absent_device import DeviceBlock as _DeviceBlock
from tapegrad.compat.absent_device import StreamBlock as _StreamBlock
from tapegrad.compat.absent_device import index_of as _index_of
from tapegrad.core.device import require_cpu
from tapegrad.core.errors import deprecated as _deprecated
from tapegrad.core.missing import missing

__torch__ = "AcceleratorError OutOfMemoryError"

default_generators = ()
has_half = True
has_magma = False


class OutOfMemoryError(RuntimeError):
    """The device has too little memory; never raised without a GPU, yet scripts catch it."""


class AcceleratorError(RuntimeError):
    """The device reports an error; never raised without a GPU."""


OutOfMemoryError.__module__ = AcceleratorError.__module__ = "torch"


class CudaError(RuntimeError):
    """A call of CUDA's failed; never raised without a GPU."""


class DeferredCudaCallError(Exception):
    """A call that waited for the GPU failed; never raised without one."""


def _refuse() -> NoReturn:
    require_cpu("cuda")
    raise AssertionError("a GPU was found, and this module is for machines without one")


def is_available() -> bool:
    """Whether tensors can be on a GPU.

    >>> torch.cuda.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether a GPU is in use."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes with bfloat16."""
    return False


def is_tf32_supported() -> bool:
    """Whether a GPU computes with TensorFloat-32."""
    return False


def _is_compiled() -> bool:
    return False


def _is_in_bad_fork() -> bool:
    return False


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    if allow_cpu and str(device) == "cpu":
        return -1
    return _index_of("cuda", device, optional)


def device_count() -> int:
    """The number of GPUs.

    >>> torch.cuda.device_count()
    0
    """
    return 0


# --- nothing to do, nothing in use -----------------------------------------------------------


def manual_seed(seed: int) -> None:
    """Seed the current GPU's generator: there is none, so nothing happens."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs: there are none, so nothing happens."""


def seed() -> None:
    """Seed the current GPU's generator with a random number: nothing happens."""


def seed_all() -> None:
    """Seed the generators of all GPUs with a random number: nothing happens."""


def get_rng_state_all() -> list:
    """The state of each GPU's generator: of none."""
    return []


def set_rng_state_all(new_states) -> None:
    """Set the state of each GPU's generator; only what `get_rng_state_all` gave fits."""
    if len(new_states):
        _refuse()


def empty_cache() -> None:
    """Give unused GPU memory back: none is held, so nothing happens."""


def memory_allocated(device=None) -> int:
    """Bytes of GPU memory that tensors hold."""
    return 0


def max_memory_allocated(device=None) -> int:
    """The most bytes of GPU memory that tensors ever held."""
    return 0


def memory_reserved(device=None) -> int:
    """Bytes of GPU memory held for tensors."""
    return 0


def max_memory_reserved(device=None) -> int:
    """The most bytes of GPU memory ever held for tensors."""
    return 0


def memory_stats(device=None) -> dict:
    """Counts of the GPU's allocator: it has none."""
    return _OrderedDict()


def memory_stats_as_nested_dict(device=None) -> dict:
    """The same, in dictionaries of dictionaries."""
    return {}


def host_memory_stats() -> dict:
    """Counts of the allocator of memory that a GPU reads from: it has none."""
    return _OrderedDict()


def host_memory_stats_as_nested_dict() -> dict:
    """The same, in dictionaries of dictionaries."""
    return {}


def memory_cached(device=None) -> int:
    """`memory_reserved`, by its old name."""
    _deprecated("`torch.cuda.memory_cached` has been renamed to `torch.cuda.memory_reserved`")
    return 0


def max_memory_cached(device=None) -> int:
    """`max_memory_reserved`, by its old name."""
    _deprecated(
        "`torch.cuda.max_memory_cached` has been renamed to `torch.cuda.max_memory_reserved`"
    )
    return 0


def caching_allocator_enable(value: bool = True) -> None:
    """Let a GPU's memory be kept for reuse: there is none, so nothing happens."""


def get_gencode_flags() -> str:
    """The options that code for GPUs was compiled with."""
    return ""


def get_arch_list() -> list:
    """The GPU architectures this build has code for."""
    return []


# --- needs a GPU -----------------------------------------------------------------------------


def init() -> NoReturn:
    """Start the GPU: an error, there is none."""
    _refuse()


def synchronize(device=None) -> NoReturn:
    """Wait for the GPU: an error, there is none."""
    _refuse()


def current_device() -> NoReturn:
    """The index of the current GPU: an error, there is none."""
    _refuse()


def set_device(device) -> NoReturn:
    """Choose the current GPU: an error, there is none."""
    _refuse()


def get_device_name(device=None) -> NoReturn:
    """The name of a GPU: an error, there is none."""
    _refuse()


def get_device_properties(device=None) -> NoReturn:
    """Name, memory and more of a GPU: an error, there is none."""
    _refuse()


def get_device_capability(device=None) -> NoReturn:
    """The compute capability of a GPU: an error, there is none."""
    _refuse()


def current_stream(device=None) -> NoReturn:
    """The queue of work of a GPU: an error, there is none."""
    _refuse()


def mem_get_info(device=None) -> NoReturn:
    """Free and total memory of a GPU: an error, there is none."""
    _refuse()


def reset_peak_memory_stats(device=None) -> NoReturn:
    """Forget a GPU's highest memory use: an error, there is none."""
    _refuse()


def initial_seed() -> NoReturn:
    """The seed of the current GPU's generator: an error, there is none."""
    _refuse()


def get_rng_state(device="cuda") -> NoReturn:
    """The state of a GPU's generator: an error, there is none."""
    _refuse()


ipc_collect = set_sync_debug_mode = get_sync_debug_mode = cudart = init
default_stream = get_stream_from_external = current_stream
current_blas_handle = current_solver_handle = caching_allocator_alloc = init
caching_allocator_delete = get_allocator_backend = memory_snapshot = memory_summary = init
get_per_process_memory_fraction = set_per_process_memory_fraction = mem_get_info
reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats
reset_accumulated_memory_stats = reset_peak_memory_stats
reset_peak_host_memory_stats = reset_accumulated_host_memory_stats = reset_peak_memory_stats
can_device_access_peer = set_stream = _lazy_init = init
utilization = memory_usage = temperature = power_draw = clock_rate = device_memory_used = init


_initialized = False


def _lazy_call(callable, **kwargs) -> None:
    """What is to be called once a GPU is in use: never."""


def set_rng_state(new_state, device="cuda") -> None:
    """Set the state of a GPU's generator: there is none, so nothing happens."""
    new_state.clone()


# --- blocks ----------------------------------------------------------------------------------


class device(_DeviceBlock):
    """A block in which another GPU is the current one: an error, there is none.

    >>> with torch.cuda.device(-1):
    ...     pass
    """

    kind, name = "cuda", "CUDA"


class device_of(device):
    """A block in which the GPU of a tensor is the current one: nothing happens, it has none."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class StreamContext(_StreamBlock):
    """A block in which work goes into a stream: an error but for None."""

    name = "CUDA"


def stream(stream: Any) -> StreamContext:
    """A block in which work goes into a stream; of None, nothing happens.

    >>> with torch.cuda.stream(None):
    ...     pass
    """
    return StreamContext(stream)


# --- names -----------------------------------------------------------------------------------

_SUBMODULES = frozenset("amp comm graphs memory nccl nvtx profiler random sparse streams".split())
_ELSEWHERE = {
    "CUDAGraph": "graphs",
    "Event": "streams",
    "ExternalStream": "streams",
    "MemPool": "memory",
    "Stream": "streams",
    "graph": "graphs",
    "graph_pool_handle": "graphs",
    "is_current_stream_capturing": "graphs",
    "make_graphed_callables": "graphs",
}


def __getattr__(name: str) -> Any:
    """A module or a class that is loaded on its first use; `FloatTensor` and the like, refusing."""
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"tapegrad.cuda.{name}")
    if name in _ELSEWHERE:
        return getattr(import_module(f"tapegrad.cuda.{_ELSEWHERE[name]}"), name)
    if name.endswith("Tensor"):
        from tapegrad.operators.creation.legacy_constructor import TYPES, cuda_type

        if name in TYPES:
            return cuda_type(name)
    raise missing(__name__, name)
