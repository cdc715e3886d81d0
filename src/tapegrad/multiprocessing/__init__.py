"""`torch.multiprocessing`: Python's, whose queues and pipes hand tensors over by their memory.

A tensor that is sent is moved to shared memory: what either process writes, the other reads.

reductions   how tensors are sent
spawn        a function run in several processes
"""

import multiprocessing
from multiprocessing import *

from tapegrad.core import errors as _errors
from tapegrad.multiprocessing import reductions
from tapegrad.multiprocessing.reductions import init_reductions
from tapegrad.multiprocessing.spawn import (
    ENV_VAR_PARALLEL_START,
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    *multiprocessing.__all__,
]

_all_sharing_strategies = {"file_descriptor"}


def get_all_sharing_strategies() -> set[str]:
    """How memory can be handed over: by its descriptor."""
    return _all_sharing_strategies


def get_sharing_strategy() -> str:
    """How memory is handed over.

    >>> torch.multiprocessing.get_sharing_strategy()
    'file_descriptor'
    """
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how memory is handed over; by its descriptor is the one way that there is.

    Warns where PyTorch's other way, by files with names, is asked for: descriptors do the same.
    """
    if new_strategy == "file_system":
        _errors.warn(
            "tapegrad hands memory over by its descriptor: the strategy stays 'file_descriptor'"
        )
    elif new_strategy not in _all_sharing_strategies:
        raise _errors.assertion_error(
            f"unknown sharing strategy {new_strategy!r}", "'file_descriptor' is the one there is."
        )


init_reductions()
