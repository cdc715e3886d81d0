"""`ProcessGroup`: collectives on tensors, checked, on top of a `Backend`'s buffers."""

from collections.abc import Sequence
from datetime import timedelta
from enum import IntEnum
from typing import ClassVar

import numpy as np

from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.device import device
from tapegrad.core.errors import runtime_error
from tapegrad.distributed.backend import Backend
from tapegrad.distributed.constants import default_pg_timeout
from tapegrad.distributed.exceptions import DistBackendError
from tapegrad.distributed.reduce_op import (
    AllreduceOptions,
    AllToAllOptions,
    BroadcastOptions,
    GatherOptions,
    RedOpType,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
    reduction_of,
)
from tapegrad.distributed.work import AfterWork, Work
from tapegrad.profiler.recorder import RECORDER

_MONITOR_TAG = 30_000  # of messages of `monitored_barrier`; MPI has no smaller bound of tags
_ADVICE = "Give every rank tensors of the shapes and in the number that the collective asks for."
_REDUCIBLE = frozenset(
    "uint8 int8 int32 int64 float16 bfloat16 float32 float64 bool complex64 complex128".split()
)


class BackendType(IntEnum):
    """The kinds of backends."""

    UNDEFINED = 0
    GLOO = 1
    NCCL = 2
    UCC = 3
    MPI = 4
    CUSTOM = 5
    XCCL = 6


