"""Elementwise work on large arrays: cache-sized blocks, over threads.

NumPy's ufuncs run on one core and release the interpreter lock; a fresh result of many megabytes
costs more in page faults than in arithmetic. A function of several passes, run block by block,
keeps its temporaries in the cache. Small arrays never come here.
"""

from functools import partial

import numpy as np

from tapegrad.arrays.numpy.memory_pool import empty
from tapegrad.arrays.numpy.replay import Replay, watched
from tapegrad.core.annotations import Any, Array, Callable
from tapegrad.core.threads import at_once, n_threads

LARGE = 1 << 17  # elements: below it blocks and threads cost more than they bring
SHARED = 1 << 21  # elements: below it threads do for one pass over memory
PRODUCT = 1 << 18  # multiply-adds of a product: with fewer the BLAS starts no threads
_TRIED = 1 << 14  # elements of the first try: kernels may do otherwise with a handful
_SLOW = frozenset(
    getattr(np, name)
    for name in (
        "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cos cosh exp exp2 expm1 "
        "float_power fmod hypot log log10 log1p log2 logaddexp logaddexp2 power remainder sin sinh "
        "tan tanh"
    ).split()
)
"""Ufuncs that take many times a pass over memory: threads share what is `LARGE`."""

BLOCK = 1 << 16  # elements: a few float32 blocks fit the second-level cache of one core


def run_blocks(size: int, work: Callable[[int, int], None]) -> None:
    """Call `work(start, stop)` for consecutive blocks that cover `size` elements.

    Large sizes are shared out over threads.
    """

    def run(first: int, last: int) -> None:
        for i in range(first, last, BLOCK):
            work(i, min(i + BLOCK, last))

    n = n_threads() if size > LARGE else 1
    if n == 1:
        run(0, size)
        return
    step = max(size // n // BLOCK, 1) * BLOCK
    at_once([partial(run, i, min(i + step, size)) for i in range(0, size, step)])


def share_out(n: int, size: int, work: Callable[[int, int], Any], step: int = 1) -> list:
    """What `work(first, last)` returns for runs that cover `n` slabs of `size` elements each.

    Large arrays are shared out over threads, a run for each. The work cuts its own blocks: where
    they are of `step` slabs, so are the runs, and the blocks are the same for all runs.
    """
    blocks = -(-n // step)
    shares = min(n_threads(), blocks) if n * size > LARGE else 1
    if shares <= 1:
        return [work(0, n)]
    run = -(-blocks // shares) * step
    return at_once([partial(work, i, min(i + run, n)) for i in range(0, n, run)])


def in_blocks(function: Callable) -> Callable:
    """`function`, elementwise, run block by block where its arguments lend themselves to it."""

    def run(*arrays: Array) -> Any:
        result = blockwise(function, arrays)
        return function(*arrays) if result is None else result

    return run


def blockwise(function: Callable, arrays: tuple) -> Any:
    """`function(*arrays)` for an elementwise function; None if the arrays do not lend themselves.

    The arrays have one shape and are contiguous, or are one number repeated; what is no array is
    handed on as it is.
    """
    shape = None
    flat = []
    for x in arrays:
        if type(x) is not np.ndarray or not x.ndim:
            flat.append(x)
            continue
        if shape is None:
            shape = x.shape
        elif x.shape != shape:
            return None
        if x.flags.c_contiguous:
            flat.append(x.reshape(-1))
        elif not any(x.strides):
            flat.append(x[(0,) * x.ndim])  # a broadcast number
        else:
            return None
    whole = [i for i, x in enumerate(flat) if type(x) is np.ndarray and x.ndim]
    if shape is None or not whole:
        return None
    size = flat[whole[0]].size
    first, steps = watched(function, _part(flat, 0, _TRIED))
    if type(first) is not np.ndarray or first.shape != (min(_TRIED, size),):
        return None
    out = empty(size, first.dtype)
    if steps is None:

        def work(i: int, j: int) -> None:
            out[i:j] = function(*_part(flat, i, j))

    else:
        replay = Replay(steps, len(flat))

        def work(i: int, j: int) -> None:
            replay(_part(flat, i, j), out[i:j])

    least = LARGE if steps is None or len(steps) > 1 or steps[0][0] in _SLOW else SHARED
    if size <= least:
        work(0, size)
    else:
        run_blocks(size, work)
    return out.reshape(shape)


def _part(flat: list, i: int, j: int) -> list:
    return [x[i:j] if type(x) is np.ndarray and x.ndim else x for x in flat]
