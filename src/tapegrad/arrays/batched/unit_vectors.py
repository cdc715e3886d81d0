"""Batches of unit vectors, each with a factor: what Jacobians start from.

The `i`-th sample has `factors[i]` as its `i`-th element and zeros elsewhere. As long as such a
batch is only multiplied it stays a list of factors, and its product with a matrix is the matrix
with its rows scaled; whoever asks for its `value` gets the whole batch, and it is one like others.
"""

from math import isfinite

import numpy as np

from tapegrad.arrays.batched.array import Batched, Level
from tapegrad.arrays.namespaces import is_recorded, namespace_of
from tapegrad.core.annotations import Array


def units(level: Level, factors: np.ndarray) -> Batched:
    """The batch of a level with as many samples as `factors` has elements."""
    batch = object.__new__(Batched)
    batch.level = level
    batch.mapped = True
    batch.shape = factors.shape
    batch.dtype = factors.dtype
    batch.factors = factors
    batch.entered = None
    return batch


def all_members(factors: np.ndarray) -> np.ndarray:
    """The whole batch, its axis first."""
    n = factors.size
    whole = namespace_of((factors,)).zeros((n, n), dtype=factors.dtype)
    whole.reshape(-1)[:: n + 1] = factors.reshape(-1)
    return whole.reshape((n, *factors.shape))


def scaled(batch: Batched, other: Array) -> Batched | None:
    """The product of each sample and `other`; None for what the whole batch is needed for."""
    if type(other) is Batched:
        if other.mapped or other.level is not batch.level:
            return None
        other = other.value
    if type(other) is float or type(other) is int:
        factors = batch.factors * other
        return units(batch.level, factors) if _is_finite(factors) else None
    if not is_plain(other) or other.shape != batch.shape or other.dtype != batch.dtype:
        return None
    factors = batch.factors * other
    return units(batch.level, factors) if _is_finite(factors) and _is_finite(other) else None


def rows_scaled(batch: Batched, matrix: Array) -> Batched | None:
    """The product of each member, a row, and a matrix; None as above."""
    if type(matrix) is Batched:
        if matrix.mapped or matrix.level is not batch.level:
            return None
        matrix = matrix.value
    if not is_plain(matrix) or matrix.ndim != 2 or matrix.dtype != batch.dtype:
        return None
    if batch.factors.shape != matrix.shape[:1]:
        return None
    rows = batch.factors[:, None] * matrix
    return Batched(batch.level, rows) if _is_finite(rows) else None


def _is_finite(x: np.ndarray) -> bool:
    """Whether all elements are finite, and their squares add up: zero times others is nan."""
    flat = x.reshape(-1) if x.flags.c_contiguous else x.T.reshape(-1)
    total = np.dot(flat, flat)
    return bool(np.isfinite(total)) if is_recorded(total) else isfinite(total)


def is_plain(x: Array) -> bool:
    return type(x) is np.ndarray or is_recorded(x)
