"""The ranks that save or load together: what each says to all, and failures of any of them."""

from collections.abc import Callable

from tapegrad.core.annotations import Any
from tapegrad.distributed.checkpoint.api import CheckpointException
from tapegrad.distributed.groups import get_rank, get_world_size, is_initialized
from tapegrad.distributed.object_collectives import all_gather_object


class Ranks:
    """Those of a group; this process alone where there is none, or nobody shall be asked."""

    def __init__(self, group: Any, alone: bool) -> None:
        self.group = group
        self.is_alone = alone or not is_initialized() or get_world_size(group) == 1
        self.rank = 0 if self.is_alone else get_rank(group)
        self.size = 1 if self.is_alone else get_world_size(group)

    def all(self, what: str, compute: Callable[[], Any]) -> list:
        """What `compute()` gives on each rank, to every rank.

        Raises: CheckpointException on all of them if it fails on one.
        """
        try:
            said: Any = (compute(), None)
        except Exception as error:
            said = (None, error)
        found: list = [said]
        if not self.is_alone:
            found = [None] * self.size
            all_gather_object(found, _sendable(said), self.group)
        failures = {rank: error for rank, (_, error) in enumerate(found) if error is not None}
        if failures:
            raise CheckpointException(what, failures) from said[1]
        return [result for result, _ in found]


def _sendable(said: tuple) -> tuple:
    """An error by its class and message: others may not be able to rebuild it."""
    result, error = said
    if error is None:
        return said
    return result, RuntimeError(f"{type(error).__name__}: {error}")
