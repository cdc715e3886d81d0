"""Kernel of separable linear maps: averages over windows, interpolation, and their transposes."""

from __future__ import annotations

from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blocks import BLOCK, run_blocks
from tapegrad.core.annotations import Any, Array, NativeDType

Key = Any  # a slice, or an array of indices


class Lane:
    """Elements `source` of an axis go to elements `to` of the result, times `weight`.

    No element of the result occurs twice. Without a weight it is 1.
    """

    __slots__ = ("_cast", "number", "source", "to", "weight")

    def __init__(self, number: int, to: Key, source: Key, weight: Array):
        self.number = number
        self.to = to if type(to) is slice else key_of(to)
        self.source = source if type(source) is slice else key_of(source)
        self.weight = weight
        self._cast: dict[Any, np.ndarray] = {}

    @property
    def tos(self) -> np.ndarray:
        return indices_of(self.to)

    @property
    def sources(self) -> np.ndarray:
        return indices_of(self.source)

    def weights(self, dtype: NativeDType, n_after: int) -> np.ndarray | None:
        """The weights as an array of `dtype` with `n_after` axes of size 1 behind."""
        if self.weight is None:
            return None
        found = self._cast.get((dtype, n_after))
        if found is None:
            found = self.weight.astype(dtype).reshape((-1,) + (1,) * n_after)
            self._cast[dtype, n_after] = found
        return found


def key_of(index: np.ndarray) -> Key:
    """An index array as a slice where it is an arithmetic progression upwards."""
    first = int(index[0])
    if len(index) == 1:
        return slice(first, first + 1)
    step = int(index[1]) - first
    if step > 0 and (np.diff(index) == step).all():
        return slice(first, int(index[-1]) + 1, step)
    return index.astype(np.intp, copy=False)


def indices_of(key: Key) -> np.ndarray:
    """The indices a key stands for, as an array."""
    return np.arange(key.start, key.stop, key.step) if type(key) is slice else key


