"""Kernels of embeddings: adding up rows where they were looked up."""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.memory_pool import zeros
from tapegrad.arrays.numpy.searchsorted_bincount import counts_of
from tapegrad.core.annotations import Any, Array

_ROUNDS = 3  # rows named more often than that are sorted


def add_rows(rows: Any, index: Array, n: int) -> Any:
    """Zeros of shape (n, ...) with `rows[i]` added to row `index[i]`; no index is negative.

    Of several rows with one index the last one is written, and the others wait for the next round:
    few indices are named often. If there are, the rest is sorted and summed in runs.
    """
    out = zeros((n, rows.shape[1]), rows.dtype)
    if not index.size:
        return out
    place = np.empty(n, np.intp)
    for turn in range(_ROUNDS):
        number = np.arange(index.size)
        place[index] = number
        last = place[index] == number
        if last.all():
            _add(out, index, rows, turn)
            return out
        _add(out, index[last], rows[last], turn)
        rest = ~last
        index, rows = index[rest], rows[rest]
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    _add(out, ordered[starts], np.add.reduceat(rows[order], starts, axis=0), 1)
    return out


def _add(out: Array, index: Array, rows: Any, onto: int) -> None:
    """Write rows, or add them, where no index is named twice."""
    if onto:
        out[index] += rows
    else:
        out[index] = rows


@kernel
def spread_rows(g: Array, indices: Array, n: int, padding: int, by_frequency: bool) -> Any:
    """(n, D) from `g` (..., D): each row added where `indices` (...) says, but not at `padding`.

    `by_frequency`: divided by how often the index is named.
    """
    index = indices.reshape(-1)
    rows = g.reshape(index.size, g.shape[-1])
    if padding >= 0:
        kept = index != padding
        if not kept.all():
            index, rows = index[kept], rows[kept]
    out = add_rows(rows, index, n)
    if by_frequency and index.size:
        named = np.unique(index)
        out[named] /= counts_of(index, n)[named, None].astype(out.dtype)
    return out
