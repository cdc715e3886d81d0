"""A worker of a DataLoader: a process that makes batches from the indices it is sent.

Three threads share its work. One reads what the loader sends, so that the loader never waits; it
also notices when the loader is gone, whatever the data set is busy with. The main thread makes the
batches. A third one sends them, so that the worker is ahead of the loader by more than one batch.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import random
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from typing import Any

import numpy as np

import tapegrad
from tapegrad.core import errors
from tapegrad.tensors.copy_pickle import reduce_tensor
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils.data._utils.fetch import IterableFetcher, LoaderIterator, MapFetcher
from tapegrad.utils.data._utils.pipes import begin_pass, divide, is_pipe, seed_pipes
from tapegrad.utils.data.sampler import drawn_seed

START, TASK = "start", "task"  # what a loader sends: an epoch begins; make a batch
BATCH, FAILURE, EXHAUSTED = "batch", "failure", "exhausted"  # what a worker sends
_POLL_S = 5  # how often a worker looks whether its parent is there, should nothing tell it
_GRACE_S = 1.0  # for workers to end what they are doing, and once more after SIGTERM


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is: what `get_worker_info` returns."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader: its `id`, `num_workers`, `seed`, `dataset`; elsewhere None.

    >>> torch.utils.data.get_worker_info() is None
    True
    """
    return _worker_info


@dataclass
class Work:
    """What a worker has to know of its loader."""

    dataset: Any
    is_iterable: bool
    is_batched: bool
    collate_fn: Callable
    drop_last: bool
    init_fn: Callable | None
    base_seed: int
    n_workers: int

    def fetcher(self) -> Any:
        """A fetcher that begins with the first sample."""
        if self.is_iterable:
            return IterableFetcher(self.dataset, self.is_batched, self.collate_fn, self.drop_last)
        return MapFetcher(self.dataset, self.is_batched, self.collate_fn)


@dataclass
class Failure:
    """An exception on its way to the loader."""

    kind: type[BaseException]
    text: str

    @classmethod
    def caught(cls, worker_id: int) -> Failure:
        """The exception that is being handled."""
        kind, error, trace = sys.exc_info()
        assert kind is not None
        lines = "".join(traceback.format_exception(kind, error, trace))
        where = f"in DataLoader worker process {worker_id}"
        return cls(kind, f"Caught {kind.__name__} {where}.\nOriginal {lines}")

    def reraise(self) -> None:
        """Raise it in this process, with the worker's traceback as its message."""
        if self.kind is KeyError:
            raise KeyError(_Text(self.text))  # a KeyError prints the repr of its message
        try:
            error = self.kind(self.text)
        except Exception:  # a class whose arguments are others
            raise RuntimeError(self.text) from None
        try:
            raise error
        finally:
            del error  # or its traceback would hold it, and it the pass and all workers


class _Text(str):
    """A text that prints with its line ends."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def run(worker_id: int, work: Work, pipe: Any, others: list) -> None:
    """The life of a worker. `others` are the loader's ends of pipes that a fork has copied."""
    for other in others:
        other.close()
    ForkingPickler.register(Tensor, _reduced)
    inbox: queue.SimpleQueue = queue.SimpleQueue()
    outbox: queue.SimpleQueue = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, inbox), daemon=True).start()
    sender = threading.Thread(target=_send, args=(pipe, outbox), daemon=True)
    sender.start()
    try:
        _make_batches(worker_id, work, inbox, outbox)
    except KeyboardInterrupt:
        return  # the loader's process has it, too, and reports it
    outbox.put(None)
    sender.join()


def _receive(pipe: Any, inbox: queue.SimpleQueue) -> None:
    parent = parent_process()
    sentinels = [] if parent is None else [parent.sentinel]
    pid = os.getppid()
    try:
        while os.getppid() == pid:
            ready = connection.wait([pipe, *sentinels], _POLL_S)
            if pipe in ready:
                inbox.put(pipe.recv())
            elif ready:
                break
    except (EOFError, OSError):
        pass  # the loader has hung up
    except Exception:  # indices that are no more when they arrive
        traceback.print_exc()
        os._exit(1)
    inbox.put(None)
    time.sleep(_GRACE_S)
    os._exit(1)


