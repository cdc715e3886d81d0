"""Sums and products of large arrays of real numbers.

NumPy adds pairwise on its way through a row, and row by row across them; `einsum` adds rows of
1,024 with several running sums at once, at the speed of memory and no less precise. Sums of sums
then stay small.
"""

import numpy as np

from tapegrad.arrays.numpy.blocks import SHARED, share_out
from tapegrad.core.annotations import Any, Array, Dim

ROW = 1024  # elements that are added up in one go
ROUND = 1000  # the same for sizes that people choose
COLUMN = 512  # rows that are added up in one go
NARROW = 256  # columns: wider rows NumPy adds up as quickly


def total(x: Array, axis: Any, keepdims: bool) -> Any:
    """The sum over `axis`, None for all; None if the array does not lend itself."""
    ndim = x.ndim
    if axis is None and x.flags.c_contiguous:
        whole = np.asarray(_flat(x if ndim == 1 else x.reshape(-1)))
        return whole.reshape((1,) * ndim) if keepdims else whole
    axes = (axis,) if type(axis) is int else tuple(range(ndim)) if axis is None else axis
    axes = tuple(sorted([a % ndim for a in axes]))
    shape = x.shape
    if x.flags.c_contiguous:
        found = _over(x, axes)
    elif x.T.flags.c_contiguous:
        found = _over(x.T, tuple([ndim - 1 - a for a in reversed(axes)]))
        found = None if found is None else found.T
    else:
        return None
    if found is not None and keepdims:
        return found.reshape([1 if i in axes else m for i, m in enumerate(shape)])
    return found


def _over(x: Array, axes: tuple[int, ...]) -> Any:
    """The sum of a row-major array over all axes, the last or the first ones; None for others."""
    ndim, n, shape = x.ndim, len(axes), x.shape
    if n == ndim:
        return np.asarray(_flat(x.reshape(-1)))
    if n and axes[0] == ndim - n:
        rows = x.reshape(-1, _size(shape[ndim - n :]))
        if rows.shape[1] > ROW and rows.shape[1] % ROW:
            return None
        return _rows(rows).reshape(shape[: ndim - n])
    if n and axes[-1] == n - 1 and _size(shape[n:]) <= NARROW:
        return _columns(x.reshape(_size(shape[:n]), -1)).reshape(shape[n:])
    return None


def _size(shape: tuple) -> int:
    n = 1
    for m in shape:
        n *= m
    return n


def _flat(x: Array) -> Any:
    """The sum of a vector."""
    size = x.size
    row = ROW if size % ROUND else ROUND
    n = size // row
    if n < 2:
        return np.add.reduce(x)
    rest = size - n * row
    rows = x.reshape(n, row) if not rest else x[:-rest].reshape(n, row)
    if size > SHARED:
        sums = np.empty(n, x.dtype)
        share_out(n, row, lambda i, j: np.einsum("ij->i", rows[i:j], out=sums[i:j]))
        found = _flat(sums)
    else:
        found = np.add.reduce(np.einsum("ij->i", rows))
    return found + np.add.reduce(x[-rest:]) if rest else found


def _rows(x: Array) -> Any:
    """The sums of rows."""
    m, n = x.shape
    if n > ROW:
        return _rows(_rows(x.reshape(-1, ROW)).reshape(m, -1))
    if x.size <= SHARED or m < COLUMN:
        return np.einsum("ij->i", x)
    sums = np.empty(m, x.dtype)
    share_out(m, n, lambda i, j: np.einsum("ij->i", x[i:j], out=sums[i:j]))
    return sums


def _columns(x: Array) -> Any:
    """The sums of columns."""
    m, n = x.shape
    k = m // COLUMN
    if k < 2:
        return np.einsum("ij->j", x)
    sums = np.einsum("kij->kj", x[: k * COLUMN].reshape(k, COLUMN, n))
    rest = np.einsum("ij->j", x[k * COLUMN :])
    return _columns(sums) + rest


def inner(a: Array, b: Array) -> Any:
    """The sum of the products of the elements of two vectors."""
    n = a.size // ROW
    rest = a.size - n * ROW
    whole = n * ROW
    rows = np.einsum("ij,ij->i", a[:whole].reshape(n, ROW), b[:whole].reshape(n, ROW))
    return _flat(rows) + np.dot(a[whole:], b[whole:]) if rest else _flat(rows)


def product(x: Array) -> Any:
    """The product of all elements of a row-major array: rows are multiplied into one another."""
    flat = x.reshape(-1)
    n = flat.size // ROW
    rows = np.multiply.reduce(flat[: n * ROW].reshape(n, ROW), axis=0)
    return np.multiply.reduce(rows) * np.multiply.reduce(flat[n * ROW :])


def reduced(ufunc: Any, x: Array, axis: Dim, keepdims: bool) -> Any:
    """`ufunc.reduce` of an array of 16 bits."""
    return np.asarray(ufunc.reduce(x, axis, np.float32, None, keepdims)).astype(x.dtype)


def mean(x: Array, axis: Any, keepdims: Any) -> Any:
    """The mean of an array of 16 bits."""
    total = np.asarray(np.add.reduce(x, axis, dtype=np.float32, keepdims=keepdims))
    return (total / (x.size / total.size if total.size else np.nan)).astype(x.dtype)


def accumulated(ufunc: Any, x: Array, axis: int) -> Any:
    """`ufunc.accumulate` of an array of 16 bits."""
    return ufunc.accumulate(x, axis, np.float32).astype(x.dtype)
