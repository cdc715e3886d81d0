"""Decompositions that the array standard lacks, on NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.arrays.factor import each, lapack


def triangular_factor(x: Any) -> Any:
    """R of x = Q R alone."""
    return np.linalg.qr(x, mode="r")


def reflectors(x: Any) -> tuple:
    """(a, tau): R on and above the diagonal, below it the vectors of the reflections of Q."""
    packed, tau = np.linalg.qr(x, mode="raw")
    return packed.mT, tau


def least_squares(a: Any, b: Any, rcond: float, driver: str) -> tuple:
    """(x, rank, singular values) with |a x - b| least, by one of LAPACK's drivers.

    Rank and values are of the matrices of `a`; they are empty for drivers that do not find them.
    """
    m, n = a.shape[-2:]
    batch = a.shape[:-2]
    whole = np.broadcast_shapes(batch, b.shape[:-2])
    a_whole, b = (np.broadcast_to(x, (*whole, *x.shape[-2:])) for x in (a, b))
    real = a.real.dtype
    none = np.empty((0,), real), np.empty((0,), np.int64)
    if not (a_whole.size and b.size):
        x = np.zeros((*whole, n, b.shape[-1]), a.dtype)
        rank = none[1] if driver == "gels" else np.zeros(batch, np.int64)
        values = np.zeros((*batch, min(m, n)), real) if driver in ("gelsd", "gelss") else none[0]
        if driver in ("gelsd", "gelss") and a.size:
            values = np.linalg.svdvals(a)
        if driver != "gels" and a.size:
            found = np.linalg.svdvals(a)
            rank = np.sum(found > rcond * found[..., :1], axis=-1, dtype=np.int64)
        return x, rank, values
    if driver == "gels":
        return _full_rank_solution(a_whole, b), none[1], none[0]
    from scipy.linalg import lstsq

    def one(a: Any, b: Any) -> tuple:
        x, _, rank, values = lstsq(a, b, rcond, lapack_driver=driver, check_finite=False)
        return x, np.int64(rank), none[0] if values is None else values

    x, rank, values = each(one, a_whole, b)
    first = tuple(slice(0, size) for size in batch)
    return x, rank[first], none[0] if driver == "gelsy" else values[first]


def _full_rank_solution(a: Any, b: Any) -> Any:
    gels = lapack("gels", a.dtype)
    m, n = a.shape[-2:]
    number = iter(range(a.size))

    def one(a: Any, b: Any) -> tuple:
        i = next(number)
        if m < n:
            b = np.concatenate([b, np.zeros((n - m, b.shape[-1]), b.dtype)])
        _, x, info = gels(a, b)
        if info:
            raise RankError(i, info)
        return (x[:n],)

    return each(one, a, b)[0]


class RankError(ArithmeticError):
    """A matrix that lacks full rank: its number in the batch and LAPACK's."""

    def __init__(self, number: int, info: int):
        super().__init__(number, info)
        self.number = number
        self.info = info