def _send(pipe: Any, outbox: queue.SimpleQueue) -> None:
    try:
        while (message := outbox.get()) is not None:
            pipe.send_bytes(message)
    except OSError:
        return  # the loader is gone, which the reading thread sees, too


def _make_batches(
    worker_id: int, work: Work, inbox: queue.SimpleQueue, outbox: queue.SimpleQueue
) -> None:
    failed: Failure | None = None
    fetcher: Any = None
    try:
        _prepare(worker_id, work)
    except Exception:
        failed = Failure.caught(worker_id)
    while (message := inbox.get()) is not None:
        what, epoch, place, index = message
        if what == START:
            fetcher = None
            if place is not None:
                seed_pipes(work.dataset, place)
            continue
        try:
            if failed is None and fetcher is None:
                fetcher = work.fetcher()
            answer = (FAILURE, failed) if failed else (BATCH, fetcher.fetch(index))
        except Exception as error:
            is_end = work.is_iterable and isinstance(error, StopIteration)
            answer = (EXHAUSTED, None) if is_end else (FAILURE, Failure.caught(worker_id))
        outbox.put(_packed(worker_id, epoch, place, *answer))
        del message, index, answer


def _packed(worker_id: int, epoch: int, place: int, what: str, content: Any) -> bytes:
    """A message as bytes; in place of one that cannot be pickled, the report of that."""
    try:
        return bytes(ForkingPickler.dumps((epoch, place, what, content)))
    except Exception:
        if what == FAILURE:  # its class is one of this process only
            content = Failure(RuntimeError, content.text)
        else:
            what, content = FAILURE, Failure.caught(worker_id)
        try:
            return bytes(ForkingPickler.dumps((epoch, place, what, content)))
        except Exception:
            content = Failure(RuntimeError, content.text)
            return bytes(ForkingPickler.dumps((epoch, place, FAILURE, content)))


def _reduced(x: Tensor) -> tuple:
    """A tensor as pickle takes it, if it can leave the process."""
    if x.requires_grad and not x.is_leaf:
        raise errors.runtime_error(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since "
            "autograd does not support crossing process boundaries.  If you just want to "
            "transfer the data, call detach() on the tensor before serializing (e.g., putting "
            "it on the queue).",
            "The data set or collate_fn computes with tensors that require grad: detach() them.",
        )
    return reduce_tensor(x, None)


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """What NumPy's generator begins with in a worker."""
    low, high = base_seed & 0xFFFFFFFF, base_seed >> 32 & 0xFFFFFFFF
    return np.random.SeedSequence([worker_id, low, high, 0]).generate_state(4).tolist()


def _prepare(worker_id: int, work: Work) -> None:
    """Seeds, one thread, and the loader's `worker_init_fn`."""
    global _worker_info
    tapegrad.set_num_threads(1)
    seed = work.base_seed + worker_id
    random.seed(seed)
    tapegrad.manual_seed(seed)
    np.random.seed(_generate_state(work.base_seed, worker_id))  # noqa: NPY002
    _worker_info = WorkerInfo(worker_id, work.n_workers, seed, work.dataset)
    if is_pipe(work.dataset):
        divide(work.dataset, work.n_workers, worker_id)
    if work.init_fn is not None:
        work.init_fn(worker_id)


