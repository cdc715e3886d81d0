"""The backend of a world of one rank: every collective is a copy, or nothing at all."""

from collections.abc import Sequence

from tapegrad.core.annotations import Any
from tapegrad.core.errors import advised
from tapegrad.distributed.backend import Backend
from tapegrad.distributed.exceptions import DistBackendError
from tapegrad.distributed.reduce_op import RedOpType
from tapegrad.distributed.work import Work


class OneRank(Backend):
    """One process: a reduction over it is its own numbers, and a gather is a copy."""

    name = "gloo"

    def broadcast(self, buffer: Any, root: int) -> Work:
        return Work()

    def allreduce(self, buffer: Any, op: RedOpType) -> Work:
        return Work()

    def reduce(self, buffer: Any, root: int, op: RedOpType) -> Work:
        return Work()

    def allgather(self, outputs: Sequence[Any], buffer: Any) -> Work:
        outputs[0][...] = buffer
        return Work()

    def gather(self, outputs: Sequence[Any], buffer: Any, root: int) -> Work:
        outputs[0][...] = buffer
        return Work()

    def scatter(self, buffer: Any, inputs: Sequence[Any], root: int) -> Work:
        buffer[...] = inputs[0]
        return Work()

    def reduce_scatter(self, buffer: Any, inputs: Sequence[Any], op: RedOpType) -> Work:
        buffer[...] = inputs[0]
        return Work()

    def alltoall(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Work:
        outputs[0][...] = inputs[0]
        return Work()

    def send(self, buffer: Any, destination: int, tag: int) -> Work:
        raise self._alone("send to")

    def receive(self, buffer: Any, source: int | None, tag: int) -> Work:
        raise self._alone("receive from")

    def _alone(self, what):
        return advised(
            DistBackendError(f"a world of one rank has no other to {what}"),
            "Copy the tensor: in one process it is there already.",
        )

    def barrier(self) -> Work:
        return Work()

    def group(self, rank: int, size: int, ranks: Sequence[int]) -> "OneRank":
        return OneRank(rank, size)
