"""Decompositions that the array standard lacks, on NumPy arrays."""

from itertools import count

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.cholesky_lu_solve import each, lapack
from tapegrad.core.annotations import Any, Array


@kernel
def triangular_factor(x: Array) -> Any:
    """R of x = Q R alone."""
    return np.linalg.qr(x, mode="r")


@kernel
def reflectors(x: Array) -> tuple:
    """(a, tau): R on and above the diagonal, below it the vectors of the reflections of Q."""
    packed, tau = np.linalg.qr(x, mode="raw")
    return packed.mT, tau


@kernel
def least_squares(a: Array, b: Array, rcond: float, driver: str) -> tuple:
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
        values = np.linalg.svdvals(a) if a.size else np.zeros((*batch, min(m, n)), real)
        found = values > rcond * values[..., :1]
        rank = np.asarray(np.count_nonzero(found, -1), np.int64)
        with_values = driver in ("gelsd", "gelss")
        return x, none[1] if driver == "gels" else rank, values if with_values else none[0]
    if driver == "gels":
        return _full_rank_solution(a_whole, b), none[1], none[0]
    if a.ndim > 2 and min(m, n) <= _SMALL:
        x, rank, values = _by_singular_values(a, b, rcond)
        return x, rank, none[0] if driver == "gelsy" else values
    from scipy.linalg import lstsq

    def one(a: Array, b: Array) -> tuple:
        x, _, rank, values = lstsq(a, b, rcond, lapack_driver=driver, check_finite=False)
        return x, np.int64(rank), none[0] if values is None else values

    x, rank, values = each(one, a_whole, b)
    first = tuple(slice(0, size) for size in batch)
    return x, rank[first], none[0] if driver == "gelsy" else values[first]


_SMALL = 16  # up to this size a batch is solved faster in one call by its singular values


def _by_singular_values(a: Array, b: Array, rcond: float) -> tuple:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    keep = s > rcond * s[..., :1]
    inverse = np.where(keep, 1 / np.where(keep, s, 1), 0).astype(s.dtype)
    x = vh.mT.conj() @ (inverse[..., None] * (u.mT.conj() @ b))
    return x, np.asarray(np.count_nonzero(keep, -1), np.int64), s


def _full_rank_solution(a: Array, b: Array) -> Any:
    gels = lapack("gels", a.dtype)
    m, n = a.shape[-2:]
    number = count()

    def one(a: Array, b: Array) -> tuple:
        if m < n:
            b = np.concatenate([b, np.zeros((n - m, b.shape[-1]), b.dtype)])
        factor, x, info = gels(a, b)
        info = info or _dependent(a, factor)
        i = next(number)
        if info:
            raise RankError(i, info)
        return (x[:n],)

    return each(one, a, b)[0]


def _dependent(a: Array, factor: Array) -> int:
    """The number, from 1, of the first column (of a wide matrix: row) that others make up.

    LAPACK sees it only if rounding leaves exactly 0 of it.
    """
    m, n = a.shape
    left = np.abs(np.diagonal(factor))
    whole = np.linalg.norm(a, axis=0 if m >= n else 1)
    lost = left <= max(m, n) * np.finfo(a.dtype).eps * whole
    return int(np.argmax(lost)) + 1 if lost.any() else 0


class RankError(ArithmeticError):
    """A matrix that lacks full rank: its number in the batch and LAPACK's."""

    def __init__(self, number: int, info: int):
        super().__init__(number, info)
        self.number = number
        self.info = info
