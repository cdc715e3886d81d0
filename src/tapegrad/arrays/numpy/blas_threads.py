"""Work made of matrix products, shared out over threads, with the BLAS on one thread in each.

Products release the interpreter lock, so threads that each work on images of their own keep all
cores busy, also with what stands around the products. The BLAS must not start threads of its own
then. OpenBLAS, which NumPy's wheels carry, can be told so; with another BLAS the work stays in the
calling thread, and the BLAS shares out its products as it does anyway.
"""

import threading
from collections.abc import Callable
from typing import Any

from tapegrad.arrays.numpy.blocks import LARGE, share_out
from tapegrad.core.threads import n_threads

_lock = threading.Lock()
_threads: Any = None  # the BLAS's functions that read and set its number of threads; () if none
_sharing = 0  # how many calls share out work now
_before = 1  # the BLAS's threads before the first of them


def _openblas_threads() -> tuple:
    """What reads and sets the number of threads of NumPy's OpenBLAS; () for another BLAS."""
    global _threads
    if _threads is None:
        import ctypes
        from importlib import import_module

        path = import_module("numpy._core._multiarray_umath").__file__
        library = ctypes.CDLL(path)  # knows the symbols it is linked to
        _threads = ()
        for form in ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads"):
            if hasattr(library, form.format("set")):
                _threads = tuple(getattr(library, form.format(which)) for which in ("get", "set"))
    return _threads


def share_products(n: int, size: int, work: Callable[[int, int], Any]) -> list:
    """What `work(first, last)` returns for runs of `n` pieces of `size` elements each."""
    global _sharing, _before
    alone = n < 2 or n * size <= LARGE or n_threads() == 1
    functions = () if alone else _openblas_threads()
    if not functions:
        return [work(0, n)]
    read, write = functions
    with _lock:
        if not _sharing:
            _before = read()
            write(1)
        _sharing += 1
    try:
        return share_out(n, size, work)
    finally:
        with _lock:
            _sharing -= 1
            if not _sharing:
                write(_before)
