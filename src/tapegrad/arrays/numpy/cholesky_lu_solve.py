"""Factors of matrices in batches: NumPy where it works on batches, else LAPACK, one by one.

`info` counts as LAPACK does: 0 for success, else the number of the pivot (from 1) at which a
factorisation broke down. The factor is then what LAPACK leaves.
"""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy import singular
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable
from tapegrad.core.result_order import column_by_column

_PREFIX = {"f": "s", "d": "d", "F": "c", "D": "z"}


def lapack(name: str, dtype: Any) -> Any:
    """The LAPACK function for a dtype: `lapack("getrf", np.dtype("float64"))` is dgetrf."""
    from scipy.linalg import lapack

    return getattr(lapack, _PREFIX[dtype.char] + name)


def each(function: Callable, *arrays: Array) -> list:
    """The results of `function` on each matrix of a batch, stacked, as a list of its outputs."""
    batch = arrays[0].shape[:-2]
    flat = [x.reshape(-1, *x.shape[-2:]) for x in arrays]
    results = [function(*matrices) for matrices in zip(*flat, strict=True)]
    if not batch:
        return [np.asarray(x) for x in results[0]]
    return [
        np.stack(column).reshape(*batch, *np.shape(column[0]))
        for column in zip(*results, strict=True)
    ]


_SMALL = 48  # rows


def is_small(x: Array) -> bool:
    """Whether NumPy solves systems in less time than LAPACK is called from here.

    NumPy copies matrices by rows: for large ones that costs more than to solve the system.
    """
    return x.shape[-1] < _SMALL or _many(x)


def _many(x: Array) -> bool:
    """Whether a step of elimination on the whole batch costs less than a call for each matrix."""
    rows, columns = x.shape[-2:]
    return x.size > 8 * rows * columns * max(rows, columns)


def _no_info(x: Array) -> Any:
    return np.zeros(x.shape[:-2], np.int32)


@kernel
def lu_packed(a: Array) -> tuple:
    """(LU, pivots, info): U on and above the diagonal, below it L without its diagonal of ones.

    `pivots[i]` is the row, from 1, that was swapped with row i.
    """
    shape = a.shape
    if not a.size:
        pivots = np.zeros((*shape[:-2], min(shape[-2:])), np.int32)
        return a.copy(), pivots, _no_info(a)
    if _many(a):
        return _lu_of_many(a)
    getrf = lapack("getrf", a.dtype)

    def one(x: Array) -> tuple:
        lu, pivots, info = getrf(x)
        return lu, pivots + np.int32(1), np.int32(info)

    return tuple(each(one, a))


def _lu_of_many(a: Array) -> tuple:
    """`lu_packed` by steps of Gaussian elimination, each on the whole batch."""
    m, n = a.shape[-2:]
    k = min(m, n)
    lu = a.reshape(-1, m, n).copy()
    batch = np.arange(len(lu))
    pivots = np.empty((len(lu), k), np.int32)
    info = np.zeros(len(lu), np.int32)
    for i in range(k):
        column = lu[:, i:, i]
        size = np.abs(column.real)
        if a.dtype.kind == "c":  # as LAPACK measures it
            size = size + np.abs(column.imag)
        row = size.argmax(-1) + i
        pivots[:, i] = row + 1
        swapped = lu[batch, row]
        lu[batch, row] = lu[:, i]
        lu[:, i] = swapped
        pivot = lu[:, i, i, None]
        info[(pivot[:, 0] == 0) & (info == 0)] = i + 1
        lu[:, i + 1 :, i] /= np.where(pivot == 0, 1, pivot)  # a column of zeros stays one
        lu[:, i + 1 :, i + 1 :] -= lu[:, i + 1 :, i, None] * lu[:, i, None, i + 1 :]
    lead = a.shape[:-2]
    return lu.reshape(a.shape), pivots.reshape(*lead, k), info.reshape(lead)


@kernel
def lu_solution(lu: Array, pivots: Array, b: Array, left: bool, adjoint: bool) -> Any:
    """X with A X = B or X A = B, or the adjoint of A for A, from the packed factors of A."""
    if not left:  # X A = B: the transposes the other way round
        if adjoint:
            turned = lu_solution(lu, pivots, b.mT.conj(), True, False)
            return turned.mT.conj()
        return _lu_solution(lu, pivots, b.mT, 1).mT
    return _lu_solution(lu, pivots, b, 2 if adjoint else 0)


