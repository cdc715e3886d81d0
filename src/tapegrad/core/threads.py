"""The threads that share large work: NumPy releases the interpreter lock in its loops.

They start with the first work that is shared, and a child process that was forked starts its own.
Who shares work does of it what nobody else has begun, so that nobody waits for a thread that is
busy: many may share work at once. Work inside of shared work is not shared again.
"""

import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")

_helpers: Any = None  # a queue: what the threads are told to help with; None ends one
_n_helpers = 0
_lock = threading.Lock()
_here = threading.local()  # `.shares` is True in a thread while it does shared work


def n_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _asked() -> int | None:
    """The number of threads that the environment asks for, as PyTorch takes it from there."""
    for name in ("MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        number = os.environ.get(name, "").split(",")[0].strip()
        if number.isdecimal() and int(number):
            return min(int(number), n_cores())
    return None


_chosen = _asked()


def n_threads() -> int:
    """The number of threads chosen, else of cores this process may use."""
    return _chosen or n_cores()


def set_n_threads(n: int) -> None:
    """Choose the number of threads."""
    global _chosen
    with _lock:
        _chosen = n
        _dismiss()


def at_once(calls: list[Callable[[], T]]) -> list[T]:
    """What each of the calls returns: threads take them in order, this one the first.

    All have ended when this returns or raises; it raises the error of the first that failed.

    >>> from tapegrad.core.threads import at_once
    >>> at_once([lambda: 1, lambda: 2])
    [1, 2]
    """
    n = n_threads()
    if len(calls) < 2 or n < 2 or getattr(_here, "shares", False):
        return [call() for call in calls]
    shared = _Shared(calls)
    helpers = _waiting(n - 1)
    _here.shares = True
    try:
        for _ in range(min(len(calls), n) - 1):
            helpers.put((copy_context(), shared))
        shared.help()
        return shared.results()
    finally:
        _here.shares = False


class _Shared:
    """Calls, of which each thread that helps takes the next until none is left."""

    def __init__(self, calls: list[Callable]):
        self._calls = calls
        self._found: list[Any] = [None] * len(calls)
        self._errors: dict[int, BaseException] = {}
        self._lock = threading.Lock()
        self._begun = self._ended = 0
        self._all_ended = threading.Lock()
        self._all_ended.acquire()

    def help(self) -> None:
        while True:
            with self._lock:
                i = self._begun
                if i == len(self._calls):
                    return
                self._begun += 1
                call = self._calls[i]
            try:
                self._found[i] = call()
            except BaseException as error:  # raised where the work was shared
                self._errors[i] = error
            del call  # or a thread that waits would hold its arrays
            with self._lock:
                self._ended += 1
                if self._ended == len(self._found):
                    self._calls = []
                    self._begun = 0
                    self._all_ended.release()

    def results(self) -> list:
        """What the calls returned, when all have ended; raises the error of the first."""
        try:
            self._all_ended.acquire()
        except BaseException:  # Ctrl+C: the arrays are still written to
            self._all_ended.acquire()
            raise
        if not self._errors:
            return self._found
        try:
            raise self._errors[min(self._errors)]
        finally:
            self._errors.clear()  # they refer to this frame


def beside(work: Callable[["Line"], Any], calls: list[Callable[[], Any]], n_ready: int) -> None:
    """Run `work(line)` while other threads make the calls, in order; all are made in the end.

    The first `n_ready` calls may be made at once, and `work` asks for those by `line.need(i)`. The
    others wait until `work` allows them by `line.allow(n)`.

    >>> from tapegrad.core.threads import beside
    >>> found = []
    >>> calls = [lambda: found.append("before"), lambda: found.append("after")]
    >>> beside(lambda line: (line.need(0), found.append("work"), line.allow(2)), calls, 1)
    >>> found
    ['before', 'work', 'after']
    """
    line = Line(calls, n_ready)

    def run() -> None:
        try:
            work(line)
        except BaseException:
            line.allow(0)
            raise
        line.allow(len(calls))

    at_once([run, *[line.help] * max(1, n_threads() - 1)])


class Line:
    """Calls in order, each made once: by who needs it, or by a thread that helps."""

    def __init__(self, calls: list[Callable[[], Any]], n_ready: int):
        self._calls = calls
        self._n_ready = n_ready  # so many may be made; 0: none any more
        self._made = [False] * len(calls)
        self._locks = [threading.Lock() for _ in calls]
        self._turn = threading.Condition()

    def need(self, i: int) -> None:
        """Return when call `i` has been made: make it, unless another thread has begun it."""
        with self._locks[i]:
            self._make(i)

    def allow(self, n: int) -> None:
        """Let the first `n` calls be made; with 0 those that nobody has begun are left out."""
        with self._turn:
            self._n_ready = n
            self._turn.notify_all()

    def help(self) -> None:
        """Make all calls that nobody has begun."""
        for i in range(len(self._calls)):
            with self._turn:
                while i >= self._n_ready > 0:
                    self._turn.wait()
                if not self._n_ready:
                    return
            if self._locks[i].acquire(blocking=False):
                try:
                    self._make(i)
                finally:
                    self._locks[i].release()

    def _make(self, i: int) -> None:
        if not self._made[i]:
            self._made[i] = True
            self._calls[i]()


def _waiting(n: int) -> Any:
    """The queue that `n` threads wait at."""
    global _helpers, _n_helpers
    with _lock:
        if _helpers is None or _n_helpers != n:
            from queue import SimpleQueue

            _dismiss()
            _helpers, _n_helpers = SimpleQueue(), n
            for i in range(n):
                name = f"tapegrad_{i}"
                try:
                    threading.Thread(target=_wait, args=(_helpers,), name=name, daemon=True).start()
                except RuntimeError:
                    break  # the interpreter ends, or the system has none: work goes on with fewer
        return _helpers


def _wait(queue: Any) -> None:
    _here.shares = True
    while (item := queue.get()) is not None:
        context, shared = item
        context.run(shared.help)
        del item, context, shared


def _dismiss() -> None:
    global _helpers
    if _helpers is not None:
        for _ in range(_n_helpers):
            _helpers.put(None)
    _helpers = None


def _forget() -> None:
    """In a forked child: the threads stayed behind, and so did who held the lock."""
    global _helpers, _lock
    _helpers, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
