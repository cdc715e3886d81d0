"""What a function sees besides its arguments, and has to see again: random numbers, autocast."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapegrad.random import fork_rng, get_rng_state, set_rng_state


class Surroundings:
    """The state of the random generator, if `random`, and of autocast, now."""

    __slots__ = ("autocast", "random_state")

    def __init__(self, random: bool):
        self.random_state = get_rng_state() if random else None
        self.autocast = _autocast()

    @contextmanager
    def again(self) -> Iterator[None]:
        """A block in which both are as they were; the generator goes on afterwards where it was."""
        with fork_rng(enabled=self.random_state is not None):
            if self.random_state is not None:
                set_rng_state(self.random_state)
            if self.autocast is None:
                yield
                return
            from tapegrad.amp import autocast

            with autocast("cpu", **self.autocast):
                yield


def _autocast() -> dict[str, Any] | None:
    """The options of autocast now; None where nobody has ever used it."""
    if "tapegrad.amp.autocast_state" not in sys.modules:
        return None
    from tapegrad.amp import autocast_state

    return {
        "enabled": autocast_state.is_autocast_enabled("cpu"),
        "dtype": autocast_state.get_autocast_dtype("cpu"),
        "cache_enabled": autocast_state.is_autocast_cache_enabled(),
    }


class DefaultDeviceType:
    """The kind of device whose generators are forked besides the CPU's: there is none other.

    >>> torch.utils.checkpoint.DefaultDeviceType.get_device_type()
    'cpu'
    """

    _kind = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Accepted as in PyTorch; the generator of the CPU is always forked."""
        DefaultDeviceType._kind = device

    @staticmethod
    def get_device_type() -> str:
        """What `set_device_type` was given, `"cpu"` before."""
        return DefaultDeviceType._kind


def get_device_states(*args: Any) -> tuple[list, list]:
    """The devices of tensors other than the CPU, and their generators' states: none.

    >>> torch.utils.checkpoint.get_device_states(torch.ones(2))
    ([], [])
    """
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Set the states that `get_device_states` gave: there are none.

    >>> torch.utils.checkpoint.set_device_states([], [])
    """
