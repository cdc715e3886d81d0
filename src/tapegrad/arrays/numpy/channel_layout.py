"""How the kernels of batch and group normalisation see an input of shape (N, C, ...): as a matrix.

Where a channel of one sample is a long run of memory, it is a row, and each row has a number of its
own of what belongs to channels. Where it is short, as behind a linear layer, a sample is a row, and
such numbers belong to columns. Both sum by products with ones, in double precision between blocks.
"""

from math import prod
from threading import local

import numpy as np

from tapegrad.arrays.numpy.blas_threads import share_products
from tapegrad.arrays.numpy.layer_norm import BLOCK, cast, fresh, widened
from tapegrad.arrays.numpy.row_blocks import in_row_blocks
from tapegrad.core.annotations import Any, Array

_SHORT = 16  # elements: rows below it are summed by NumPy, not one by one by the BLAS
_COLUMNS = 32  # elements: channels below it are columns
_SUMMED = 1 << 15  # elements that are summed by one product with ones
_DEEP = 512  # rows of them at most: sums in single precision lose digits


class _SharedSums(local):
    """A block in which sums are made once: those that several rules of a node ask for."""

    kept: Any = None

    def __enter__(self) -> None:
        self.kept = {}

    def __exit__(self, *error: object) -> None:
        self.kept = None


SHARED_SUMS = _SharedSums()


