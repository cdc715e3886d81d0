"""Collectives as events of a profile: from their beginning until their numbers are there.

They have PyTorch's names and lanes of their own beside the thread that began them, because several
may be under way. Each notes its bytes, its rank and how long the rank waited for it.
"""

import time
from datetime import timedelta

from tapegrad.core.annotations import Any
from tapegrad.distributed.backend import Backend
from tapegrad.distributed.work import Work

_TITLES = {
    "allreduce": "all_reduce",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "allgather": "all_gather",
    "gather": "gather",
    "scatter": "scatter",
    "reduce_scatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "send": "send",
    "receive": "recv",
    "barrier": "barrier",
}
_busy: set[int] = set()  # lanes with something under way


class _Noted(Work):
    """A work whose end is that of an event."""

    def __init__(self, work: Work, recorder: Any, record: Any) -> None:
        super().__init__()
        self._work, self._recorder, self._record = work, recorder, record
        self.is_completed()

    def is_completed(self) -> bool:
        done = self._work.is_completed()
        if done and self._record is not None:
            self._recorder.pop(self._record)
            _busy.discard(self._record.thread)
            self._record = None
        return done

    def exception(self) -> BaseException | None:
        return self._work.exception()

    def source_rank(self) -> int:
        return self._work.source_rank()

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        if (record := self._record) is None:
            return self._work.wait(timeout)
        start = time.perf_counter_ns()
        try:
            return self._work.wait(timeout)
        finally:
            record.notes["Waiting us"] += (time.perf_counter_ns() - start) / 1e3
            self.is_completed()


class Profiled:
    """A backend whose calls a recorder notes."""

    def __init__(self, backend: Backend, recorder: Any) -> None:
        self._backend, self._recorder = backend, recorder

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._backend, name)
        if name not in _TITLES:
            return function

        def noted(*args: Any) -> Work:
            arrays = next(([x] if hasattr(x, "nbytes") else x for x in args), [])
            if name in ("allgather", "alltoall", "gather"):
                arrays = args[0] or [args[1]]
            record = self._recorder.push(f"{self._backend.name}:{_TITLES[name]}")
            record.thread = next(
                lane for lane in range(-1, -len(_busy) - 2, -1) if lane not in _busy
            )
            _busy.add(record.thread)
            record.notes = {
                "Collective name": name,
                "In msg nelems": sum(x.size for x in arrays),
                "Bytes": sum(x.nbytes for x in arrays),
                "dtype": str(arrays[0].dtype) if arrays else "",
                "Group size": self._backend.size,
                "Rank": self._backend.rank,
                "Waiting us": 0.0,
            }
            if self._recorder.shapes:
                record.inputs = [list(x.shape) for x in arrays]
            return _Noted(function(*args), self._recorder, record)

        return noted
