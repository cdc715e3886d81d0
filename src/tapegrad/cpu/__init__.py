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


class Stream:
    """The CPU's queue of work, whose work is done when a call returns."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Wait for another queue: nothing happens."""

    def record_event(self) -> None:
        """Mark a place in the queue: nothing happens."""

    def wait_event(self, event: Any) -> None:
        """Wait for a mark: nothing happens."""


class Event:
    """A mark in the CPU's queue of work."""

    def query(self) -> bool:
        """Whether what is before it is done: it is."""
        return True

    def record(self, stream: Any = None) -> None:
        """Put the mark: nothing happens."""

    def synchronize(self) -> None:
        """Wait for what is before it: nothing happens."""

    def wait(self, stream: Any = None) -> None:
        """Let a queue wait for it: nothing happens."""


_stream = [Stream()]


def current_stream(device: DeviceLike = None) -> Stream:
    """The queue that work goes into."""
    return _stream[0]


class StreamContext:
    """A block in which work goes into another queue."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        self._before = _stream[0]
        if self.stream is not None:
            _stream[0] = self.stream

    def __exit__(self, *error: object) -> None:
        _stream[0] = self._before


def stream(stream: Stream | None) -> StreamContext:
    """A block in which work goes into another queue.

    >>> other = torch.cpu.Stream()
    >>> with torch.cpu.stream(other):
    ...     print(torch.cpu.current_stream() is other)
    True
    """
    return StreamContext(stream)


def __getattr__(name: str) -> Any:
    if name == "amp":
        from importlib import import_module

        return import_module("tapegrad.cpu.amp")
    raise _missing(__name__, name)


__all__ = public_names(globals())
