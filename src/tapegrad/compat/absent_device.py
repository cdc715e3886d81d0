"""What is said of a kind of device that there is not: classes and functions that refuse."""

from collections.abc import Callable
from typing import Any, NoReturn

from tapegrad.core import errors
from tapegrad.core.device import device as Device

ADVICE = "tapegrad computes on the CPU: ask is_available() before using another device."


def not_compiled(name: str) -> Callable[..., NoReturn]:
    """A function that says that there is no code for a kind of device."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        """Needs a device that there is not: an error."""
        raise errors.assertion_error(f"Torch not compiled with {name} enabled", ADVICE)

    return refuse


def without_backend(function: str, backend: str) -> Callable[..., NoReturn]:
    """A function that says which of PyTorch's own would be called, and that it cannot be."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        """Needs a device that there is not: an error."""
        raise errors.runtime_error(
            f"Cannot execute {function}() without {backend} backend.", ADVICE
        )

    return refuse


def dummy(name: str, module: str, message: str = "") -> type:
    """A class of which nothing can be made without the device."""

    def refuse(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        said = message or f"Tried to instantiate dummy base class {name}"
        raise errors.runtime_error(said, ADVICE)

    return type(name, (), {"__new__": refuse, "__module__": module})


def index_of(kind: str, device: Any, optional: bool = False) -> int | None:
    """The index in a device, an index or a name: None where it has none and that is allowed."""
    if isinstance(device, str):
        device = Device(device)
    if isinstance(device, Device):
        if device.type != kind:
            raise errors.value_error(f"Expected a {kind} device, but got: {device}", ADVICE)
        if device.index is not None or optional:
            return device.index
    elif isinstance(device, int) or (device is None and optional):
        return device
    raise errors.value_error(
        f"Expected a torch.device with a specified index or an integer, but got:{device}", ADVICE
    )


class DeviceBlock:
    """A block in which another device of a kind is the current one: an error but for index -1."""

    kind = name = ""

    def __init__(self, device: Any) -> None:
        self.idx = index_of(self.kind, device, optional=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx is not None and self.idx >= 0:
            raise errors.runtime_error(f"PyTorch was compiled without {self.name} support", ADVICE)

    def __exit__(self, *error: object) -> None:
        pass


class StreamBlock:
    """A block in which work goes into a stream: of None, nothing happens."""

    name = ""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            raise errors.assertion_error(f"Torch not compiled with {self.name} enabled", ADVICE)

    def __exit__(self, *error: object) -> None:
        pass
