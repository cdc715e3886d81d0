"""`torch.mps`, the GPUs of Apple's machines, where there is none."""

from tapegrad.compat.absent_device import without_backend as _without_backend
from tapegrad.core.missing import refuses as _refuses


def is_available() -> bool:
    """Whether tensors can be on such a GPU.

    >>> torch.mps.is_available()
    False
    """
    return False


def device_count() -> int:
    """The number of such GPUs."""
    return 0


def _is_in_bad_fork() -> bool:
    return False


def manual_seed(seed: int) -> None:
    """Seed the GPU's generator: there is none, so nothing happens."""
    int(seed)


synchronize = _without_backend("deviceSynchronize", "MPS")
empty_cache = _without_backend("emptyCache", "MPS")
seed = get_rng_state = set_rng_state = _without_backend("getDefaultGenerator", "MPS")
current_allocated_memory = _without_backend("getCurrentAllocatedMemory", "MPS")
driver_allocated_memory = _without_backend("getDriverAllocatedMemory", "MPS")
recommended_max_memory = _without_backend("getRecommendedMaxMemory", "MPS")
set_per_process_memory_fraction = _without_backend("setMemoryFraction", "MPS")
Event = _without_backend("acquireEvent", "MPS")

__getattr__ = _refuses(__name__)
