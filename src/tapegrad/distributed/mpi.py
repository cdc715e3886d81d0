"""The backend over MPI: non-blocking calls of mpi4py, each with a `Work` that tests its request.

Numbers that are only moved go as unsigned integers of their size, which every MPI has. Reductions:

    float16, bfloat16   computed in float32 and rounded once, at the end
    bool                SUM, MAX, BOR: any; PRODUCT, MIN, BAND: all; BXOR: an odd number
    AVG                 SUM, divided by the number of ranks

mpi4py is imported by the first call of `mpi()`: that is when MPI starts.
"""

import atexit
import sys
import time
from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised
from tapegrad.distributed import last_words, waiting
from tapegrad.distributed.backend import Backend
from tapegrad.distributed.exceptions import DistBackendError
from tapegrad.distributed.in_process import OneRank
from tapegrad.distributed.reduce_op import RedOpType
from tapegrad.distributed.store import Store
from tapegrad.distributed.work import Work

_START = (
    "Start the ranks by python -m tapegrad torchrun --nproc-per-node N SCRIPT, or by mpiexec -n N "
    "python -m tapegrad run SCRIPT (Slurm: srun --mpi=pmix); functions given to "
    "multiprocessing.spawn then run in them."
)
_SPIN_S = 0.02  # how long a wait leaves the core only to who else is ready to run
_NAP_S = 1e-4
_PIECE_BYTES = 1 << 20  # 64 MB in such pieces: 84 ms between two ranks here, in one: 290
_NARROW = ("float16", "bfloat16")
_TYPES = {
    "bool": "C_BOOL",
    "uint8": "UINT8_T",
    "int8": "INT8_T",
    "int32": "INT32_T",
    "int64": "INT64_T",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "complex64": "C_FLOAT_COMPLEX",
    "complex128": "C_DOUBLE_COMPLEX",
}
_OPS = {
    RedOpType.SUM: "SUM",
    RedOpType.AVG: "SUM",
    RedOpType.PRODUCT: "PROD",
    RedOpType.MIN: "MIN",
    RedOpType.MAX: "MAX",
    RedOpType.BAND: "BAND",
    RedOpType.BOR: "BOR",
    RedOpType.BXOR: "BXOR",
}
_LOGICAL = {  # of bool
    "SUM": "LOR",
    "PROD": "LAND",
    "MIN": "LAND",
    "MAX": "LOR",
    "BAND": "LAND",
    "BOR": "LOR",
    "BXOR": "LXOR",
}


