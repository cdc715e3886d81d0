"""`torch.accelerator`: the device beside the CPU, on a machine without one."""

from typing import Any, NoReturn, Self

from tapegrad.compat.insides import with_submodules as _with_submodules
from tapegrad.core import errors as _errors

__all__ = [
    "Graph", "current_accelerator", "current_device_idx", "current_device_index", "current_stream",
    "device_count", "device_index", "empty_cache", "empty_host_cache", "get_device_capability",
    "get_memory_info", "is_available", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "memory_stats", "reset_accumulated_memory_stats",
    "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a device beside the CPU.

    >>> torch.accelerator.is_available()
    False
    """
    return False


def device_count() -> int:
    """How many there are.

    >>> torch.accelerator.device_count()
    0
    """
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """Which kind of device it is: there is none."""
    return None


def _none(*args: Any, **kwargs: Any) -> NoReturn:
    """What needs a device beside the CPU: an error, there is none."""
    raise _errors.runtime_error(
        "Cannot access accelerator device when none is available.",
        "Ask torch.accelerator.is_available() first; tapegrad computes on the CPU.",
    )


current_device_index = current_device_idx = set_device_index = set_device_idx = _none
current_stream = set_stream = synchronize = get_device_capability = _none
empty_cache = empty_host_cache = get_memory_info = memory_stats = _none
memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = _none
reset_accumulated_memory_stats = reset_peak_memory_stats = _none


class device_index:
    """A block in which another device is the current one; of None, nothing happens."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            _none()

    def __exit__(self, *error: object) -> None:
        pass


class Graph:
    """Work of a device, recorded: an error, there is none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        _none()


__getattr__ = _with_submodules(__name__, "memory")
