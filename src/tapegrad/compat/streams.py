"""`torch.Stream` and `torch.Event`: the CPU's one stream, in which everything is done at once."""

from types import ModuleType
from typing import Any, Self

import tapegrad
from tapegrad.core import errors
from tapegrad.core.device import device as Device

__torch__ = "Event Stream get_device_module"

_NO_ACCELERATOR = "Cannot access accelerator device when none is available."
_ADVICE = "Ask torch.accelerator.is_available(); on the CPU there is one stream and no events."


def _device(given: Any) -> Any:
    if isinstance(given, int) and not isinstance(given, bool):
        raise errors.runtime_error(_NO_ACCELERATOR, _ADVICE)
    found = Device("cpu" if given is None else given)
    if found.type != "cpu":
        raise errors.runtime_error(
            f"PyTorch is not linked with support for {found.type} devices", _ADVICE
        )
    return Device("cpu")


def _no_events() -> RuntimeError:
    return errors.runtime_error("cpu backend doesn't support events.", _ADVICE)


class Stream:
    """A queue of work of a device: the CPU's, whose work is done when a call returns.

    >>> torch.Stream()
    torch.Stream device_type=cpu, device_index=-1, stream_id=0
    """

    def __init__(self, device: Any = None, *, priority: int = 0, **ids: int) -> None:
        self.device = _device(device)
        self.stream_id, self.device_index, self.device_type = 0, -1, 0

    def query(self) -> bool:
        """Whether all work is done."""
        return True

    def synchronize(self) -> None:
        """Wait until all work is done."""

    def record_event(self, event: Any = None) -> Any:
        """Mark a place in the queue: the CPU's has no such marks, an error."""
        raise _no_events()

    def wait_stream(self, other: Any) -> None:
        """Let this queue wait for another: needs marks, an error."""
        raise _no_events()

    def wait_event(self, event: Any) -> None:
        """Let this queue wait for a mark that was never put: nothing happens."""

    @property
    def native_handle(self) -> int:
        """The device's own name of the queue: an error, there is none."""
        raise errors.runtime_error("Backend doesn't support getting stream native handle.", _ADVICE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash((self.stream_id, self.device_index, self.device_type))

    def __repr__(self) -> str:
        return "torch.Stream device_type=cpu, device_index=-1, stream_id=0"


class Event:
    """A mark in a queue of work: the CPU's queue takes none."""

    def __init__(
        self,
        device: Any = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        self.device = _device(device)
        self._timed, self.event_id = bool(enable_timing), 0

    def record(self, stream: Any = None) -> None:
        """Put the mark into a queue: an error."""
        raise _no_events()

    def wait(self, stream: Any = None) -> None:
        """Let a queue wait for the mark, which was never put: nothing happens."""

    def query(self) -> bool:
        """Whether what is before the mark is done: it was never put, so yes."""
        return True

    def synchronize(self) -> None:
        """Wait for what is before the mark."""

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds between two marks: an error, they were never put."""
        if not (self._timed and end_event._timed):
            raise errors.value_error(
                "Both events must be created with argument 'enable_timing=True'.", _ADVICE
            )
        raise errors.value_error(
            "Both events must be recorded before calculating elapsed time.", _ADVICE
        )

    def __repr__(self) -> str:
        flag = int(self._timed)
        return f"torch.Event device_type=cpu, device_index=-1, event_flag={flag}, event_id=0"


Stream.__module__ = Event.__module__ = "torch"


def get_device_module(device: Any = None) -> ModuleType:
    """The module of a kind of device: `torch.cuda` of "cuda". Of none, the CPU's.

    >>> torch.get_device_module("cuda") is torch.cuda
    True
    """
    if device is None:
        kind = "cpu"
    elif isinstance(device, (str, Device)):
        kind = Device(device).type
    else:
        raise errors.runtime_error(
            f"Invalid value of device '{device}', expect torch.device, str, or None", _ADVICE
        )
    module = getattr(tapegrad, kind, None)
    if not isinstance(module, ModuleType):
        raise errors.runtime_error(
            f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.",
            "There is torch.cpu; torch.cuda, torch.xpu, torch.mps and torch.mtia answer that there "
            "is no such device.",
        )
    return module
