"""Where a file says that memory was, and where it shall go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.core.device import device, require_cpu
from tapegrad.core.errors import runtime_error, type_error
from tapegrad.core.storage import UntypedStorage


def placer(map_location: Any) -> Callable[[UntypedStorage, str], UntypedStorage]:
    """The function that puts memory with a place's name where `map_location` wants it."""
    if map_location is None:
        return _put
    if isinstance(map_location, (str, device)):
        name = str(map_location)
        return lambda storage, location: _put(storage, name)
    if isinstance(map_location, dict):
        return lambda storage, location: _put(storage, map_location.get(location, location))
    if not callable(map_location):
        raise type_error(
            f"'{type(map_location).__name__}' object is not callable",
            "map_location is a device, its name, a dict of names, or a function.",
        )

    def put(storage: UntypedStorage, location: str) -> UntypedStorage:
        found = map_location(storage, location)
        if found is None:
            return _put(storage, location)
        if type(found) is not UntypedStorage:
            raise type_error(
                f"map_location gave a {type(found).__name__}, not an UntypedStorage",
                "Return the storage that was given, or None.",
            )
        return found

    return put


def _put(storage: UntypedStorage, location: Any) -> UntypedStorage:
    if location == "cpu":
        return storage
    name = str(location)
    advice = "Pass map_location='cpu'."
    if name.startswith("cuda"):
        raise runtime_error(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() "
            "is False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU.",
            advice,
        )
    if name == "meta":
        require_cpu(name)
    raise runtime_error(
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged "
        f"with {name})",
        advice,
    )