def _lu_solution(lu: Array, pivots: Array, b: Array, turn: int) -> Any:
    batch = np.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    lu, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (lu, b))
    if not b.size:
        return np.empty(b.mT.shape, b.dtype).mT
    rows = np.broadcast_to(pivots[..., None, :] - 1, (*batch, 1, pivots.shape[-1]))
    getrs = lapack("getrs", b.dtype)
    found = each(lambda x, p, y: getrs(x, p[0], y, trans=turn)[:1], lu, rows, b)[0]
    return column_by_column(found)


@kernel
def permutation_matrix(pivots: Array, n: int, like: Array) -> Any:
    """P of A = P L U, with the dtype of `like`, from the swaps of rows that made it."""
    order = np.empty((*pivots.shape[:-1], n), np.int64)
    order[...] = np.arange(n)
    for i in range(pivots.shape[-1]):
        other = pivots[..., i, None].astype(np.int64) - 1
        swapped = np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, order[..., i, None], -1)
        order[..., i, None] = swapped
    return (np.arange(n)[:, None] == order[..., None, :]).astype(like.dtype)


@kernel
def invert(a: Array) -> tuple:
    """(inverse, info) of square matrices."""
    if is_small(a):
        try:
            return _unknown_where(a, singular.inv(a)), _no_info(a)
        except np.linalg.LinAlgError:
            pass
    eye = np.eye(a.shape[-1], dtype=a.dtype)
    return solve_systems(a, np.broadcast_to(eye, a.shape))[:2]


def _unknown_where(a: Array, x: Array) -> Any:
    """nan for each matrix of `x` that comes from one with a nan, which pivots may pass over."""
    unknown = np.isnan(a)
    if not unknown.any():
        return x
    return np.where(unknown.any((-2, -1), keepdims=True), np.nan, x).astype(x.dtype)


@kernel
def solve_systems(a: Array, b: Array) -> tuple:
    """(X, info, LU, pivots) with A X = B for square matrices; batches broadcast.

    Of small matrices the factors are not kept, LU is empty: to compute them again is as quick.
    """
    if is_small(a):
        try:
            empty = np.empty((0, *a.shape[-2:]), a.dtype)
            x = column_by_column(_unknown_where(a, singular.solve(a, b)))
            return x, _no_info(a), empty, np.empty((0, 1), np.int32)
        except np.linalg.LinAlgError:
            pass
    lu, pivots, info = lu_packed(a)
    return _unknown_where(a, _lu_solution(lu, pivots, b, 0)), info, lu, pivots


@kernel
def solve_again(a: Array, lu: Array, pivots: Array, b: Array, turned: bool) -> Any:
    """X with A X = B, or A^T X = B if `turned`, for A solved by `solve_systems` before."""
    if lu.size:
        return _lu_solution(lu, pivots, b, 1 if turned else 0)
    return solution(a.mT if turned else a, b)


@kernel
def solution(a: Array, b: Array) -> Any:
    """X with A X = B; an error for singular A."""
    x, info, _, _ = solve_systems(a, b)
    if info.any():
        from tapegrad.arrays.linalg_errors import singular_system

        raise singular_system("torch.linalg.solve", info)
    return x


@kernel
def triangular_solution(a: Array, b: Array, upper: bool, left: bool, unitriangular: bool) -> Any:
    """X with A X = B, or X A = B, for triangular A of which only that triangle is read."""
    from scipy.linalg import blas

    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    if not b.size:
        return b.copy()
    if _many(a):
        if left:
            return _substituted(a, b, upper, unitriangular)
        return _substituted(a.mT, b.mT, not upper, unitriangular).mT
    trsm = getattr(blas, _PREFIX[b.dtype.char] + "trsm")

    def one(x: Array, y: Array) -> tuple:
        # BLAS stores column by column: rows are columns of the transposed equation
        if x.flags.f_contiguous:
            turned, lower, source = 1, not upper, x
        else:
            turned, lower, source = 0, upper, x.T
        return (
            trsm(1.0, source, y.T, side=left, lower=lower, trans_a=turned, diag=unitriangular).T,
        )

    return each(one, a, b)[0]


