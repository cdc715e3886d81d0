"""One pass over a DataLoader whose batches are made by worker processes."""

from __future__ import annotations

import multiprocessing
from typing import Any

from tapegrad.core import errors
from tapegrad.utils.data._utils.crew import Crew
from tapegrad.utils.data._utils.iterator import LoaderIterator
from tapegrad.utils.data._utils.worker import BATCH, EXHAUSTED, START, TASK, Work


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
            loader._is_iterable,
            loader._auto_collation,
            loader.collate_fn,
            loader.drop_last,
            loader.worker_init_fn,
            self._base_seed,
            loader.num_workers,
        )
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._crew = Crew(context, work, loader.timeout)
        self._epoch = 0
        self._hand_out()

    @property
    def is_usable(self) -> bool:
        """Whether another pass can begin with these workers."""
        return self._crew.is_whole and self._crew.stop.still_active()

    def begin_again(self, loader: Any) -> None:
        """Start another pass with the same workers."""
        self._begin(loader)
        self._epoch += 1
        for i in range(self._n_workers):
            self._crew.send(i, (START, self._epoch, None, None))
        self._hand_out()

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
