"""`torch.mtia`, Meta's accelerators, where there is none."""

from typing import Any

from tapegrad.compat.absent_device import StreamBlock as _StreamBlock
from tapegrad.compat.absent_device import not_compiled as _not_compiled
from tapegrad.compat.absent_device import without_backend as _without_backend
from tapegrad.compat.insides import with_submodules as _with_submodules
from tapegrad.compat.streams import Event, Stream

__all__ = ["Event", "Stream"]

default_generators: tuple = ()
_refuse = _not_compiled("MTIA")


def is_available() -> bool:
    """Whether tensors can be on such a device.

    >>> torch.mtia.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether such a device is in use."""
    return False


def device_count() -> int:
    """The number of such devices."""
    return 0


def memory_stats(device: Any = None) -> dict:
    """Counts of the allocator: it has none."""
    return {}


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors hold on such a device."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors ever held."""
    return 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """Forget the most that was held: nothing was."""


def manual_seed(seed: int) -> None:
    """Seed the current device's generator: there is none, so nothing happens."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all such devices: nothing happens."""


def seed() -> None:
    """Seed the current device's generator with a random number: nothing happens."""


def seed_all() -> None:
    """Seed all generators with a random number: nothing happens."""


def get_rng_state_all() -> list:
    """The state of each generator: of none."""
    return []


def _is_compiled() -> bool:
    return False


def _is_in_bad_fork() -> bool:
    return False


class StreamContext(_StreamBlock):
    """A block in which work goes into a stream: an error but for None."""

    name = "MTIA"


def stream(stream: Any) -> StreamContext:
    """A block in which work goes into a stream."""
    return StreamContext(stream)


current_device = synchronize = _without_backend("getCurrentDevice", "MTIA")
current_stream = default_stream = current_device
get_device_capability = get_device_properties = current_device
empty_cache = _without_backend("emptyCache", "MTIA")
snapshot = _without_backend("memorySnapshot", "MTIA")
graph_pool_handle = _without_backend("graphPoolHandle", "MTIA")
init = initial_seed = get_rng_state = set_rng_state = set_device = set_stream = _refuse

__getattr__ = _with_submodules(__name__, "memory")
