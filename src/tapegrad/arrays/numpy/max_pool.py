"""Kernels of max pooling: the largest element of each window with its place, and places again.

A place is the index of an element in its image, row by row.
"""

from functools import lru_cache
from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blocks import BLOCK
from tapegrad.arrays.numpy.interpolate import Lane, Taps, key_of, over_images
from tapegrad.core.annotations import Any, Array, NativeDType

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

    def shaped(self, what: str, dtype: NativeDType, n_after: int) -> np.ndarray:
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


_FEW = 256  # windows: so few are read at once


@kernel
def window_maximum(x: Array, windows: tuple[Window, ...]) -> tuple[Any, Any]:
    """The largest element in each window over the last axes, and its place.

    Of equal elements the first; nan is larger than everything, and the last one counts.
    """
    n = len(windows)
    lead, sizes = x.shape[:-n], x.shape[-n:]
    reduced = tuple([window.n_out for window in windows])
    number = prod(lead)
    size = max(prod(sizes), prod(reduced))
    if not number or not prod(reduced):
        return np.empty((*lead, *reduced), x.dtype), np.empty((*lead, *reduced), np.int64)
    images = x.reshape((number, *sizes))
    if number * prod(reduced) <= _FEW and x.size <= 16 * _FEW:
        found = _maximum_of_few(images.reshape(number, -1), windows, sizes)
        if found is not None:
            values, places = found
            return values.reshape((*lead, *reduced)), places.reshape((*lead, *reduced))
    if number * size <= BLOCK:
        values, places = _maximum(images, windows, sizes)
        return values.reshape((*lead, *reduced)), places.astype(np.int64).reshape((*lead, *reduced))
    values = np.empty((number, *reduced), x.dtype)
    indices = np.empty((number, *reduced), np.int64)

    def work(first: int, last: int) -> None:
        values[first:last], indices[first:last] = _maximum(images[first:last], windows, sizes)

    over_images(number, size, work)
    return values.reshape((*lead, *reduced)), indices.reshape((*lead, *reduced))


def _maximum_of_few(x: Array, windows: tuple[Window, ...], sizes: tuple[int, ...]) -> Any:
    """The maxima of images (N, elements), every window read at once; None if there is a nan."""
    members, starts = _members(windows, sizes)
    found = x.take(members, 1)
    values = np.maximum.reduce(found, 2)
    if x.dtype.kind in "fV" and not (values == values).all():
        return None
    return values, members.take(found.argmax(2) + starts).astype(np.int64, copy=False)


@lru_cache(maxsize=256)
def _members(windows: tuple[Window, ...], sizes: tuple[int, ...]) -> tuple[Any, Any]:
    """The places of each window's elements, (windows, elements), and where each row begins.

    Where a window reaches over the image it has its first element twice, which is no larger.
    """
    members = np.zeros((1, 1), np.intp)
    for window, size in zip(windows, sizes, strict=True):
        place = window.start[:, None] + np.arange(window.n_lanes) * window.dilation
        inside = (place >= 0) & (place < window.end[:, None])
        place = np.where(inside, place, window.begin[:, None])
        members = members[:, None, :, None] * size + place[:, None]
        members = members.reshape(members.shape[0] * len(place), -1)
    return members, np.arange(0, members.size, members.shape[1])


def _maximum(x: Array, windows: tuple[Window, ...], sizes: tuple[int, ...]) -> tuple[Any, Any]:
    if len(sizes) > 1 and all(window.is_everything for window in windows):
        row = prod(sizes)  # the whole image as one row
        values, places = _maximum(x.reshape((len(x), row)), (adaptive(row, 1),), (row,))
        one = (len(x), *(1,) * len(sizes))
        return values.reshape(one), places.reshape(one)
    values, places = _through_axes(x, windows, sizes, False)
    if x.dtype.kind in "fV" and np.isnan(values).any():
        return _through_axes(x, windows, sizes, True)
    return values, places


def _through_axes(
    x: Array, windows: tuple[Window, ...], sizes: tuple[int, ...], with_nan: bool
) -> tuple[Any, Any]:
    """One axis after the other, the last one first: of equal elements that keeps the first."""
    size = prod(sizes)
    kind = np.int16 if size < 2**15 else np.int32 if size < 2**31 else np.int64
    values, places = x, None
    for i in range(len(windows) - 1, -1, -1):
        n_after = len(sizes) - i - 1
        step = prod(sizes[i + 1 :])
        if places is not None:
            places = places + row_starts(sizes[i], step, kind, n_after)
        values, places = _along(values, places, 1 + i, windows[i], kind, with_nan)
    return values, places


def _along(
    values: Array, places: Any, axis: int, window: Window, kind: Any, with_nan: bool
) -> tuple[Any, Any]:
    """One axis reduced to its windows; without `places` those of the axis itself are meant."""
    before = (slice(None),) * axis
    if window.runs is not None:
        return _along_runs(values, places, axis, window, kind, with_nan)
    n_after = values.ndim - axis - 1
    best = _part(values, before, window.first)
    if places is None:
        # the number of the lane that won, a later one being larger, is a byte: quick to keep
        won = np.zeros(best.shape, np.uint8 if window.n_lanes < 256 else kind)
        if window.start[0] < 0:
            won += window.shaped("first_lane", won.dtype, n_after)
    else:
        won = _part(places, before, window.first)
    for lane in window.lanes:
        if lane.number == 0:
            continue  # there a window begins: that is `best` so far
        found = _part(values, before, lane.source, copy=False)
        to = (*before, lane.to)
        old, old_won = best[to], won[to]
        better = np.greater(found, old)
        if with_nan:
            better |= np.isnan(found)
        best[to] = np.maximum(found, old)
        if places is None:
            won[to] = np.maximum(old_won, better * won.dtype.type(lane.number))
        else:  # arithmetic is several times faster than a choice
            won[to] = old_won + (_part(places, before, lane.source, copy=False) - old_won) * better
    if places is not None:
        return best, won
    return best, won * kind(window.dilation) + window.shaped("start", kind, n_after)