def _substituted(a: Array, b: Array, upper: bool, unitriangular: bool) -> Any:
    """The solution of triangular systems row by row, each on the whole batch."""
    n = a.shape[-1]
    x = np.empty_like(b, order="C")
    for i in reversed(range(n)) if upper else range(n):
        known = slice(i + 1, n) if upper else slice(0, i)
        row = b[..., i, :] - (a[..., i, None, known] @ x[..., known, :])[..., 0, :]
        x[..., i, :] = row if unitriangular else row / a[..., i, i, None]
    return x


@kernel
def cholesky_factor(a: Array, upper: bool) -> tuple:
    """(factor, info): lower L with A = L L^H, or upper U with A = U^H U; reads that triangle."""
    if not a.size:
        return a.copy(), _no_info(a)
    try:
        factor, info = singular.cholesky(a, upper=upper), _no_info(a)
    except np.linalg.LinAlgError:
        potrf = lapack("potrf", a.dtype)

        def one(x: Array) -> tuple:
            factor, info = potrf(x, lower=not upper, clean=1)
            return factor, np.int32(info)

        factor, info = each(one, a)
    unknown = np.isnan(factor.diagonal(0, -2, -1))  # not positive, either, and not noticed
    if unknown.any():
        first = np.where(unknown.any(-1), unknown.argmax(-1) + 1, 0)
        info = np.where(info == 0, first, info).astype(np.int32)
    return factor, info


@kernel
def definite_solution(factor: Array, b: Array, upper: bool) -> Any:
    """X with A X = B from the Cholesky factor of A."""
    turned = factor.mT.conj() if factor.dtype.kind == "c" else factor.mT
    lower, high = (turned, factor) if upper else (factor, turned)
    x = triangular_solution(lower, b, False, True, False)
    return triangular_solution(high, x, True, True, False)


@kernel
def ldl_packed(a: Array, hermitian: bool) -> tuple:
    """(LD, pivots, info) of the Bunch-Kaufman factorisation, which reads the lower triangle."""
    if not a.size:
        return a.copy(), np.zeros(a.shape[:-1], np.int32), _no_info(a)
    name = "hetrf" if hermitian and a.dtype.kind == "c" else "sytrf"
    factorise = lapack(name, a.dtype)

    def one(x: Array) -> tuple:
        ld, pivots, info = factorise(x, lower=1)
        return np.tril(ld), np.asarray(pivots, np.int32), np.int32(info)

    return tuple(each(one, a))


def check_bunch_kaufman(pivots: Array) -> None:
    """Raise for pivots that LAPACK would follow out of its matrices.

    They count rows from 1; negative ones, of blocks of two rows, come in pairs.
    """
    n = pivots.shape[-1]
    if not pivots.size:
        return
    size = np.abs(pivots.astype(np.int64).reshape(-1, n))
    runs = np.diff(np.flatnonzero(np.diff(np.pad(pivots.reshape(-1, n) < 0, ((0, 0), (1, 1))))))
    reason = "|pivot| >= 1" if (size < 1).any() else f"|pivot| <= {n}" if (size > n).any() else ""
    if not reason and (runs[::2] % 2).any():
        reason = "pivot > 0 but for pairs of rows"
    if reason:
        raise errors.runtime_error(
            f"Pivots given to ldl_solve must all satisfy {reason}. Did you properly pass the "
            "result of ldl_factor?",
            "Factors and pivots of torch.linalg.ldl_factor(A) belong together.",
        )


@kernel
def ldl_solution(ld: Any, pivots: Array, b: Array, hermitian: bool) -> Any:
    """X with A X = B from the Bunch-Kaufman factors of A."""
    check_bunch_kaufman(pivots)
    batch = np.broadcast_shapes(ld.shape[:-2], b.shape[:-2])
    ld, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (ld, b))
    if not b.size:
        return b.copy()
    rows = np.broadcast_to(pivots[..., None, :], (*batch, 1, pivots.shape[-1]))
    name = "hetrs" if hermitian and b.dtype.kind == "c" else "sytrs"
    solve = lapack(name, b.dtype)
    return each(lambda x, p, y: solve(x, p[0], y, lower=1)[:1], ld, rows, b)[0]
