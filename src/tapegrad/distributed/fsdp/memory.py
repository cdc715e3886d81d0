"""Memory that is given back to the system while what points to it stays."""

import mmap
from math import prod

import numpy as np

from tapegrad.core.annotations import Any, Sequence

_ALIGNED = 64


class Memory:
    """Arrays in one region of memory, which `release` empties and nothing moves.

    What a graph has saved of the arrays is right again once they are filled again. Where the
    system cannot take pages back (Windows), the region stays as it is.
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any]) -> None:
        sizes = [prod(s) * d.itemsize for s, d in zip(shapes, dtypes, strict=True)]
        starts = np.cumsum([0, *[-(-n // _ALIGNED) * _ALIGNED for n in sizes]]).tolist()
        self._pages = _pages(max(starts[-1], 1))
        whole = np.frombuffer(self._pages, np.uint8)
        self.arrays = [
            whole[start : start + n].view(dtype).reshape(shape)
            for start, n, shape, dtype in zip(starts, sizes, shapes, dtypes, strict=False)
        ]

    def release(self) -> None:
        """Give the memory back; the arrays have no values until they are written."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._pages.madvise(mmap.MADV_DONTNEED)


def _pages(n: int) -> mmap.mmap:
    """Private memory: that of a shared mapping would stay."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, n, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, n)