def _along_runs(
    values: Array, places: Any, axis: int, window: Window, kind: Any, with_nan: bool
) -> tuple[Any, Any]:
    """One axis reduced to few long windows, one after the other."""
    before = (slice(None),) * axis
    best, won = [], []
    for run in window.runs or ():
        part = values[(*before, run)]
        number = np.argmax(part, axis, keepdims=True)
        if with_nan:
            nans = np.isnan(part)
            last = part.shape[axis] - 1 - np.argmax(np.flip(nans, axis), axis, keepdims=True)
            number = np.where(nans.any(axis, keepdims=True), last, number)
        best.append(np.take_along_axis(part, number, axis))
        if places is None:
            won.append(run.start + run.step * number.astype(kind))
        else:
            known = np.broadcast_to(places[(*before, run)], part.shape)
            won.append(np.take_along_axis(known, number, axis))
    return np.concatenate(best, axis), np.concatenate(won, axis)


def _part(x: Array, before: tuple, key: Array, copy: bool = True) -> Any:
    """The elements of an axis at a slice or an index array."""
    if type(key) is slice:
        part = x[(*before, key)]
        return part.copy() if copy else part
    return np.take(x, key, len(before))


@kernel
def shifted_maximum(
    x: Array, samples: Array, kernel: tuple[int, ...], sizes: tuple[int, ...]
) -> tuple[Any, Any]:
    """The largest element in windows of `kernel` elements placed at random, and its place.

    x (N, C, *space), or (C, *space) and then N is 1; samples (N, C, axes): uniform numbers, in two
    dimensions the last axis first.
    """
    n = len(sizes)
    space = x.shape[-n:]
    lead = x.shape[:-n]
    values, places = x, None
    for i in range(n - 1, -1, -1):
        own = (np.arange(space[i], dtype=np.int64) * prod(space[i + 1 :])).reshape(
            (-1,) + (1,) * (n - i - 1)
        )
        places = np.broadcast_to(own if places is None else places + own, values.shape)
        sample = samples[..., n - 1 - i if n == 2 else i]
        start = random_starts(sample, space[i], kernel[i], sizes[i])
        start = start.reshape((*lead, *(1,) * i, sizes[i], *(1,) * (n - i - 1)))
        values, places = _shifted(values, places, len(lead) + i, start, kernel[i])
    return values, places


def _shifted(values: Array, places: Any, axis: int, start: Array, size: int) -> tuple[Any, Any]:
    best = np.take_along_axis(values, start, axis)
    best_places = np.take_along_axis(places, start, axis)
    for k in range(1, size):
        found = np.take_along_axis(values, start + k, axis)
        better = np.greater(found, best) | np.isnan(found)
        best = np.where(better, found, best)
        best_places = np.where(better, np.take_along_axis(places, start + k, axis), best_places)
    return best, best_places


def random_starts(sample: Any, size: int, kernel: int, n: int) -> Any:
    """Starts of `n` windows, at distances that are rounded differently for each sample."""
    last = np.full((*sample.shape, min(n, 1)), size - kernel)
    if n < 2:
        return last
    alpha = sample.dtype.type(size - kernel) / sample.dtype.type(n - 1)
    steps = np.arange(n - 1, dtype=sample.dtype) + sample[..., None]
    starts = (steps * alpha).astype(np.int64) - (sample * alpha).astype(np.int64)[..., None]
    return np.concatenate([starts, last], -1)


# --- places ----------------------------------------------------------------------------------


@kernel
def take_places(x: Array, index: Array, n_axes: int) -> Any:
    """The elements of each image, the last `n_axes`, at the places `index`."""
    n = x.ndim - n_axes
    if not index.size:
        return np.empty(index.shape, x.dtype)
    flat = x.reshape((*x.shape[:n], -1))
    where = index.reshape((*index.shape[:n], -1))
    return np.take_along_axis(flat, where, n).reshape(index.shape)


@kernel
def put_places(x: Array, index: Array, sizes: tuple[int, ...], add: bool) -> Any:
    """Images of `sizes`, zeros but for the elements of `x` at the places `index`.

    Of several elements for one place the last one counts, or their sum if `add`.
    """
    n = x.ndim - len(sizes)
    out = np.zeros((*x.shape[:n], *sizes), x.dtype)
    if not x.size or not out.size:
        return out
    images = out.reshape((-1, prod(sizes)))
    values = x.reshape((len(images), -1))
    where = index.reshape(values.shape)

    def work(first: int, last: int) -> None:
        target = images[first:last]
        offsets = np.arange(0, target.size, target.shape[1])[:, None]
        flat = (where[first:last] + offsets).reshape(-1)
        if add:
            np.add.at(target.reshape(-1), flat, values[first:last].reshape(-1))
        else:
            target.reshape(-1)[flat] = values[first:last].reshape(-1)

    over_images(len(images), images.shape[1], work)
    return out
