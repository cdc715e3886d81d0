"""`torch.xpu`, Intel's GPUs, on a machine without one: questions have answers, work is refused."""

from collections import OrderedDict as _OrderedDict
from typing import Any

from tapegrad.compat.absent_device import DeviceBlock as _DeviceBlock
from tapegrad.compat.absent_device import StreamBlock as _StreamBlock
from tapegrad.compat.absent_device import dummy as _dummy
from tapegrad.compat.absent_device import index_of as _index_of
from tapegrad.compat.absent_device import not_compiled as _not_compiled
from tapegrad.compat.insides import with_submodules as _with_submodules

default_generators: tuple = ()
_refuse = _not_compiled("XPU")


def is_available() -> bool:
    """Whether tensors can be on such a GPU.

    >>> torch.xpu.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether such a GPU is in use."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether such a GPU computes with bfloat16."""
    return False


def is_tf32_supported() -> bool:
    """Whether such a GPU computes with TensorFloat-32."""
    return False


def device_count() -> int:
    """The number of such GPUs.

    >>> torch.xpu.device_count()
    0
    """
    return 0


def get_arch_list() -> list:
    """The architectures this build has code for."""
    return []


def get_gencode_flags() -> str:
    """The options that code for these architectures was compiled with."""
    return ""


def empty_cache() -> None:
    """Give unused memory back: none is held, so nothing happens."""


def memory_allocated(device: Any = None) -> int:
    """Bytes of memory that tensors hold on such a GPU."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors ever held."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Bytes held for tensors."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes ever held for tensors."""
    return 0


def memory_stats(device: Any = None) -> dict:
    """Counts of the allocator: it has none."""
    return _OrderedDict()


def memory_stats_as_nested_dict(device: Any = None) -> dict:
    """The same, in dictionaries of dictionaries."""
    return {}


def memory_snapshot(mempool_id: Any = None) -> list:
    """The blocks of the allocator: it has none."""
    return []


def manual_seed(seed: int) -> None:
    """Seed the current GPU's generator: there is none, so nothing happens."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all such GPUs: nothing happens."""
    int(seed)


def seed() -> None:
    """Seed the current GPU's generator with a random number: nothing happens."""


def seed_all() -> None:
    """Seed the generators of all such GPUs with a random number: nothing happens."""


def get_rng_state_all() -> list:
    """The state of each generator: of none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Set the state of each generator; only what `get_rng_state_all` gave fits."""
    if len(new_states):
        _refuse()


def set_rng_state(new_state: Any, device: Any = "xpu") -> None:
    """Set the state of a generator: there is none, so nothing happens."""
    new_state.clone()


def _is_compiled() -> bool:
    return False


def _is_in_bad_fork() -> bool:
    return False


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    return _index_of("xpu", device, optional)


init = synchronize = current_device = set_device = get_device_name = _refuse
get_device_properties = get_device_capability = can_device_access_peer = _refuse
current_stream = set_stream = get_stream_from_external = mem_get_info = _refuse
initial_seed = get_rng_state = _lazy_init = _refuse
get_per_process_memory_fraction = set_per_process_memory_fraction = _refuse
reset_peak_memory_stats = reset_accumulated_memory_stats = _refuse

Stream = _dummy("Stream", "torch.xpu.streams")
Event = _dummy("Event", "torch.xpu.streams")
XPUGraph = _dummy("XPUGraph", "torch.xpu.graphs")
MemPool = _dummy("MemPool", "torch.xpu.memory")


class device(_DeviceBlock):
    """A block in which another such GPU is the current one: an error, there is none."""

    kind, name = "xpu", "XPU"


class device_of(device):
    """A block in which the GPU of a tensor is the current one: nothing happens, it has none."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_xpu else -1)


class StreamContext(_StreamBlock):
    """A block in which work goes into a stream: an error but for None."""

    name = "XPU"


def stream(stream: Any) -> StreamContext:
    """A block in which work goes into a stream.

    >>> with torch.xpu.stream(None):
    ...     pass
    """
    return StreamContext(stream)


__getattr__ = _with_submodules(__name__, "memory random streams")
