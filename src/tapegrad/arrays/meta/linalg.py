"""Products of matrices and their decompositions, of arrays without elements."""

from typing import Any

import numpy as np

from tapegrad.arrays.kernel import meta_rule
from tapegrad.core.meta_array import MetaArray, nowhere


@meta_rule
def matmul(x: Any, y: Any, /) -> Any:
    dtype = np.result_type(x.dtype, y.dtype)
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise ValueError(f"matmul: shapes {x.shape} and {y.shape} do not fit")
    rows = x.shape[-2:-1]
    columns = y.shape[-1:] if y.ndim > 1 else ()
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    return nowhere((*batch, *rows, *columns), dtype)


@meta_rule
def multiply_groups(a: Any, b: Any, offs: Any) -> Any:
    groups = (offs.shape[0],) if a.ndim == b.ndim == 2 else a.shape[:-2] and b.shape[:-2]
    return nowhere((*groups, a.shape[-2], b.shape[-1]), np.result_type(a.dtype, b.dtype))


@meta_rule
def vecdot(x1: Any, x2: Any, /, axis: int = -1) -> Any:
    shape = list(np.broadcast_shapes(x1.shape, x2.shape))
    del shape[axis]
    return nowhere(tuple(shape), np.result_type(x1.dtype, x2.dtype))


@meta_rule
def tensordot(x1: Any, x2: Any, /, axes: Any = 2) -> Any:
    if hasattr(axes, "__index__"):
        first, second = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    else:
        first, second = [[a] if hasattr(a, "__index__") else list(a) for a in axes]
    gone, away = {a % x1.ndim for a in first}, {a % x2.ndim for a in second}
    shape = [n for i, n in enumerate(x1.shape) if i not in gone]
    shape += [n for i, n in enumerate(x2.shape) if i not in away]
    return nowhere(tuple(shape), np.result_type(x1.dtype, x2.dtype))


@meta_rule
def attend(inputs: Any, scale: float, causal: bool) -> Any:
    q, k, v = inputs[:3]
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    rows = (*lead, q.shape[-2])
    return nowhere((*rows, v.shape[-1]), q.dtype), nowhere((*rows, 1), q.dtype)


@meta_rule
def attend_back(g: Any, inputs: Any, y: Any, total: Any, scale: float, causal: bool) -> Any:
    found = [nowhere(x.shape, x.dtype) for x in inputs[:3]]
    return [*found, *[None] * (len(inputs) - 3)]


@meta_rule
def pair_distances(a: Any, b: Any, order: float) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return nowhere((*batch, a.shape[-2], b.shape[-2]), a.dtype)


@meta_rule
def solution(a: Any, b: Any) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return nowhere((*batch, *b.shape[-2:]), b.dtype)


@meta_rule
def triangular_solution(a: Any, b: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return nowhere((*batch, *b.shape[-2:]), b.dtype)


@meta_rule
def matrix_exponential(a: Any) -> Any:
    return nowhere(a.shape, a.dtype)


@meta_rule
def determinants(a: Any) -> Any:
    return nowhere(a.shape[:-2], a.dtype)


@meta_rule
def cofactors(a: Any) -> Any:
    return nowhere(a.shape, a.dtype)


@meta_rule
def last_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return MetaArray(np.diagonal(x.raw, offset, -2, -1))


@meta_rule
def linalg_eigvals(x: Any) -> Any:
    return nowhere(x.shape[:-1], np.result_type(x.dtype, np.complex64))


@meta_rule
def linalg_eig(x: Any) -> Any:
    dtype = np.result_type(x.dtype, np.complex64)
    return nowhere(x.shape[:-1], dtype), nowhere(x.shape, dtype)


@meta_rule
def linalg_eigvalsh(x: Any) -> Any:
    return nowhere(x.shape[:-1], real_of(x.dtype))


@meta_rule
def linalg_eigh(x: Any) -> Any:
    return nowhere(x.shape[:-1], real_of(x.dtype)), nowhere(x.shape, x.dtype)


@meta_rule
def linalg_svdvals(x: Any) -> Any:
    return nowhere((*x.shape[:-2], min(x.shape[-2:])), real_of(x.dtype))


@meta_rule
def linalg_svd(x: Any, /, *, full_matrices: bool = True) -> Any:
    *batch, m, n = x.shape
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    u, v = nowhere((*batch, m, rows), x.dtype), nowhere((*batch, columns, n), x.dtype)
    return u, nowhere((*batch, k), real_of(x.dtype)), v


@meta_rule
def linalg_qr(x: Any, /, *, mode: str = "reduced") -> Any:
    *batch, m, n = x.shape
    k = m if mode == "complete" else min(m, n)
    return nowhere((*batch, m, k), x.dtype), nowhere((*batch, k, n), x.dtype)


@meta_rule
def linalg_slogdet(x: Any, /) -> Any:
    return nowhere(x.shape[:-2], x.dtype), nowhere(x.shape[:-2], real_of(x.dtype))


@meta_rule
def linalg_solve(a: Any, b: Any, /) -> Any:
    return solution(a, b)


def real_of(dtype: Any) -> Any:
    """The dtype of an absolute value."""
    return np.zeros((), dtype).real.dtype