class Taps:
    """What along one axis each element of a result is made of: a list of lanes.

    `runs`, if there are any, stand for the lanes where those would be many: the elements of an
    axis that are summed for each element of the result, or that each is given to if `spread`.
    """

    __slots__ = ("_fixed", "_reverse", "_writes_once", "lanes", "n_in", "n_out", "runs", "spread")

    def __init__(
        self,
        n_in: int,
        n_out: int,
        lanes: list[Lane],
        runs: list[slice] | None = None,
        spread: bool = False,
    ):
        self.n_in = n_in
        self.n_out = n_out
        self.lanes = lanes
        self.runs = runs
        self.spread = spread
        self._writes_once: bool | None = None
        self._reverse: Taps | None = None
        self._fixed: tuple[Taps, int] | None = None

    @property
    def weighted(self) -> bool:
        return any(lane.weight is not None for lane in self.lanes)

    @property
    def is_identity(self) -> bool:
        """Whether every element is handed on as it is."""
        if len(self.lanes) != 1 or self.n_in != self.n_out or self.weighted:
            return False
        places = np.arange(self.n_in)
        lane = self.lanes[0]
        return np.array_equal(lane.tos, places) and np.array_equal(lane.sources, places)

    @property
    def writes_once(self) -> bool:
        """Whether each element of the result is made of one: it is written then, not added to."""
        if self._writes_once is None:
            reached = np.zeros(self.n_out, np.int64)
            for lane in self.lanes:
                reached[lane.to] += 1
            self._writes_once = bool((reached == 1).all())
        return self._writes_once

    @property
    def reverse(self) -> Taps:
        """The transposed map, from results to elements."""
        if self._reverse is None:
            lanes = [Lane(each.number, each.source, each.to, each.weight) for each in self.lanes]
            if not all(type(each.to) is slice for each in lanes):
                lanes = fewest_lanes(*_joined(lanes)) if lanes else lanes
            self._reverse = Taps(self.n_out, self.n_in, lanes, self.runs, not self.spread)
            self._reverse._reverse = self
        return self._reverse

    @property
    def fixed(self) -> tuple[Taps, int]:
        """Taps with whole numbers for weights, times 2 to the power that is given beside them.

        They fit into 16 bits; an element that is looked at twice is looked at once.
        """
        if self._fixed is None:
            to, source, weight = _joined(self.lanes)
            pairs, where = np.unique(to * self.n_in + source, return_inverse=True)
            merged = np.bincount(where, weight)
            bits = 0
            while bits < 21 and int(0.5 + merged.max() * 2 ** (bits + 1)) < 1 << 15:
                bits += 1
            whole = np.trunc(merged * (1 << bits) + np.copysign(0.5, merged)).astype(np.int32)
            lanes = fewest_lanes(pairs // self.n_in, pairs % self.n_in, whole)
            self._fixed = Taps(self.n_in, self.n_out, lanes), bits
        return self._fixed


def _joined(lanes: list[Lane]) -> tuple[np.ndarray, np.ndarray, Any]:
    """All entries of lanes: elements of the result, of the axis, weights or None."""
    weight = None
    if lanes[0].weight is not None:
        weight = np.concatenate([each.weight for each in lanes])
    to = np.concatenate([each.tos for each in lanes])
    return to, np.concatenate([each.sources for each in lanes]), weight


def fewest_lanes(to: np.ndarray, source: np.ndarray, weight: Array) -> list[Lane]:
    """As few lanes as there may be for a list of entries, in their order."""
    order = np.argsort(to, kind="stable")
    ordered = to[order]
    rank = np.arange(len(to)) - np.searchsorted(ordered, ordered)
    found = []
    for k in range(int(rank.max(initial=-1)) + 1):
        part = order[rank == k]
        found.append(Lane(k, to[part], source[part], None if weight is None else weight[part]))
    return found


class Separable:
    """A linear map of the last axes of an array, taps for each of them, and a divisor after it.

    `reverse` is the transposed map. `divisor` is a number or an array over those axes, by which
    the result is divided, or in reverse the argument.
    """

    __slots__ = ("_reverse", "axes", "divide_first", "divisor", "order")

    def __init__(self, axes: tuple[Taps, ...], divisor: Any = None, divide_first: bool = False):
        self.axes = axes
        self.divisor = divisor
        self.divide_first = divide_first
        self._reverse: Separable | None = None
        # smaller results first; along the last axis, where elements are far apart in memory,
        # after the others when it shrinks and before them when it grows
        growth = [taps.n_out / max(taps.n_in, 1) for taps in axes]
        where = range(len(axes))
        self.order = sorted(where, key=lambda i: (growth[i], i if growth[i] < 1 else -i))

    @property
    def reverse(self) -> Separable:
        if self._reverse is None:
            axes = tuple([taps.reverse for taps in self.axes])
            self._reverse = Separable(axes, self.divisor, not self.divide_first)
            self._reverse._reverse = self
        return self._reverse

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the result."""
        return tuple([taps.n_out for taps in self.axes])


@kernel
def resample(x: Array, through: Separable) -> Any:
    """The last axes of `x` through a separable map, block by block of the axes before them."""
    n = len(through.axes)
    lead, sizes = x.shape[:-n], x.shape[-n:]
    whole = x.dtype == np.uint8 and any(taps.weighted for taps in through.axes)
    out = np.empty((*lead, *through.sizes), x.dtype)
    if not out.size:
        return out
    number = prod(lead)
    images = x.reshape((number, *sizes))
    results = out.reshape((number, *through.sizes))

    def work(first: int, last: int) -> None:
        results[first:last] = (_mapped_bytes if whole else _mapped)(images[first:last], through)

    over_images(number, max(images[0].size, results[0].size), work)
    return out


def over_images(n: int, size: int, work: Any) -> None:
    """Call `work(first, last)` for groups of images of `size` elements that cover all `n`."""
    if n * size <= BLOCK:
        work(0, n)
        return

    def block(start: int, stop: int) -> None:  # the images that begin in these elements
        first, last = -(-start // size), -(-stop // size)
        if first < last:
            work(first, last)

    run_blocks(n * size, block)


def _mapped(x: Array, through: Separable) -> Any:
    if through.divide_first and through.divisor is not None:
        x = _divided(x, through.divisor)
    for i in through.order:
        if not through.axes[i].is_identity:
            x = along(x, 1 + i, through.axes[i])
    if not through.divide_first and through.divisor is not None:
        x = _divided(x, through.divisor)
    return x


def _mapped_bytes(x: Array, through: Separable) -> Any:
    """Bytes through a map with weights: the last axis first, rounded to bytes after each."""
    for i in range(len(through.axes) - 1, -1, -1):
        taps = through.axes[i]
        if not taps.is_identity:
            fixed, bits = taps.fixed
            total = along(x.astype(np.int32), 1 + i, fixed)
            x = np.clip((total + ((1 << bits) >> 1)) >> bits, 0, 255).astype(np.uint8)
    return x


def _divided(x: Array, divisor: Any) -> Any:
    """Integers are divided towards zero."""
    if x.dtype.kind in "iu":
        return np.trunc(x / divisor).astype(x.dtype)
    if isinstance(divisor, np.ndarray):
        return x / divisor.astype(x.dtype)
    return x / x.dtype.type(divisor)


def along(x: Array, axis: int, taps: Taps) -> Any:
    """One axis through its taps: a step over the whole array for each lane."""
    before = (slice(None),) * axis
    if taps.runs is not None:
        return _along_runs(x, axis, before, taps)
    n_after = x.ndim - axis - 1
    shape = (*x.shape[:axis], taps.n_out, *x.shape[axis + 1 :])
    out: Any = None
    for lane in taps.lanes:
        source = lane.source
        part = x[(*before, source)] if type(source) is slice else np.take(x, source, axis)
        weights = lane.weights(x.dtype, n_after)
        if weights is not None:
            part = part * weights
        if out is None:
            if part.shape == shape:  # the first lane reaches everything
                fresh = weights is not None or type(source) is not slice
                out = part if fresh else part.copy()
                continue
            out = np.empty(shape, x.dtype) if taps.writes_once else np.zeros(shape, x.dtype)
        if taps.writes_once:
            out[(*before, lane.to)] = part
        else:
            out[(*before, lane.to)] += part
    return np.zeros(shape, x.dtype) if out is None else out


def _along_runs(x: Array, axis: int, before: tuple, taps: Taps) -> Any:
    """One axis through taps that are few long runs: a step for each run."""
    shape = (*x.shape[:axis], taps.n_out, *x.shape[axis + 1 :])
    out = np.zeros(shape, x.dtype)
    for i, run in enumerate(taps.runs or ()):
        if taps.spread:
            out[(*before, run)] += x[(*before, slice(i, i + 1))]
        else:
            out[(*before, i)] = np.add.reduce(x[(*before, run)], axis)
    return out
