"""Memory of large results, used again.

A fresh array of several megabytes costs a page fault for every 4 KiB, more than the arithmetic that
fills it, and gives the pages back when it goes. Large results are views of buffers that stay here;
a buffer that nobody else refers to any more is handed out again. What is kept is bounded.
"""

import os
import sys
import threading
from _tracemalloc import is_tracing  # the module without the tools, which take long to import
from functools import cache
from typing import Any

import numpy as np

SMALLEST = 1 << 17  # bytes: below it the allocator itself keeps pages
MOST = 1 << 28  # bytes that are kept at most

_buffers: dict[tuple[int, Any], list[np.ndarray]] = {}
_kept: dict[int, int] = {}  # id of a buffer -> its bytes
_lock = threading.Lock()
_watchers: list[Any] = []  # those who watch when arrays are freed: see `watch`

# glibc learns from the largest array freed so far which sizes to keep pages for. Without this one,
# never touched, the temporaries of a block cost their page faults anew in each block: half the time
np.empty(1 << 22, np.uint8)


def watch(watcher: Any, on: bool = True) -> None:
    """Give every array memory of its own until the watcher is taken back with `on=False`."""
    if on:
        _watchers.append(watcher)
    else:
        _watchers.remove(watcher)


def _references(buffers: list) -> int:
    return sys.getrefcount(buffers[0])


try:
    _FREE = _references([np.empty(1)])
except AttributeError:  # an interpreter that does not count references: nothing is used again
    _FREE = -1


def empty(size: int, dtype: Any) -> np.ndarray:
    """A flat array of `size` elements with any values, as `np.empty`.

    While somebody traces memory, every array has memory of its own, for the books to be right.
    """
    n_bytes = size * dtype.itemsize
    if n_bytes < SMALLEST or _FREE < 0 or is_tracing() or _watchers:
        return np.empty(size, dtype)
    with _lock:
        buffers = _buffers.setdefault((size, dtype), [])
        for i in range(len(buffers)):
            if sys.getrefcount(buffers[i]) == _FREE:
                return buffers[i][:]
        if sum(_kept.values()) + n_bytes > MOST:
            _drop_unused()
        buffer = np.empty(size, dtype)
        if sum(_kept.values()) + n_bytes > MOST:
            return buffer
        _buffers.setdefault((size, dtype), []).append(buffer)
        _kept[id(buffer)] = n_bytes
        return buffer[:]


def zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros; where they are many, in memory that is used again."""
    size = 1
    for n in shape:
        size *= n
    if size * dtype.itemsize < SMALLEST:
        return np.zeros(shape, dtype)
    out = empty(size, dtype)
    out.fill(0)
    return out.reshape(shape)


def memory_for(x: np.ndarray) -> np.ndarray:
    """An array with any values for a result of the shape and dtype of `x`."""
    return empty(x.size, x.dtype).reshape(x.shape)


def drop_unused() -> None:
    """Give back the buffers that nobody uses."""
    with _lock:
        _drop_unused()


def give_back() -> None:
    """Give back the buffers that nobody uses, and what the allocator keeps of memory that is free.

    glibc keeps pages of arrays that are gone for the next ones of their size: after a large piece
    of work there may be none.
    """
    drop_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """glibc's function that returns free pages; None where another library allocates."""
    import ctypes

    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


def _drop_unused() -> None:
    for key, buffers in list(_buffers.items()):
        used = []
        for i in range(len(buffers)):
            if sys.getrefcount(buffers[i]) == _FREE:
                del _kept[id(buffers[i])]
            else:
                used.append(buffers[i])
        if used:
            _buffers[key] = used
        else:
            del _buffers[key]


def keeps(buffer: Any) -> bool:
    """Whether an array is one of the buffers, which one reference more than usual points at."""
    return id(buffer) in _kept


def _forget() -> None:
    """In a forked child: who held the lock stayed behind, perhaps halfway through the books."""
    global _lock
    _lock = threading.Lock()
    _buffers.clear()  # arrays keep those that they are views of
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