def mpi() -> Any:
    """`mpi4py.MPI`.

    Raises: DistBackendError where mpi4py is not installed, or finds no MPI.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise advised(
            DistBackendError(f"ranks are connected by MPI, which is not there: {error}"),
            "pip install 'tapegrad[distributed]' brings mpi4py and Open MPI.",
        ) from error
    return MPI


def require_ranks(size: int) -> None:
    """Raise DistBackendError unless MPI has started that many processes."""
    started = mpi().COMM_WORLD.size
    if started < size:
        were = "process was" if started == 1 else "processes were"
        raise advised(
            DistBackendError(f"a world of {size} ranks, of which {started} {were} started by MPI"),
            _START,
        )


def connect(
    name: str, store: Store | None, rank: int, ranks: Sequence[int], timeout: timedelta
) -> Backend:
    """The backend of a group with these numbers in the world, of which this is number `rank`.

    Its processes say in `store` which of MPI's they are; for "mpi" the numbers are MPI's own.
    """
    size = len(ranks)
    places = list(ranks) if store is None else _places(store, rank, size)
    if rank == 0 and name != "mpi":
        version = mpi().Get_library_version().splitlines()[0].split(",")[0].strip("\0 ")
        print(f'tapegrad: "{name}" with {size} ranks runs over MPI ({version})', file=sys.stderr)
    found = _among(name, places, ranks, rank, timeout)
    if isinstance(found, Mpi):
        atexit.register(_leave_together, found.duplicate())
    return found


def _leave_together(comm: Any) -> None:
    """Wait for the other ranks to end, as MPI does, which stops the threads of a `TCPStore`."""
    waiting.leave()  # before the other side may think that nobody needs its store any more
    last_words.write("it waited for the others to end")
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(_NAP_S)
    last_words.write("")


def _places(store, rank, size):
    """Which processes of MPI the ranks of a world are."""
    mine = mpi().COMM_WORLD.rank
    store.set(f"mpi/{rank}", str(mine))
    places = [int(store.get(f"mpi/{r}")) for r in range(size)]
    if places[rank] != mine or len(set(places)) < size:
        raise advised(
            DistBackendError(f"rank {rank} of {size} is not alone in being that"),
            f"Each process has a rank of its own, and all are of one start. {_START}",
        )
    return places


def _among(
    name: str, places: Sequence[int], ranks: Sequence[int], rank: int, timeout: timedelta
) -> Backend:
    """The backend of the processes of MPI with these numbers."""
    if len(places) == 1:
        return OneRank(0, 1)  # needs no communicator
    world = mpi().COMM_WORLD
    group = world.group.Incl(list(places))
    comm = world.Create_group(group)
    group.Free()
    return Mpi(name, comm, places, ranks, rank, timeout)


class _Request(Work):
    """Calls of MPI under way; `finish` takes what they brought to where it belongs."""

    def __init__(
        self,
        call: str,
        backend: "Mpi",
        requests: list,
        keep: Any = (),
        finish: Callable[[], None] | None = None,
        peers: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.call, self._backend, self._requests = call, backend, requests
        self._keep, self._finish = keep, finish  # buffers live until MPI is done with them
        self.group, self.peers = backend.members, peers
        self.number = waiting.begun.get(self.group, 0)  # which of the group's collectives it is
        self._error: DistBackendError | None = None
        self._done = False
        self._source: int | None = None

    def is_completed(self) -> bool:
        if not self._done:
            self._test()
        return self._done

    def _test(self) -> None:
        MPI = mpi()
        status = MPI.Status()
        try:
            while self._requests and self._requests[0].Test(status):
                del self._requests[0]
            self._done = not self._requests
        except MPI.Exception as error:
            self._done = True
            self._error = DistBackendError(f"{self._what()} failed: {error}")
        if self._done:
            self._source = status.source
            if self._finish is not None and self._error is None:
                self._finish()
            self._keep = self._finish = None

    def exception(self) -> BaseException | None:
        return self._error

    def source_rank(self) -> int:
        return super().source_rank() if self._source is None else self._source

    def _what(self) -> str:
        return f"{self.call} on rank {self._backend.rank} of {self._backend.size}"

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        if not self.is_completed():
            waiting.now = self, time.time()
            last_words.write(f"it waited in {self.call}")
            try:
                self._wait_for((timeout or self._backend.timeout).total_seconds())
            finally:
                waiting.now = None
                last_words.write()
        if self._error is not None:
            raise self._error
        return True

    def _wait_for(self, limit: float) -> None:
        start = time.monotonic()
        asks_at = 1.0
        while not self.is_completed():
            waited = time.monotonic() - start
            if waited > asks_at:
                self._require_others()
                asks_at = waited + 1.0
            if waited > limit:
                others = waiting.explained()
                raise advised(
                    DistBackendError(f"{self._what()} did not end in {limit:g} s{others}"),
                    "Does every rank make the same calls in the same order? Another timeout is "
                    "an argument of init_process_group, new_group and wait.",
                )
            time.sleep(0 if waited < _SPIN_S else _NAP_S)

    def _require_others(self) -> None:
        left = waiting.left(self.group, self.peers)
        if left and not self.is_completed():
            ranks = ", ".join(map(str, left))
            raise advised(
                DistBackendError(f"{self._what()} waits for what has ended: rank {ranks}"),
                "Does every rank make the same calls in the same order? One has made fewer.",
            )


def _n_words(array: Any) -> int:
    """As how many integers an element is moved."""
    return 2 if array.itemsize == 16 else 1


def _moved(array: Any) -> list:
    """An array as MPI moves it."""
    size = array.itemsize // _n_words(array)
    return [array.reshape(-1).view(f"u{size}"), getattr(mpi(), f"UINT{8 * size}_T")]


def _in_a_row(arrays: Sequence[Any]) -> Any:
    """Arrays of one dtype as one, in their own memory; None unless they lie one after another."""
    first = arrays[0]
    at = first.ctypes.data
    for each in arrays:
        if each.base is None or each.base is not first.base or each.ctypes.data != at:
            return None
        at += each.nbytes
    n = sum(each.size for each in arrays)
    return np.lib.stride_tricks.as_strided(first.reshape(-1), (n,), (first.itemsize,))


def _joined(arrays: Sequence[Any]) -> Any:
    """The numbers of arrays of one dtype, one after another."""
    found = _in_a_row(arrays)
    return np.concatenate([each.reshape(-1) for each in arrays]) if found is None else found


def _room(outputs: Sequence[Any]) -> tuple[Any, Callable[[], None] | None]:
    """One array for the numbers of all outputs, and what takes them there if it is not theirs."""
    found = _in_a_row(outputs)
    if found is not None:
        return found, None
    sizes = [each.size for each in outputs]
    found = np.empty(sum(sizes), outputs[0].dtype)

    def finish() -> None:
        for part, output in zip(np.split(found, np.cumsum(sizes)[:-1]), outputs, strict=True):
            output[...] = part.reshape(output.shape)

    return found, finish


class _Reduction:
    """Numbers as MPI reduces them, its op, and what is to be done with the result."""

    def __init__(self, array: Any, op: RedOpType, size: int) -> None:
        MPI = mpi()
        kind = str(array.dtype)
        self.divisor = size if op is RedOpType.AVG else 1
        name = _OPS[op]
        self.op = getattr(MPI, _LOGICAL[name] if kind == "bool" else name)
        self.array = array.astype(np.float32) if kind in _NARROW else array
        self.type = getattr(MPI, _TYPES[str(self.array.dtype)])

    def buffer(self, array: Any) -> list:
        return [array.reshape(-1), self.type]

    def finished(self, found: Any, target: Any) -> None:
        """Write the result to where it belongs."""
        if self.divisor > 1:
            found /= self.divisor
        if found is not target:
            target[...] = found.reshape(target.shape)


class Mpi(Backend):
    """The processes of a communicator: numbers `places` of MPI's, `ranks` of the world."""

    def __init__(
        self,
        name: str,
        comm: Any,
        places: Sequence[int],
        ranks: Sequence[int],
        rank: int,
        timeout: timedelta,
    ) -> None:
        super().__init__(rank, len(places))
        self.name = name
        self._comm, self._places, self.timeout = comm, list(places), timeout
        self.members = " ".join(map(str, ranks))
        self._under_way: list[_Request] = []

    def set_timeout(self, timeout: timedelta) -> None:
        self.timeout = timeout

    def _work(self, call, array, requests, keep=(), finish=None, peers=None):
        requests = requests if isinstance(requests, list) else [requests]
        numbers = "" if array is None else f" of {array.size} {array.dtype}"
        if peers is None:
            waiting.begun[self.members] = waiting.begun.get(self.members, 0) + 1
        self._under_way = [work for work in self._under_way if not work.is_completed()]
        work = _Request(f"{call}{numbers}", self, requests, (keep, array), finish, peers)
        self._under_way.append(work)  # its buffers live on if nobody else keeps it
        return work

    def broadcast(self, buffer: Any, root: int) -> Work:
        return self._work("broadcast", buffer, self._comm.Ibcast(_moved(buffer), root))

    def allreduce(self, buffer: Any, op: RedOpType) -> Work:
        r = _Reduction(buffer, op, self.size)
        flat = r.array.reshape(-1)
        n = _PIECE_BYTES // flat.itemsize
        pieces = [flat[i : i + n] for i in range(0, max(flat.size, 1), n)]
        requests = [self._comm.Iallreduce(mpi().IN_PLACE, r.buffer(x), r.op) for x in pieces]
        return self._work("allreduce", buffer, requests, r, lambda: r.finished(r.array, buffer))

    def reduce(self, buffer: Any, root: int, op: RedOpType) -> Work:
        r = _Reduction(buffer, op, self.size)
        if self.rank != root:
            request = self._comm.Ireduce(r.buffer(r.array), None, r.op, root)
            return self._work("reduce", buffer, request, r)
        request = self._comm.Ireduce(mpi().IN_PLACE, r.buffer(r.array), r.op, root)
        return self._work("reduce", buffer, request, r, lambda: r.finished(r.array, buffer))

    def allgather(self, outputs: Sequence[Any], buffer: Any) -> Work:
        found, finish = _room(outputs)
        request = self._comm.Iallgather(_moved(buffer), _moved(found))
        return self._work("allgather", buffer, request, found, finish)

    def gather(self, outputs: Sequence[Any], buffer: Any, root: int) -> Work:
        if self.rank != root:
            return self._work("gather", buffer, self._comm.Igather(_moved(buffer), None, root))
        found, finish = _room(outputs)
        request = self._comm.Igather(_moved(buffer), _moved(found), root)
        return self._work("gather", buffer, request, found, finish)

    def scatter(self, buffer: Any, inputs: Sequence[Any], root: int) -> Work:
        given = _joined(inputs) if self.rank == root else None
        sent = None if given is None else _moved(given)
        request = self._comm.Iscatter(sent, _moved(buffer), root)
        return self._work("scatter", buffer, request, given)

    def reduce_scatter(self, buffer: Any, inputs: Sequence[Any], op: RedOpType) -> Work:
        r = _Reduction(_joined(inputs), op, self.size)
        found = buffer if r.array.dtype == buffer.dtype else np.empty(buffer.shape, r.array.dtype)
        sent, to = r.buffer(r.array), r.buffer(found)
        request = self._comm.Ireduce_scatter_block(sent, to, r.op)
        return self._work(
            "reduce_scatter", buffer, request, (r, found), lambda: r.finished(found, buffer)
        )

    def alltoall(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Work:
        given = _joined(inputs)
        found, finish = _room(outputs)
        ends = [[each.size * _n_words(each) for each in side] for side in (inputs, outputs)]
        (sent, kind), (to, _) = _moved(given), _moved(found)
        request = self._comm.Ialltoallv([sent, ends[0], kind], [to, ends[1], kind])
        return self._work("alltoall", given, request, found, finish)

    def send(self, buffer: Any, destination: int, tag: int) -> Work:
        request = self._comm.Isend(_moved(buffer), destination, tag)
        return self._work(f"send to rank {destination}", buffer, request, peers=[destination])

    def receive(self, buffer: Any, source: int | None, tag: int) -> Work:
        where = mpi().ANY_SOURCE if source is None else source
        request = self._comm.Irecv(_moved(buffer), where, tag)
        origin = "any rank" if source is None else f"rank {source}"
        peers = [] if source is None else [source]
        return self._work(f"receive from {origin}", buffer, request, peers=peers)

    def barrier(self) -> Work:
        return self._work("barrier", None, self._comm.Ibarrier())

    def group(self, rank: int, size: int, ranks: Sequence[int]) -> Backend:
        places = [self._places[r] for r in ranks]
        return _among(self.name, places, ranks, rank, self.timeout)

    def duplicate(self) -> Any:
        """A communicator of the same processes, which `close` leaves."""
        return self._comm.Dup()

    def close(self) -> None:
        if not mpi().Is_finalized():
            self._comm.Free()
