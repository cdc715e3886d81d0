"""A worker of a DataLoader: a process that makes batches from the indices it is sent.

Three threads share its work. One reads what the loader sends, so that the loader never waits; it
also notices when the loader is gone, whatever the data set is busy with. The main thread makes the
batches. A third one sends them, so that the worker is ahead of the loader by more than one batch.
"""

from __future__ import annotations

import os
import queue
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

import tapegrad
from tapegrad.core import errors
from tapegrad.tensors.copy_pickle import reduce_tensor
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils.data._utils.fetch import IterableFetcher, MapFetcher

START, TASK = "start", "task"  # what a loader sends: an epoch begins; make a batch
BATCH, FAILURE, EXHAUSTED = "batch", "failure", "exhausted"  # what a worker sends
_POLL_S = 5  # how often a worker looks whether its parent is there, should nothing tell it
_GRACE_S = 1  # for the data set to end what it is doing after the loader is gone


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is: what `get_worker_info` returns."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader: its `id`, `num_workers`, `seed`, `dataset`; elsewhere None.

    >>> torch.utils.data.get_worker_info() is None
    True
    """
    return _info


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


def _prepare(worker_id: int, work: Work) -> None:
    """Seeds, one thread, and the loader's `worker_init_fn`."""
    global _info
    tapegrad.set_num_threads(1)
    seed = work.base_seed + worker_id
    random.seed(seed)
    tapegrad.manual_seed(seed)
    low, high = work.base_seed & 0xFFFFFFFF, work.base_seed >> 32
    state = np.random.SeedSequence([worker_id, low, high, 0]).generate_state(4)
    np.random.seed(state)  # noqa: NPY002
    _info = WorkerInfo(worker_id, work.n_workers, seed, work.dataset)
    if work.init_fn is not None:
        work.init_fn(worker_id)