class _NameUnderCompat(str):
    """A name of a process in which `import torch` is served by tapegrad.

    A process that is spawned reads its name before it imports the script it belongs to.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple:
        return _read_name, (str(self),)


def _read_name(name: str) -> str:
    from tapegrad import compat

    compat.install()
    return name


def _name(i: int) -> str:
    is_served = sys.modules.get("torch") is tapegrad
    return (_NameUnderCompat if is_served else str)(f"DataLoader worker {i}")


class Crew:
    """Processes and the loader's ends of their pipes."""

    def __init__(self, context: object, work: Work, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._lost: list[tuple[int, int]] | None = None  # process ids and exit codes
        self.members: list[tuple[Any, Any]] = []
        self.stop = Finalize(self, _stop, (self.members,), exitpriority=100)
        try:
            for i in range(work.n_workers):
                self._start(context, i, work)
        except BaseException:
            self.stop()
            raise

    def _start(self, context: Any, i: int, work: Work) -> None:
        ours, theirs = context.Pipe()
        # A fork copies the ends of the loader: workers would not see that it has closed them.
        is_fork = context.get_start_method() == "fork"
        others = [pipe for _, pipe in self.members] + [ours] if is_fork else []
        args = i, work, theirs, others
        process = context.Process(target=run, name=_name(i), args=args, daemon=True)
        try:
            process.start()
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self.members.append((process, ours))

    @property
    def is_whole(self) -> bool:
        """Whether no worker was lost."""
        return self._lost is None

    def send(self, i: int, message: tuple) -> None:
        """Give a message to worker `i`."""
        try:
            self.members[i][1].send(message)
        except OSError:
            self._report_loss()

    def receive(self) -> tuple[int, tuple]:
        """The next message of any worker, and its number. Raises if a worker was lost."""
        if self._lost is not None:
            self._report_loss()
        pipes = {pipe: i for i, (_, pipe) in enumerate(self.members)}
        sentinels = [process.sentinel for process, _ in self.members]
        ready = connection.wait([*pipes, *sentinels], self._timeout_s or None)
        if not ready:
            raise errors.runtime_error(
                f"DataLoader timed out after {self._timeout_s} seconds",
                "A worker takes longer for a batch: raise timeout, or look what its data set does.",
            )
        for pipe in ready:
            if pipe in pipes:
                return pipes[pipe], self._read(pipe)
        self._report_loss()
        raise AssertionError("a worker that had ended was not reported")

    def _read(self, pipe: Any) -> tuple:
        try:
            message = pipe.recv_bytes()
        except (EOFError, OSError):
            self._report_loss()
        try:
            return ForkingPickler.loads(message)
        except BaseException:
            self.stop()
            raise

    def _report_loss(self) -> None:
        """Raise that workers ended which nobody told to, and stop the others."""
        if self._lost is None:
            self._lost = self._ended()
            self.stop()
        pids = ", ".join(str(pid) for pid, _ in self._lost)
        causes = [cause for pid, code in self._lost if (cause := _cause(pid, code))]
        raise errors.runtime_error(
            f"DataLoader worker (pid(s) {pids}) exited unexpectedly",
            "With num_workers=0 the data set runs in this process, where errors are easier to see.",
        ) from next(iter(causes), None)

    def _ended(self) -> list[tuple[int, int]]:
        """The workers that are no more. One that has only closed its pipe is about to end."""
        deadline = time.monotonic() + _GRACE_S
        while True:
            processes = [process for process, _ in self.members]
            ended = [(p.pid, p.exitcode) for p in processes if p.exitcode is not None]
            if ended or time.monotonic() > deadline:
                return ended
            time.sleep(0.001)


def _cause(pid: int, code: int) -> RuntimeError | None:
    worker = f"DataLoader worker (pid {pid})"
    if code < 0:
        return RuntimeError(f"{worker} is killed by signal: {signal.strsignal(-code)}. ")
    if code > 0:
        return RuntimeError(
            f"{worker} exited unexpectedly with exit code {code}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )
    return None


def _hang_up(pipe: Any) -> None:
    """Close a pipe, also for processes that a fork gave a copy of it."""
    if os.name == "posix":
        with socket.fromfd(pipe.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as both_ways:
            with contextlib.suppress(OSError):  # the worker is gone
                both_ways.shutdown(socket.SHUT_RDWR)
    pipe.close()


def _stop(members: list[tuple[Any, Any]]) -> None:
    """End all workers: those that do not end by themselves are terminated, then killed."""
    processes = [process for process, _ in members]
    for _, pipe in members:
        _hang_up(pipe)
    for end in ("terminate", "kill", ""):
        deadline = time.monotonic() + _GRACE_S
        for process in processes:
            process.join(max(deadline - time.monotonic(), 0))
        processes = [process for process in processes if process.is_alive()]
        if not processes or not end:
            return
        for process in processes:
            getattr(process, end)()


class MultiProcessIterator(LoaderIterator):
    """Batches of worker processes, in the order of their indices.

    Each batch is a task with a number. Workers get tasks in turn, `prefetch_factor` each to begin
    with and one more for each batch that is taken. What comes early waits in `_arrived`.
    """

    in_workers = True
    _span = "_MultiProcessingDataLoaderIter"

    def __init__(self, loader: Any) -> None:
        if loader.prefetch_factor <= 0:
            raise errors.assertion_error(
                "prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter",
                "It is how many batches each worker makes in advance: 2 by default.",
            )
        super().__init__(loader)
        self._is_persistent = loader.persistent_workers
        self._in_order = loader.in_order
        self._n_workers = loader.num_workers
        self._n_ahead = loader.prefetch_factor
        work = Work(
            loader.dataset,
            self._is_iterable,
            loader._auto_collation,
            loader.collate_fn,
            loader.drop_last,
            loader.worker_init_fn,
            self._base_seed,
            loader.num_workers,
        )
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._crew = Crew(context, work, loader.timeout)
        if is_pipe(loader.dataset, "IterDataPipe"):
            drawn_seed(loader.generator)  # PyTorch begins twice: what is drawn next is the same
        self._epoch = 0
        self._hand_out()

    @property
    def is_usable(self) -> bool:
        """Whether another pass can begin with these workers."""
        return self._crew.is_whole and self._crew.stop.still_active()

    def begin_again(self, loader: Any) -> None:
        """Start another pass with the same workers."""
        seed = begin_pass(loader)
        self._begin(loader)
        self._epoch += 1
        for i in range(self._n_workers):
            self._crew.send(i, (START, self._epoch, seed, None))
        self._hand_out()

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        if not first_iter:
            self.begin_again(loader)

    def _shutdown_workers(self) -> None:
        """End the workers."""
        self._crew.stop()

    @property
    def _workers(self) -> list[Any]:
        return [process for process, _ in self._crew.members]

    def _hand_out(self) -> None:
        self._arrived: dict[int, tuple] = {}
        self._worker_of: dict[int, int] = {}  # tasks that are neither taken nor given up
        self._active = [True] * self._n_workers
        self._n_tasks = [0] * self._n_workers
        self._turn = self._n_sent = 0
        for _ in range(self._n_ahead * self._n_workers):
            self._send_task()

    def _send_task(self) -> None:
        worker = self._next_worker()
        if worker is None:
            return
        try:
            index = next(self._indices)
        except StopIteration:
            return
        self._crew.send(worker, (TASK, self._epoch, self._n_sent, index))
        self._worker_of[self._n_sent] = worker
        self._n_tasks[worker] += 1
        self._n_sent += 1

    def _next_worker(self) -> int | None:
        """The next in turn that can take a task."""
        n_active = sum(self._active)
        for _ in range(self._n_workers):
            worker, self._turn = self._turn, (self._turn + 1) % self._n_workers
            if self._active[worker]:
                share = self._n_ahead * self._n_workers // n_active
                if self._in_order or self._n_tasks[worker] < share:
                    return worker
        return None

    def _next_data(self) -> Any:
        while self._worker_of:
            place = self._ready()
            if place is None:
                self._receive()
                continue
            what, content = self._arrived.pop(place)
            self._n_tasks[self._worker_of.pop(place)] -= 1
            self._send_task()
            if what == BATCH:
                return content
            content.reraise()
        if not self._is_persistent:
            self._crew.stop()
        raise StopIteration

    def _ready(self) -> int | None:
        """The task whose batch is to be given next, if it is there."""
        if not self._in_order:
            return next(iter(self._arrived), None)
        first = next(iter(self._worker_of))
        return first if first in self._arrived else None

    def _receive(self) -> None:
        worker, (epoch, place, what, content) = self._crew.receive()
        if epoch != self._epoch or place not in self._worker_of:
            return  # of a pass that was broken off, or of a worker that has no more
        if what != EXHAUSTED:
            self._arrived[place] = what, content
            return
        self._active[worker] = False
        for other, owner in list(self._worker_of.items()):
            if owner == worker and other not in self._arrived:
                del self._worker_of[other]
                self._n_tasks[worker] -= 1
        self._send_task()
