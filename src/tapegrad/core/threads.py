"""The threads that share large work: NumPy releases the interpreter lock in its loops.

They start with the first work that is shared, and a child process that was forked starts its own.
Work that already runs on one of them is not shared again: it would wait for threads that wait.
"""

import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_pool: Any = None
_lock = threading.Lock()
_here = threading.local()  # `.shares` is True in a thread of the pool


def _asked_for() -> int | None:
    """The number of threads that the environment asks for, as of OpenMP; None if it does not."""
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(given) if given.isdecimal() and int(given) else None


_chosen: int | None = _asked_for()


def n_threads() -> int:
    """The number of threads chosen, else of cores this process may use."""
    return _chosen or n_cores()


def set_n_threads(n: int) -> None:
    """Choose the number of threads."""
    global _chosen, _pool
    with _lock:
        _chosen, _pool = n, None


def n_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def at_once(calls: list[Callable[[], T]]) -> list[T]:
    """What each of the calls returns: the first in this thread, the others in those of the pool.

    All have ended when this returns or raises; it raises the error of the first that failed.

    >>> from tapegrad.core.threads import at_once
    >>> at_once([lambda: 1, lambda: 2])
    [1, 2]
    """
    if len(calls) < 2 or getattr(_here, "shares", False):
        return [call() for call in calls]
    pool = _workers()
    jobs = [pool.submit(call) for call in calls[1:]]
    try:
        first = calls[0]()
    finally:
        for job in jobs:
            job.exception()  # waits
    return [first, *(job.result() for job in jobs)]


def _workers() -> Any:
    global _pool
    if _pool is None:
        with _lock:
            if _pool is None:
                from concurrent.futures import ThreadPoolExecutor

                _pool = ThreadPoolExecutor(
                    n_threads(), thread_name_prefix="tapegrad", initializer=_enter
                )
    return _pool


def _enter() -> None:
    _here.shares = True


def _forget() -> None:
    """In a forked child: the threads stayed behind, and so did who held the lock."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
