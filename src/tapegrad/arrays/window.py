"""Windows of pooling along one axis, regular or sharing out the axis."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tapegrad.arrays.taps import Lane, Taps, key_of


class Window:
    """Windows along an axis: window i holds `start[i]`, `start[i] + dilation`, ... up to `end[i]`.

    Lane k holds the k-th element of each window, where that lies inside the axis.
    """

    __slots__ = (
        "_shaped",
        "dilation",
        "first",
        "first_lane",
        "is_full",  # whether every window has an element
        "n_lanes",
        "start",
        "starts_inside",  # whether no window begins before the axis
        "taps",
    )

    def __init__(self, size: int, start: np.ndarray, end: np.ndarray, dilation: int = 1):
        n = len(start)
        longest = int((end - start).max(initial=0))
        self.n_lanes = -(-longest // dilation)
        to, lane = np.meshgrid(np.arange(n), np.arange(self.n_lanes), indexing="ij")
        source = start[to] + lane * dilation
        inside = (source >= 0) & (source < np.minimum(end, size)[to])
        self.taps = Taps(size, n, to[inside], source[inside], None, lane[inside])
        self.start = start
        self.dilation = dilation
        self._shaped: dict[Any, np.ndarray] = {}
        self.first_lane = np.maximum(-(start // dilation), 0)
        self.starts_inside = not self.first_lane.any()
        self.is_full = len(np.unique(to[inside])) == n
        self.first: Any = key_of(start + self.first_lane * dilation) if n else slice(0)

    @property
    def lanes(self) -> list[Lane]:
        return self.taps.lanes

    def shaped(self, what: str, dtype: Any, n_after: int) -> np.ndarray:
        """`start` or `first_lane` as an array of `dtype` with `n_after` axes of size 1 behind."""
        found = self._shaped.get((what, dtype, n_after))
        if found is None:
            found = getattr(self, what).astype(dtype).reshape((-1,) + (1,) * n_after)
            self._shaped[what, dtype, n_after] = found
        return found

    @property
    def n_out(self) -> int:
        return self.taps.n_out


@lru_cache(maxsize=256)
def regular(size: int, n: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> Window:
    """`n` windows of `kernel` elements, one every `stride`."""
    start = np.arange(n) * stride - padding
    return Window(size, start, start + (kernel - 1) * dilation + 1, dilation)


@lru_cache(maxsize=256)
def row_starts(size: int, step: int, dtype: Any, n_after: int) -> np.ndarray:
    """The numbers of the first elements of `size` rows of `step` elements each."""
    return (np.arange(size, dtype=dtype) * dtype(step)).reshape((-1,) + (1,) * n_after)


@lru_cache(maxsize=256)
def adaptive(size: int, n: int) -> Window:
    """`n` windows that share out an axis: from floor(i size / n) up to ceil((i + 1) size / n)."""
    i = np.arange(n)
    return Window(size, i * size // max(n, 1), -(-(i + 1) * size // max(n, 1)))
