"""The seam between `torch.distributed` and a library that moves numbers between processes.

A library plugs in as one class of `Backend`: non-blocking calls on contiguous NumPy arrays, each
giving a `Work`. `in_process.OneRank` is the one for a world of one, `mpi.Mpi` for more. Ranks are
those of the group.
What a call of PyTorch may be given (lists, views, dtypes, errors) is `ProcessGroup`'s to know.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta

from tapegrad.core.annotations import Any
from tapegrad.distributed.reduce_op import RedOpType
from tapegrad.distributed.work import Work


class Backend(ABC):
    """Moves numbers between the `size` processes of a group, of which this is number `rank`.

    Each call begins the transfer and gives a `Work` to wait for; until then the buffers belong to
    the backend. They are contiguous arrays; those that are written are written in place.
    """

    name = "custom"

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    @abstractmethod
    def broadcast(self, buffer: Any, root: int) -> Work:
        """Write to every rank's buffer what `root` has in its own."""

    @abstractmethod
    def allreduce(self, buffer: Any, op: RedOpType) -> Work:
        """Write to every rank's buffer the reduction of all buffers, number by number."""

    @abstractmethod
    def reduce(self, buffer: Any, root: int, op: RedOpType) -> Work:
        """Write to `root`'s buffer the reduction of all; the others keep theirs."""

    @abstractmethod
    def allgather(self, outputs: Sequence[Any], buffer: Any) -> Work:
        """Write to `outputs[r]` the buffer of rank r, on every rank."""

    @abstractmethod
    def gather(self, outputs: Sequence[Any], buffer: Any, root: int) -> Work:
        """Write to `outputs[r]` the buffer of rank r, on `root`; the others have no outputs."""

    @abstractmethod
    def scatter(self, buffer: Any, inputs: Sequence[Any], root: int) -> Work:
        """Write to the buffer of rank r what `root` has as `inputs[r]`."""

    @abstractmethod
    def reduce_scatter(self, buffer: Any, inputs: Sequence[Any], op: RedOpType) -> Work:
        """Write to the buffer of rank r the reduction of every rank's `inputs[r]`."""

    @abstractmethod
    def alltoall(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Work:
        """Write to rank r's `outputs[s]` what rank s has as `inputs[r]`."""

    @abstractmethod
    def send(self, buffer: Any, destination: int, tag: int) -> Work:
        """Send to a rank, which receives with the same tag."""

    @abstractmethod
    def receive(self, buffer: Any, source: int | None, tag: int) -> Work:
        """Receive from a rank, or from whoever sends first; the work's `source_rank` says who."""

    @abstractmethod
    def barrier(self) -> Work:
        """Done when every rank has called it."""

    @abstractmethod
    def group(self, rank: int, size: int, ranks: Sequence[int]) -> "Backend":
        """The same for a group of these ranks, in which this is number `rank` of `size`."""

    def set_timeout(self, timeout: timedelta) -> None:  # noqa: B027  # nobody waits in one process
        """How long `Work.wait` waits where it is not told."""

    def close(self) -> None:  # noqa: B027  # most hold nothing
        """Give back what the backend holds; called once, by `destroy_process_group`."""
