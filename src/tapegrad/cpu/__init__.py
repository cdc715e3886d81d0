"""`torch.cpu`: the one device there is, asked as one asks a GPU."""

from tapegrad.core.annotations import Any, DeviceLike
from tapegrad.core.missing import missing as _missing
from tapegrad.core.missing import public_names


def is_available() -> bool:
    """Whether tensors can be on the CPU.

    >>> torch.cpu.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """Whether the CPU is in use."""
    return True


def device_count() -> int:
    """The number of CPUs, as PyTorch counts them.

    >>> torch.cpu.device_count()
    1
    """
    return 1


def current_device() -> str:
    """The name of the CPU.

    >>> torch.cpu.current_device()
    'cpu'
    """
    return "cpu"


def set_device(device: DeviceLike) -> None:
    """Choose the CPU to work on: nothing happens."""


def synchronize(device: DeviceLike = None) -> None:
    """Wait until the CPU is done: it always is."""


def __getattr__(name: str):
    if name == "amp":
        from importlib import import_module

        return import_module("tapegrad.cpu.amp")
    raise _missing(__name__, name)


__all__ = public_names(globals())
