"""Elementwise work on large arrays: cache-sized blocks, over threads.

NumPy's ufuncs run on one core and release the interpreter lock; a fresh result of many megabytes
costs more in page faults than in arithmetic. A function of several passes, run block by block,
keeps its temporaries in the cache. Small arrays never come here.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

LARGE = 1 << 17  # elements: below it threads cost more than they bring
BLOCK = 1 << 15  # elements: a few float32 blocks fit the second-level cache of one core

_pool: Any = None
_lock = threading.Lock()


def n_threads() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _workers() -> Any:
    global _pool
    if _pool is None:
        with _lock:
            if _pool is None:
                from concurrent.futures import ThreadPoolExecutor

                _pool = ThreadPoolExecutor(n_threads(), thread_name_prefix="tapegrad")
    return _pool


def blockwise(function: Callable, arrays: tuple) -> Any:
    """`function(*arrays)` for an elementwise function; None if the arrays do not lend themselves.

    All arrays of one shape and contiguous; Python numbers and 0-d arrays may stand between them.
    """
    shape = None
    for x in arrays:
        if type(x) is np.ndarray and x.ndim:
            if shape is None:
                shape = x.shape
            if x.shape != shape or not x.flags.c_contiguous:
                return None
    if shape is None:
        return None
    flat = [x.reshape(-1) if type(x) is np.ndarray and x.ndim else x for x in arrays]
    split = [type(x) is np.ndarray and x.ndim == 1 for x in flat]
    size = next(x.size for x, s in zip(flat, split, strict=True) if s)
    first = function(*[x[:1] if s else x for x, s in zip(flat, split, strict=True)])
    if type(first) is not np.ndarray or first.shape != (1,):
        return None
    out = np.empty(size, first.dtype)

    def work(start: int, stop: int) -> None:
        for i in range(start, stop, BLOCK):
            j = min(i + BLOCK, stop)
            out[i:j] = function(*[x[i:j] if s else x for x, s in zip(flat, split, strict=True)])

    n = n_threads()
    if n == 1:
        work(0, size)
    else:
        step = -(-size // n // BLOCK) * BLOCK
        jobs = [_workers().submit(work, i, min(i + step, size)) for i in range(step, size, step)]
        work(0, min(step, size))
        for job in jobs:
            job.result()
    return out.reshape(shape)
