"""How much `torch.distributed` says of itself: `TORCH_DISTRIBUTED_DEBUG`."""

import os
from enum import IntEnum


class DebugLevel(IntEnum):
    """How much is checked and said."""

    OFF = 0
    INFO = 1
    DETAIL = 2

    def __str__(self) -> str:
        return f"DebugLevel.{self.name}"


_level: list[DebugLevel] = []


def get_debug_level() -> DebugLevel:
    """The level, `OFF` unless it was set.

    >>> torch.distributed.get_debug_level()
    <DebugLevel.OFF: 0>
    """
    if not _level:
        set_debug_level_from_env()
    return _level[0]


def set_debug_level(level: DebugLevel) -> None:
    """Set the level."""
    _level[:] = [DebugLevel(level)]


def set_debug_level_from_env() -> None:
    """Set the level by the environment."""
    name = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    if name not in DebugLevel.__members__:
        raise RuntimeError(
            "The value of TORCH_DISTRIBUTED_DEBUG must be one of OFF, INFO, or DETAIL."
        )
    set_debug_level(DebugLevel[name])
