"""Windows of pooling along one axis, regular or sharing out the axis."""

from functools import lru_cache
from typing import Any

import numpy as np

from tapegrad.arrays.numpy.interpolate_taps import Lane, Taps, key_of

FEW = 4  # so many times fewer windows than elements in one: window by window is quicker


class Window:
    """Windows along an axis: window i holds `start[i]`, `start[i] + dilation`, ... below `end[i]`.

    Lane k holds the k-th element of each window, run i the elements of window i, where they lie
    inside the axis. Kernels go through the lanes; where they are many, through the runs.
    """

    __slots__ = (
        "_lanes",
        "_shaped",
        "_taps",
        "dilation",
        "end",
        "first",  # where the first elements inside are, a slice or an array
        "first_lane",  # in which lanes they are
        "n_in",
        "n_lanes",
        "n_out",
        "start",
    )

    def __init__(self, size: int, start: np.ndarray, end: np.ndarray, dilation: int = 1):
        self.n_in = size
        self.n_out = len(start)
        self.n_lanes = -(-int((end - start).max(initial=0)) // dilation)
        self.start = start
        self.end = np.minimum(end, size)
        self.dilation = dilation
        self.first_lane = np.maximum(-(start // dilation), 0)
        self.first: Any = key_of(self.begin) if self.n_out else slice(0)
        self._shaped: dict[Any, np.ndarray] = {}
        self._lanes: list[Lane] | None = None
        self._taps: Taps | None = None

    @property
    def begin(self) -> np.ndarray:
        """The first element inside of each window."""
        return self.start + self.first_lane * self.dilation

    @property
    def counts(self) -> np.ndarray:
        """How many elements inside each window has."""
        return np.maximum(-((self.begin - self.end) // self.dilation), 0)

    @property
    def is_everything(self) -> bool:
        """Whether there is one window, of all elements."""
        return self.n_out == 1 and self.n_in > 0 and bool(self.counts[0] == self.n_in)

    @property
    def runs(self) -> list[slice] | None:
        """For each window its elements; None if the windows are not few."""
        if self.n_out * FEW >= self.n_lanes:
            return None
        ends = zip(self.begin.tolist(), self.end.tolist(), strict=True)
        return [slice(i, j, self.dilation) for i, j in ends]

    @property
    def lanes(self) -> list[Lane]:
        if self._lanes is None:
            self._lanes = []
            for k in range(self.n_lanes):
                source = self.start + k * self.dilation
                to = np.flatnonzero((source >= 0) & (source < self.end))
                if len(to):
                    self._lanes.append(Lane(k, to, source[to], None))
        return self._lanes

    @property
    def taps(self) -> Taps:
        """The sums over the windows."""
        if self._taps is None:
            runs = self.runs
            lanes = [] if runs else self.lanes
            self._taps = Taps(self.n_in, self.n_out, lanes=lanes, runs=runs)
        return self._taps

    def shaped(self, what: str, dtype: Any, n_after: int) -> np.ndarray:
        """`start` or `first_lane` as an array of `dtype` with `n_after` axes of size 1 behind."""
        found = self._shaped.get((what, dtype, n_after))
        if found is None:
            found = getattr(self, what).astype(dtype).reshape((-1,) + (1,) * n_after)
            self._shaped[what, dtype, n_after] = found
        return found


@lru_cache(maxsize=256)
def regular(size: int, n: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> Window:
    """`n` windows of `kernel` elements, one every `stride`."""
    start = np.arange(n) * stride - padding
    return Window(size, start, start + (kernel - 1) * dilation + 1, dilation)


@lru_cache(maxsize=256)
def adaptive(size: int, n: int) -> Window:
    """`n` windows that share out an axis: from floor(i size / n) up to ceil((i + 1) size / n)."""
    i = np.arange(n)
    return Window(size, i * size // max(n, 1), -(-(i + 1) * size // max(n, 1)))


@lru_cache(maxsize=256)
def row_starts(size: int, step: int, dtype: Any, n_after: int) -> np.ndarray:
    """The numbers of the first elements of `size` rows of `step` elements each."""
    return (np.arange(size, dtype=dtype) * dtype(step)).reshape((-1,) + (1,) * n_after)
