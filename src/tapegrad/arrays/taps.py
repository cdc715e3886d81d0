"""Taps: which elements of an axis each element of a result looks at, and with what weight.

A pooling window, an interpolation's stencil and their transposes are such lists. They are kept in
lanes, in which every element of the result occurs once at most: a kernel then needs one step of
whole arrays for each lane, however many pixels there are. A lane that is regular holds slices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Key = Any  # a slice, or an array of indices


class Lane:
    """Elements `source` of an axis go to elements `to` of the result, times `weight`."""

    __slots__ = ("_cast", "number", "source", "to", "weight")

    def __init__(self, number: int, to: np.ndarray, source: np.ndarray, weight: Any):
        self.number = number
        self.to = key_of(to)
        self.source = key_of(source)
        self.weight = weight
        self._cast: dict[Any, np.ndarray] = {}

    def weights(self, dtype: Any, n_after: int) -> np.ndarray | None:
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
    return index


class Taps:
    """A list of (element of the result, element of the axis, weight), for one axis.

    `lane` numbers groups in which each element of the result occurs once; without it they are
    found. `weight` None means 1 everywhere.
    """

    __slots__ = ("_fixed", "_lanes", "_reverse", "entries", "n_in", "n_out")

    def __init__(
        self,
        n_in: int,
        n_out: int,
        to: np.ndarray,
        source: np.ndarray,
        weight: np.ndarray | None = None,
        lane: np.ndarray | None = None,
    ):
        self.n_in = n_in
        self.n_out = n_out
        self.entries = (to, source, weight, lane)
        self._lanes: list[Lane] | None = None
        self._reverse: Taps | None = None
        self._fixed: tuple[Taps, int] | None = None

    @property
    def lanes(self) -> list[Lane]:
        if self._lanes is None:
            to, source, weight, lane = self.entries
            self._lanes = _in_lanes(to, source, weight, lane)
        return self._lanes

    @property
    def reverse(self) -> Taps:
        """The transposed map, from results to elements."""
        if self._reverse is None:
            to, source, weight, lane = self.entries
            self._reverse = Taps(self.n_out, self.n_in, source, to, weight, lane)
            self._reverse._reverse = self
        return self._reverse

    @property
    def fixed(self) -> tuple[Taps, int]:
        """Taps with whole numbers for weights, times 2 to the power that is given beside them.

        They fit into 16 bits; an element that is looked at twice is looked at once.
        """
        if self._fixed is None:
            to, source, weight, _ = self.entries
            assert weight is not None
            pairs, where = np.unique(to * self.n_in + source, return_inverse=True)
            merged = np.bincount(where, weight)
            bits = 0
            while bits < 21 and int(0.5 + merged.max() * 2 ** (bits + 1)) < 1 << 15:
                bits += 1
            whole = np.trunc(merged * (1 << bits) + np.copysign(0.5, merged)).astype(np.int32)
            taps = Taps(self.n_in, self.n_out, pairs // self.n_in, pairs % self.n_in, whole)
            self._fixed = taps, bits
        return self._fixed

    @property
    def is_identity(self) -> bool:
        """Whether every element is handed on as it is."""
        to, source, weight, _ = self.entries
        return weight is None and self.n_in == self.n_out and np.array_equal(to, source)


def _in_lanes(
    to: np.ndarray, source: np.ndarray, weight: np.ndarray | None, lane: np.ndarray | None
) -> list[Lane]:
    if not len(to):
        return []
    if lane is None or _repeats(to, lane):
        order = np.argsort(to, kind="stable")
        ordered = to[order]
        lane = np.empty(len(to), np.intp)
        lane[order] = np.arange(len(to)) - np.searchsorted(ordered, ordered)
    order = np.lexsort((to, lane))
    ends = np.flatnonzero(np.diff(lane[order])) + 1
    return [
        Lane(int(lane[part[0]]), to[part], source[part], None if weight is None else weight[part])
        for part in np.split(order, ends)
    ]


def _repeats(to: np.ndarray, lane: np.ndarray) -> bool:
    """Whether an element of the result occurs twice in a lane."""
    pairs = to.astype(np.int64) * (int(lane.max()) + 1) + lane
    return len(np.unique(pairs)) < len(pairs)


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
