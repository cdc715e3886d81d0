"""Factors of matrices and systems solved by them, of arrays without elements.

LAPACK follows pivots wherever they lead: none of this is computed on arrays that stand in.
"""

from typing import Any

import numpy as np

from tapegrad.arrays.kernel import meta_rule
from tapegrad.arrays.meta.creation import empty_like
from tapegrad.core.meta_array import nowhere

_INT = np.dtype(np.int32)


def _solution(a: Any, b: Any) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    n = len(batch)
    return nowhere((*batch, *b.shape[-2:]), b.dtype, (*range(n), n + 1, n))  # by columns


@meta_rule
def lu_packed(a: Any) -> Any:
    *batch, m, n = a.shape
    info = nowhere(tuple(batch), _INT)
    return empty_like(a), nowhere((*batch, min(m, n)), _INT), info


@meta_rule
def ldl_packed(a: Any, hermitian: bool) -> Any:
    return empty_like(a), nowhere(a.shape[:-1], _INT), nowhere(a.shape[:-2], _INT)


@meta_rule
def cholesky_factor(a: Any, upper: bool) -> Any:
    return nowhere(a.shape, a.dtype), nowhere(a.shape[:-2], _INT)


@meta_rule
def invert(a: Any) -> Any:
    return nowhere(a.shape, a.dtype), nowhere(a.shape[:-2], _INT)


@meta_rule
def solve_systems(a: Any, b: Any) -> Any:
    *batch, n, _ = a.shape
    info, pivots = nowhere(tuple(batch), _INT), nowhere((*batch, n), _INT)
    return _solution(a, b), info, nowhere(a.shape, a.dtype), pivots


@meta_rule
def solve_again(a: Any, lu: Any, pivots: Any, b: Any, turned: bool) -> Any:
    return _solution(a, b)


@meta_rule
def lu_solution(lu: Any, pivots: Any, b: Any, left: bool, adjoint: bool) -> Any:
    return _solution(lu, b)


@meta_rule
def ldl_solution(ld: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    return _solution(ld, b)


@meta_rule
def definite_solution(factor: Any, b: Any, upper: bool) -> Any:
    return _solution(factor, b)


@meta_rule
def permutation_matrix(pivots: Any, n: int, like: Any) -> Any:
    return nowhere((*pivots.shape[:-1], n, n), like.dtype)
