"""`TORCH_DISTRIBUTED_DEBUG=DETAIL`: ranks tell each other what they are about to do."""

import json
import sys
from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from tapegrad.core.annotations import Any
from tapegrad.core.dtype import of
from tapegrad.core.errors import runtime_error
from tapegrad.distributed.backend import Backend
from tapegrad.distributed.reduce_op import RedOpType
from tapegrad.distributed.waiting import line_of
from tapegrad.distributed.work import Work

_N_BYTES = 1024  # of what a rank tells; longer shapes are cut
_DEVICE = (  # as PyTorch says it, for every dtype
    "TensorOptions(dtype=float (default), device=cpu, layout=Strided (default), "
    "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
)


def _words(told: dict) -> str:
    """What a rank is about to do, in PyTorch's words."""
    text = f"SequenceNumber={told['number']}, OpType={told['op']}"
    if told["shapes"]:
        text += f", TensorShape=[{told['shapes']}], TensorDtypes={told['dtypes']}"
        text += f", TensorDeviceTypes={_DEVICE}"
    return f"CollectiveFingerPrint({text})"


class Checked(Backend):
    """Another backend whose collectives begin when all ranks are about to make the same one.

    Raises: RuntimeError, on every rank, where they are not: what differs, and both lines.
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend.rank, backend.size)
        self.name, self._backend, self._number = backend.name, backend, 0

    def _agree(self, op: str, arrays: Sequence[Any] = (), root: int | None = None) -> None:
        told = {
            "op": op,
            "shapes": " ".join(", ".join(map(str, x.shape)) for x in arrays)[: _N_BYTES // 2],
            "dtypes": " ".join(of(x.dtype).scalar_name for x in arrays[:1]),
            "root": root,
            "number": self._number,
            "line": line_of(sys._getframe()),
        }
        mine = np.frombuffer(json.dumps(told).encode().ljust(_N_BYTES), np.uint8)
        every = list(np.empty((self.size, _N_BYTES), np.uint8))
        self._backend.allgather(every, mine).wait()
        for rank, text in enumerate(every):
            theirs = json.loads(text.tobytes())
            if differing := _differences(told, theirs):
                ends = f"Rank {self.rank} is running collective: {_words(told)}, but Rank {rank}"
                raise runtime_error(
                    f"Detected mismatch between collectives on ranks. {ends} is running "
                    f"collective: {_words(theirs)}.Collectives differ in the following aspects: "
                    f"{differing}",
                    f"Rank {self.rank} is at {told['line']}, rank {rank} at {theirs['line']}.",
                )
        self._number += 1

    def broadcast(self, buffer: Any, root: int) -> Work:
        self._agree("BROADCAST", [buffer], root)
        return self._backend.broadcast(buffer, root)

    def allreduce(self, buffer: Any, op: RedOpType) -> Work:
        self._agree("ALLREDUCE", [buffer])
        return self._backend.allreduce(buffer, op)

    def reduce(self, buffer: Any, root: int, op: RedOpType) -> Work:
        self._agree("REDUCE", [buffer], root)
        return self._backend.reduce(buffer, root, op)

    def allgather(self, outputs: Sequence[Any], buffer: Any) -> Work:
        self._agree("ALLGATHER", [buffer])
        return self._backend.allgather(outputs, buffer)

    def gather(self, outputs: Sequence[Any], buffer: Any, root: int) -> Work:
        self._agree("GATHER", [buffer], root)
        return self._backend.gather(outputs, buffer, root)

    def scatter(self, buffer: Any, inputs: Sequence[Any], root: int) -> Work:
        self._agree("SCATTER", [buffer], root)
        return self._backend.scatter(buffer, inputs, root)

    def reduce_scatter(self, buffer: Any, inputs: Sequence[Any], op: RedOpType) -> Work:
        self._agree("REDUCE_SCATTER", [buffer])
        return self._backend.reduce_scatter(buffer, inputs, op)

    def alltoall(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Work:
        self._agree("ALLTOALL")  # whose pieces may differ
        return self._backend.alltoall(outputs, inputs)

    def send(self, buffer: Any, destination: int, tag: int) -> Work:
        return self._backend.send(buffer, destination, tag)

    def receive(self, buffer: Any, source: int | None, tag: int) -> Work:
        return self._backend.receive(buffer, source, tag)

    def barrier(self) -> Work:
        self._agree("BARRIER")
        return self._backend.barrier()

    def group(self, rank: int, size: int, ranks: Sequence[int]) -> Backend:
        return Checked(self._backend.group(rank, size, ranks))

    def set_timeout(self, timeout: timedelta) -> None:
        self._backend.set_timeout(timeout)

    def close(self) -> None:
        self._backend.close()


def _differences(mine: dict, theirs: dict) -> str:
    """What differs in two collectives, in PyTorch's words; the root is not among its own."""
    names = {
        "op": "Op type",
        "shapes": "Tensor Tensor shapes",
        "dtypes": "Tensor Tensor dtypes",
        "root": "Root",
    }
    found = [
        f"\t {name}: {mine[key]}vs {theirs[key]}"
        for key, name in names.items()
        if mine[key] != theirs[key]
    ]
    return found[0] if mine["op"] != theirs["op"] else "".join(found)