class _Buffer:
    """The memory of a tensor as a contiguous array, written back by `finish`."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor.data
        self.flat = self.tensor.resolve_conj().resolve_neg().contiguous()
        self.array = self.flat._array

    def finish(self) -> None:
        if self.flat is not self.tensor:
            self.tensor.copy_(self.flat)


def _arrays(tensors):
    return [_Buffer(x).array for x in tensors]


def _sizes(x):
    return "(" + ", ".join(str(n) for n in x.shape) + ")"


class ProcessGroup:
    """Some ranks that compute together; `torch.distributed.new_group` makes one.

    A library may have its own: a class of this one with methods of its own, made by a function
    that `Backend.register_backend` knows.
    """

    BackendType = BackendType
    UNDEFINED = BackendType.UNDEFINED
    GLOO = BackendType.GLOO
    NCCL = BackendType.NCCL
    UCC = BackendType.UCC
    MPI = BackendType.MPI
    CUSTOM = BackendType.CUSTOM
    XCCL = BackendType.XCCL
    _WORDS: ClassVar = {"gloo": "Gloo", "mpi": "MPI"}

    def __init__(self, rank: int, size: int, backend: Backend | None = None) -> None:
        self._rank, self._size, self._backend = rank, size, backend
        self.group_name = ""
        self.group_desc = "undefined"
        self.bound_device_id: Any = None
        self._store: Any = None

    def rank(self) -> int:
        """The number of this process in the group."""
        return self._rank

    def size(self) -> int:
        """How many processes the group has."""
        return self._size

    def name(self) -> str:
        """The name of the backend."""
        return self._get_backend_name()

    def _get_backend_name(self) -> str:
        return getBackendName(self) if self._backend is None else self._backend.name

    def getBackendName(self) -> str:
        """The name of the backend, which a class of its own says here."""
        return self._get_backend_name()

    def get_group_store(self) -> Any:
        """The store of the group."""
        return self._store

    @property
    def _device_types(self) -> list:
        return [device("cpu")]

    def _get_backend(self, device: Any) -> Any:
        return self._backend

    def boxed(self) -> Any:
        """Itself: there is no other form of it in Python."""
        return self

    def set_timeout(self, timeout: Any) -> None:
        """How long collectives wait; those of one rank never do."""
        if self._backend is not None:
            self._backend.set_timeout(timeout)

    def abort(self) -> None:
        """End what is under way."""
        self.shutdown()

    def shutdown(self) -> None:
        """Give back what the backend holds."""
        if self._backend is not None:
            self._backend.close()

    # --- checks, in gloo's words ------------------------------------------------------------------

    @property
    def _moves(self) -> Any:
        """The backend, whose calls a profiler that is on hears of."""
        if self._backend is None:
            raise NotImplementedError(f"{type(self).__name__} does not have this collective")
        recorder = RECORDER.get()
        if recorder is None or not recorder.on:
            return self._backend
        from tapegrad.distributed.profiled import Profiled

        return Profiled(self._backend, recorder)

    def _refuse(self, call, problem):
        word = self._WORDS.get(self._moves.name, self._moves.name)
        return runtime_error(f"ProcessGroup{word}::{call}: {problem}", _ADVICE)

    def _check_root(self, call, root):
        if not 0 <= root < self._size:
            raise self._refuse(call, f"invalid root rank: {root}")

    def _check_like(self, call, tensors, like):
        for i, x in enumerate(tensors):
            if x.shape != like.shape:
                problem = (
                    f"invalid tensor size at index {i} (expected {_sizes(like)}, got {_sizes(x)})"
                )
                raise self._refuse(call, problem)

    def _check_list(self, call, what, tensors):
        if len(tensors) != self._size:
            problem = (
                f"Incorrect {what} list size {len(tensors)}. {what.capitalize()} list size should "
                f"be {self._size}, same as size of the process group."
            )
            raise self._refuse(call, problem)

    @staticmethod
    def _check_reduction(tensor, op):
        op = reduction_of(op)
        kind = str(tensor.dtype).removeprefix("torch.")
        if op is RedOpType.PREMUL_SUM:
            raise runtime_error(
                "Cannot use ReduceOp.PREMUL_SUM with Gloo", "Multiply first, then take SUM."
            )
        if kind not in _REDUCIBLE:
            raise runtime_error("Invalid scalar type", "Convert the tensor to int32 or float32.")
        if op in (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR) and (
            tensor.is_floating_point() or tensor.is_complex()
        ):
            raise runtime_error(
                f"Cannot use ReduceOp.{op.name} with non-integral dtype",
                "Bits are those of integers.",
            )
        if op is RedOpType.AVG and not (tensor.is_floating_point() or tensor.is_complex()):
            name = tensor.dtype.scalar_name
            raise runtime_error(
                f"result type Float can't be cast to the desired output type {name}",
                "Take SUM and divide, or convert the tensor to float32.",
            )
        return op

    # --- collectives ------------------------------------------------------------------------------

    def _run(self, buffers: Sequence[_Buffer], work: Work, results: Sequence | None) -> Work:
        def finish():
            for each in buffers:
                each.finish()

        return AfterWork(work, results, finish)

    def allreduce(self, tensors: Any, opts: Any = None, *args: Any) -> Work:
        """Write to the tensor the reduction over all ranks."""
        opts = AllreduceOptions() if opts is None else opts
        tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        op = getattr(opts, "reduceOp", opts)
        works = []
        for x in tensors:
            op = self._check_reduction(x, op)
            buffer = _Buffer(x)
            works.append(self._run([buffer], self._moves.allreduce(buffer.array, op), [x]))
        return works[0] if len(works) == 1 else AllWork(works, tensors)

    def allreduce_coalesced(self, tensors: Sequence[Tensor], opts: Any = None) -> Work:
        """`allreduce` of several tensors."""
        return self.allreduce(tensors, opts)

    def broadcast(self, tensors: Any, opts: Any = None, *args: Any) -> Work:
        """Write to the tensor that of the root."""
        x = tensors[0] if isinstance(tensors, (list, tuple)) else tensors
        root = (BroadcastOptions() if opts is None else opts).rootRank if _has_root(opts) else opts
        self._check_root("broadcast", root)
        buffer = _Buffer(x)
        return self._run([buffer], self._moves.broadcast(buffer.array, root), [x])

    def reduce(self, tensors: Sequence[Tensor], opts: Any = None) -> Work:
        """Write to the root's tensor the reduction over all ranks."""
        opts = ReduceOptions() if opts is None else opts
        self._check_root("reduce", opts.rootRank)
        op = self._check_reduction(tensors[0], opts.reduceOp)
        buffer = _Buffer(tensors[0])
        work = self._moves.reduce(buffer.array, opts.rootRank, op)
        return self._run([buffer], work, [tensors[0]])

    def allgather(self, outputs: Sequence, inputs: Sequence[Tensor], opts: Any = None) -> Work:
        """Write to `outputs[0][r]` the tensor of rank r."""
        listed, x = outputs[0], inputs[0]
        if len(listed) != self._size:
            problem = (
                "invalid output tensor list at index 0 "
                f"(expected length {self._size}, got {len(listed)})"
            )
            raise self._refuse("allgather", problem)
        self._check_like("allgather", listed, x)
        buffers = [_Buffer(each) for each in listed]
        work = self._moves.allgather([b.array for b in buffers], _Buffer(x).array)
        return self._run(buffers, work, listed)

    def allgather_coalesced(self, outputs: Sequence, inputs: Sequence[Tensor], o: Any = None):
        """`allgather` of several tensors: `outputs[r][i]` is tensor i of rank r."""
        by_input = [[each[i] for each in outputs] for i in range(len(inputs))]
        works = [self.allgather([to], [x]) for to, x in zip(by_input, inputs, strict=True)]
        return AllWork(works, [x for each in outputs for x in each])

    def _allgather_base(self, output: Tensor, input: Tensor, opts: Any = None) -> Work:
        """Write to `output` the tensors of all ranks, one after another."""
        parts = output.data.chunk(self._size) if output.dim() else [output.data]
        return AllWork([self.allgather([list(parts)], [input])], [output])

    all_gather_single = _allgather_base

    def gather(self, outputs: Sequence, inputs: Sequence[Tensor], opts: Any = None) -> Work:
        """Write to the root's `outputs[0][r]` the tensor of rank r."""
        root = (GatherOptions() if opts is None else opts).rootRank
        self._check_root("gather", root)
        listed = outputs[0] if outputs else []
        if root == self._rank:
            self._check_list("gather", "output", listed)
            self._check_like("gather", listed, inputs[0])
        buffers = [_Buffer(each) for each in listed]
        work = self._moves.gather([b.array for b in buffers], _Buffer(inputs[0]).array, root)
        return self._run(buffers, work, listed)

    def scatter(self, outputs: Sequence[Tensor], inputs: Sequence, opts: Any = None) -> Work:
        """Write to rank r's tensor the root's `inputs[0][r]`."""
        root = (ScatterOptions() if opts is None else opts).rootRank
        self._check_root("scatter", root)
        listed = inputs[0] if inputs else []
        if root == self._rank:
            self._check_list("scatter", "input", listed)
            self._check_like("scatter", listed, outputs[0])
        buffer = _Buffer(outputs[0])
        work = self._moves.scatter(buffer.array, _arrays(listed), root)
        return self._run([buffer], work, outputs)

    def reduce_scatter(self, outputs: Sequence[Tensor], inputs: Sequence, opts: Any = None) -> Work:
        """Write to rank r's tensor the reduction of every rank's `inputs[0][r]`."""
        opts = ReduceScatterOptions() if opts is None else opts
        if len(inputs[0]) != self._size:
            raise runtime_error("invalid input tensor list size, must be world size", _ADVICE)
        for x in inputs[0]:
            if x.shape != outputs[0].shape:
                raise runtime_error(
                    "Check failed: outputs[0].sizes().vec() == inputs[0][i].sizes().vec() "
                    f"({' '.join(map(str, outputs[0].shape))} vs. "
                    f"{' '.join(map(str, x.shape))}). ",
                    _ADVICE,
                )
        op = self._check_reduction(outputs[0], opts.reduceOp)
        buffer = _Buffer(outputs[0])
        work = self._moves.reduce_scatter(buffer.array, _arrays(inputs[0]), op)
        return self._run([buffer], work, None)

    def _reduce_scatter_base(self, output: Tensor, input: Tensor, opts: Any = None) -> Work:
        """Write to rank r's `output` the reduction of part r of every rank's `input`."""
        rows, n = (x.shape[0] if x.dim() else 1 for x in (output, input))
        if rows * self._size != n:
            raise runtime_error(
                f"Check failed: outputShape[0] * worldSize == inputShape[0] ({rows} vs. {n}). ",
                _ADVICE,
            )
        parts = input.data.reshape(self._size, *output.shape).unbind(0)
        return self.reduce_scatter([output], [list(parts)], opts)

    reduce_scatter_single = _reduce_scatter_base

    def alltoall(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], o: Any = None) -> Work:
        """Write to rank r's `outputs[s]` what rank s has as `inputs[r]`."""
        for what, listed in (("input", inputs), ("output", outputs)):
            if len(listed) != self._size:
                problem = (
                    f"{what} tensor list size {len(listed)} does not match world size {self._size}"
                )
                raise self._refuse("alltoall", problem)
        buffers = [_Buffer(x) for x in outputs]
        if self._size == 1 and outputs[0].shape != inputs[0].shape:
            problem = "input and output tensors must have the same size"
            raise self._refuse("alltoall", problem)
        work = self._moves.alltoall([b.array for b in buffers], _arrays(inputs))
        return self._run(buffers, work, outputs)

    def alltoall_base(
        self,
        output: Tensor,
        input: Tensor,
        output_split_sizes: Sequence[int],
        input_split_sizes: Sequence[int],
        opts: AllToAllOptions | None = None,
    ) -> Work:
        """`alltoall` of the pieces of two tensors along their first dimension."""
        pieces = []
        for x, sizes in ((output, output_split_sizes), (input, input_split_sizes)):
            if not sizes and x.shape[0] % self._size:
                raise runtime_error(
                    "Tensor's dim 0 does not divide equally across group size", _ADVICE
                )
            sizes = list(sizes) or [x.shape[0] // self._size] * self._size
            if len(sizes) != self._size:
                raise runtime_error("Number of tensor splits not equal to group size", _ADVICE)
            if sum(sizes) != x.shape[0]:
                raise runtime_error("Split sizes doesn't match total dim 0 size", _ADVICE)
            pieces.append(list(x.data.split(sizes)))
        to, frm = pieces
        if self._size == 1 and to[0].numel() != frm[0].numel():
            raise runtime_error("in->size == out->size. ", _ADVICE)
        if self._size == 1:
            frm = [frm[0].reshape(to[0].shape)]
        return AllWork([self.alltoall(to, frm)], [output])

    all_to_all_single = alltoall_base

    def send(self, tensors: Sequence[Tensor], destination: int, tag: int = 0) -> Work:
        """Send a tensor to a rank."""
        return self._moves.send(_Buffer(tensors[0]).array, destination, tag)

    def recv(self, tensors: Sequence[Tensor], source: int, tag: int = 0) -> Work:
        """Receive a tensor from a rank."""
        buffer = _Buffer(tensors[0])
        return self._run([buffer], self._moves.receive(buffer.array, source, tag), tensors)

    def recv_anysource(self, tensors: Sequence[Tensor], tag: int = 0) -> Work:
        """Receive a tensor from whichever rank sends first."""
        buffer = _Buffer(tensors[0])
        return self._run([buffer], self._moves.receive(buffer.array, None, tag), tensors)

    def barrier(self, opts: Any = None) -> Work:
        """Done when every rank has called it."""
        return self._moves.barrier()

    def monitored_barrier(self, timeout: Any = None, wait_all_ranks: bool = False) -> None:
        """Wait until every rank has called it.

        Raises: RuntimeError on rank 0, naming the first rank that did not come in time, or all of
            them; the others wait for its answer.
        """
        limit = default_pg_timeout if timeout is None else timeout
        sign = np.zeros(1, np.int8)
        if self._rank:
            self._moves.send(sign, 0, _MONITOR_TAG).wait(limit)
            self._moves.receive(sign, 0, _MONITOR_TAG).wait(limit)
            return
        others = range(1, self._size)
        works = [self._moves.receive(np.zeros(1, np.int8), r, _MONITOR_TAG) for r in others]
        missing = []
        for r, work in zip(others, works, strict=True):
            try:
                work.wait(limit)
            except DistBackendError:
                missing.append(r)
                if not wait_all_ranks:
                    break
        if missing:
            ms = round(limit.total_seconds() * 1000)
            ranks = f"Rank{'s' * wait_all_ranks} {', '.join(map(str, missing))}"
            raise runtime_error(
                f"[Rank 0]: {ranks} failed to pass monitoredBarrier in {ms} ms",
                "Look where those ranks are: every rank has to call it.",
            )
        for work in [self._moves.send(sign, r, _MONITOR_TAG) for r in others]:
            work.wait(limit)


def _has_root(opts):
    return opts is None or hasattr(opts, "rootRank")


def getBackendName(group: ProcessGroup) -> str:
    """The name that a class of process groups says; "custom" if it says none."""
    own = type(group).getBackendName
    return own(group) if own is not ProcessGroup.getBackendName else "custom"


class AllWork(Work):
    """Several works as one."""

    def __init__(self, works: Sequence[Work], results: Sequence) -> None:
        super().__init__(results)
        self._works = list(works)

    def is_completed(self) -> bool:
        return all(work.is_completed() for work in self._works)

    def exception(self) -> BaseException | None:
        return next((e for work in self._works if (e := work.exception()) is not None), None)

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        return all([work.wait(timeout) for work in self._works])


class ProcessGroupGloo(ProcessGroup):
    """The groups whose backend is called "gloo"."""