class Rows:
    """A channel of one sample is a row; `groups` of them have a mean, or a channel of all samples.

    Attributes:
        matrix: the input, numbers of 16 bits as float32
        count: how many numbers have a mean in common
    """

    def __init__(self, x: Array, groups: int | None):
        self.shape, self.groups = x.shape[:2], groups
        n, c = self.shape
        self.matrix = widened(x).reshape(self._cut(x.shape))
        self.count = x.size // max(c if groups is None else n * groups, 1)

    def _cut(self, shape: tuple[int, ...]) -> tuple[int, int]:
        return prod(shape[:2]), prod(shape[2:])

    def like(self, g: Array) -> Any:
        """Another array of the input's shape, as the same matrix."""
        return cast(widened(g), self.matrix.dtype).reshape(self.matrix.shape)

    def collected(self, sums: Any) -> Any:
        """Sums of rows or columns added up: to (C,), or to (N, groups)."""
        if self.groups is None:
            return self.by_channel(sums)
        n, c = self.shape
        return sums.reshape(n, self.groups, c // self.groups).sum(2)

    def by_channel(self, sums: Any) -> Any:
        """Sums of rows or columns added up to (C,)."""
        return sums.reshape(self.shape).sum(0)

    def dealt(self, values: Array) -> Any:
        """The other way: what belongs to a channel or group, for each row or column."""
        if self.groups is None:
            return self.of_channels(values)
        n, c = self.shape
        return np.repeat(values.reshape(n * self.groups), c // self.groups)

    def of_channels(self, values: Array) -> Any:
        """A number for each channel, for each row or column; 1 if None."""
        return 1.0 if values is None else np.broadcast_to(values, self.shape).reshape(-1)

    def along(self, values: Any) -> Any:
        """Numbers for each row or column as a matrix, in which they are repeated."""
        return np.broadcast_to(cast(values, self.matrix.dtype)[:, None], self.matrix.shape)

    def sums(self, x: Array) -> Any:
        """Of each row the sum, in double precision."""
        rows, length = x.shape
        if length < _SHORT:
            return np.add.reduce(x, 1, np.float64)
        sums = np.empty(rows)
        ones = np.ones(length, x.dtype)
        step = max(1, BLOCK // length)

        def work(begin: int, end: int) -> None:
            for i in range(begin, end, step):
                j = min(i + step, end)
                sums[i:j] = x[i:j] @ ones

        share_products(rows, length, work, step)
        return sums

    def both_sums(self, x: Array, other: Array, shift: Any = None) -> tuple:
        """Of each row the sums of `x` and of `x * other`, in double precision.

        `shift`, of `along`, is taken from `other` first; from both where they are one.
        """
        rows, length = x.shape
        first, second = np.empty(rows), np.empty(rows)
        ones = np.ones(length, x.dtype)
        step = max(1, BLOCK // max(length, 1))

        def work(begin: int, end: int) -> None:
            for i in range(begin, end, step):
                j = min(i + step, end)
                a, b = _parts(x, other, shift, i, j)
                if length < _SHORT:
                    first[i:j] = np.add.reduce(a, 1)
                    second[i:j] = np.add.reduce(a * b, 1)
                else:
                    first[i:j] = a @ ones
                    second[i:j] = np.vecdot(a, b)

        share_products(rows, length, work, step)
        return first, second

    def affine(self, a: Any, b: Any, shift: Any = None, g: Array = None, ga: Any = None) -> Any:
        """(x - shift) * a + b, plus g * ga where given; all but `g` for each row or column."""
        x = self.matrix
        rows, length = x.shape
        out = fresh(x.shape, x.dtype)
        a, b = self.along(a), self.along(b)
        ga = None if ga is None else self.along(ga)
        step = max(1, BLOCK // max(length, 1))

        def work(begin: int, end: int) -> None:
            scratch = np.empty((min(step, end - begin) if g is not None else 0, length), x.dtype)
            for i in range(begin, end, step):
                j = min(i + step, end)
                part, y = x[i:j], out[i:j]
                if shift is not None:
                    part = np.subtract(part, shift[i:j], y)
                np.multiply(part, a[i:j], y)
                if g is not None:
                    y += np.multiply(g[i:j], ga[i:j], scratch[: j - i])
                y += b[i:j]

        share_products(rows, length, work, step)
        return out


class Columns(Rows):
    """A sample is a row, a channel one column or a few."""

    def _cut(self, shape: tuple[int, ...]) -> tuple[int, int]:
        return shape[0], prod(shape[1:])

    def by_channel(self, sums: Any) -> Any:
        return sums.reshape(self.shape[1], -1).sum(1)

    def of_channels(self, values: Array) -> Any:
        return 1.0 if values is None else np.repeat(values, self.matrix.shape[1] // len(values))

    def along(self, values: Any) -> Any:
        return np.broadcast_to(cast(values, self.matrix.dtype), self.matrix.shape)

    def sums(self, x: Array) -> Any:
        """Of each column the sum, in double precision."""
        rows, n = x.shape
        ones = np.ones(rows, x.dtype)
        blocks = in_row_blocks(rows, n, min(_SUMMED, _DEEP * n), lambda i, j: ones[i:j] @ x[i:j])
        return np.add.reduce(blocks, 0, np.float64)

    def both_sums(self, x: Array, other: Array, shift: Any = None) -> tuple:
        rows, n = x.shape
        ones = np.ones(rows, x.dtype)

        def work(i: int, j: int) -> tuple:
            a, b = _parts(x, other, shift, i, j)
            return ones[i:j] @ a, ones[i:j] @ (a * b)

        blocks = in_row_blocks(rows, n, min(_SUMMED, _DEEP * n), work)
        return tuple(np.add.reduce(blocks, 0, np.float64))


def _parts(x: Array, other: Array, shift: Any, i: int, j: int) -> tuple:
    """Rows `i` to `j` of what `both_sums` sums."""
    a, b = x[i:j], other[i:j]
    if shift is None:
        return a, b
    b = b - shift[i:j]
    return b if x is other else a, b


def cotangent_sums(seen: Rows, g: Array, x: Array, shift: Any) -> tuple:
    """`both_sums` of a cotangent and `x`, of which `seen` is the layout."""
    kept = SHARED_SUMS.kept
    if kept is None:
        return seen.both_sums(seen.like(g), seen.matrix, shift)
    found = kept.get((id(g), id(x)))
    if found is None:
        found = kept[id(g), id(x)] = seen.both_sums(seen.like(g), seen.matrix, shift)
        kept[id(g)] = seen, found[0]
    return found


def channel_sums(g: Array) -> Any:
    """The sum for each channel."""
    kept = SHARED_SUMS.kept
    if kept is not None and id(g) in kept:
        seen, sums = kept[id(g)]
    else:
        seen = layout(g, None)
        sums = seen.sums(seen.matrix)
    return seen.by_channel(sums)


def layout(x: Array, groups: int | None) -> Rows:
    """The layout in which an input is quick to work on."""
    is_short = groups is None and x.ndim > 1 and x.shape[0] > 1 and prod(x.shape[2:]) < _COLUMNS
    return (Columns if is_short and x.size else Rows)(x, groups)
