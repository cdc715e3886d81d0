"""Work made of matrix products, shared out over threads, with the BLAS on one thread in each.

Products release the interpreter lock, so threads that each work on images of their own keep all
cores busy, also with what stands around the products. The BLAS must not start threads of its own
then. OpenBLAS, which NumPy's wheels carry, can be told so, and others through threadpoolctl if it
is installed; else the work stays in the calling thread, and the BLAS shares out its products as it
does anyway.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from math import prod

import numpy as np

from tapegrad.arrays.numpy.blocks import LARGE, PRODUCT, share_out
from tapegrad.arrays.numpy.memory_pool import empty
from tapegrad.core.annotations import Any, Array
from tapegrad.core.threads import at_once, n_threads

RUN = 1 << 22  # multiply-adds: a product is cut in runs of as many at least
RUNS, WIDE = 4, 64  # so many runs at most, of so many rows or columns: each costs a pass
DEEP = 16  # products of less depth are for the memory, not for the BLAS

_lock = threading.Lock()
_threads: Any = None  # the BLAS's functions that read and set its number of threads; () if none
_sharing = 0  # how many calls share out work now
_before = 1  # the BLAS's threads before the first of them


def _openblas_threads() -> tuple:
    """What reads and sets the number of threads of NumPy's BLAS; () if nothing does."""
    global _threads
    if _threads is None:
        import ctypes
        from importlib import import_module

        path = import_module("numpy._core._multiarray_umath").__file__
        library = ctypes.CDLL(path)  # knows the symbols it is linked to
        found: tuple = ()
        for form in ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads"):
            if hasattr(library, form.format("set")):
                found = tuple(getattr(library, form.format(which)) for which in ("get", "set"))
        _threads = found or _controlled_threads()
    return _threads


def _controlled_threads() -> tuple:
    from importlib import import_module

    try:
        threadpoolctl = import_module("threadpoolctl")
    except ModuleNotFoundError:
        return ()
    libraries = threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers
    return (libraries[0].get_num_threads, libraries[0].set_num_threads) if libraries else ()


def set_blas_threads(n: int) -> None:
    """Let the BLAS share out a product over `n` threads where nothing else is shared."""
    global _before
    functions = _openblas_threads()
    if functions:
        with _lock:
            _before = n
            if not _sharing:
                functions[1](n)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """The BLAS uses one thread meanwhile, if it can be told so."""
    global _sharing, _before
    functions = _openblas_threads()
    if not functions:
        yield
        return
    read, write = functions
    with _lock:
        if not _sharing:
            _before = read()
            write(1)
        _sharing += 1
    try:
        yield
    finally:
        with _lock:
            _sharing -= 1
            if not _sharing:
                write(_before)


def _is_alone(n: int, size: int) -> bool:
    return n < 2 or n * size <= LARGE or n_threads() == 1 or not _openblas_threads()


def share_products(n: int, size: int, work: Callable[[int, int], Any], step: int = 1) -> list:
    """What `work(first, last)` returns for runs of `n` pieces of `size` elements each.

    All runs but the last are of a multiple of `step` pieces, for work that cuts blocks of so many:
    they are the same then with any number of threads.
    """
    if _is_alone(n, size):
        return [work(0, n)]
    with one_blas_thread():
        return share_out(n, size, work, step)


def product(a: Array, b: Array, out: Any = None) -> Any:
    """a @ b of matrices; runs of rows or columns, the same for any number of threads, are shared.

    So the BLAS starts no threads of its own: on a busy machine they wait for one another while they
    keep the cores that they wait for.
    """
    depth, n = b.shape
    amount = a.size * n
    if amount < PRODUCT:
        return np.matmul(a, b, out)
    by_rows = len(a) >= n
    length = len(a) if by_rows else n
    count = min(RUNS, amount // RUN, length // WIDE) if depth >= DEEP and _openblas_threads() else 1
    multiply: Any = np.matmul
    if out is None:
        out = empty(len(a) * n, a.dtype).reshape(len(a), n)
        multiply = np.dot  # for columns by rows four times as quick
    if count < 2 and n_threads() == 1:
        return multiply(a, b, out)
    with one_blas_thread():
        if count < 2:
            return multiply(a, b, out)
        ends = [length * i // count for i in range(count + 1)]
        calls: list[Callable[[], Any]] = []
        for i, j in pairwise(ends):
            if by_rows:
                calls.append(partial(np.matmul, a[i:j], b, out[i:j]))
            else:
                calls.append(partial(np.matmul, a, b[:, i:j], out[:, i:j]))
        at_once(calls)
    return out


def products(a: Array, b: Array) -> Any:
    """a @ b of stacks of matrices; threads share stacks of one shape, each the same for all."""
    amount = a.size * b.shape[-1]
    if amount < 2 * RUN or a.shape[:-2] != b.shape[:-2]:
        return np.matmul(a, b)
    shape = (*a.shape[:-1], b.shape[-1])
    out = empty(prod(shape), a.dtype).reshape(shape)

    def work(first: int, last: int) -> None:
        np.matmul(a[first:last], b[first:last], out[first:last])

    share_products(len(a), amount // len(a), work)
    return out


def sum_products(n: int, size: int, work: Callable[[int, int], Any], most: int) -> Any:
    """The sum of the arrays `work(first, last)` for runs of `n` pieces of `size` elements each.

    There are at most `most` runs. They and the order in which they are added are the same with any
    number of threads.
    """
    count = min(n, most)
    ends = [n * i // count for i in range(count + 1)]
    turn = threading.Condition()
    total: Any = None
    added, failed = 0, False

    def add(i: int) -> None:
        nonlocal total, added, failed
        try:
            part = work(ends[i], ends[i + 1])
        except BaseException:
            with turn:
                failed = True
                turn.notify_all()
            raise
        with turn:
            turn.wait_for(lambda: failed or added == i)  # threads begin the runs in order
            if added == i:
                total = part if total is None else np.add(total, part, out=total)
                added += 1
                turn.notify_all()

    calls: list[Callable[[], None]] = [partial(add, i) for i in range(count)]
    if _is_alone(count, -(-n // count) * size):
        for call in calls:
            call()
    else:
        with one_blas_thread():
            at_once(calls)
    return total


def _forget() -> None:
    """In a forked child: the threads that shared out work stayed behind."""
    global _lock, _sharing
    _lock = threading.Lock()
    if _sharing:
        _sharing = 0
        _threads[1](_before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
