"""`linalg` of the Tensor namespace: the array standard's extension for linear algebra.

Names and arguments are the standard's: `axis`, `keepdims`, and in `solve` a vector is what has one
dimension. Functions whose arguments are PyTorch's, too, are those of `torch.linalg`.
"""

import sys

from tapegrad import linalg as _linalg
from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core.annotations import Any, Array, Dim, DTypeLike, Number
from tapegrad.operators.linalg import einsum_tensordot_kron, inner_outer
from tapegrad.operators.linalg.det_slogdet import linalg_det as det
from tapegrad.operators.linalg.det_slogdet import linalg_slogdet as slogdet
from tapegrad.operators.linalg.inv import inv
from tapegrad.operators.linalg.matrix_exp_power import linalg_matrix_power as matrix_power
from tapegrad.operators.linalg.solve import solve as _solve
from tapegrad.operators.reduction import sum_mean
from tapegrad.operators.shape import tril_triu_diag
from tapegrad.tensors.arrays.matmul import matmul, matrix_transpose, vecdot

linalg = tensor_kernel(sys.modules[__name__])  # the namespace has this file under that name

_ALIKE = frozenset("eig eigh eigvals eigvalsh qr svd svdvals".split())


def __getattr__(name: str) -> Any:
    """A function of `torch.linalg` that is the standard's as it is."""
    if name not in _ALIKE:
        raise AttributeError(f"the namespace {__name__} has no {name}")
    return getattr(_linalg, name)


def cholesky(x: Array, /, *, upper: bool = False) -> Any:
    return _linalg.cholesky(x, upper=upper)


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Any:
    return _linalg.cross(x1, x2, dim=axis)


def diagonal(x: Array, /, *, offset: int = 0) -> Any:
    return tril_triu_diag.diagonal(x, offset, -2, -1)


def outer(x1: Array, x2: Array, /) -> Any:
    return inner_outer.outer(x1, x2)


def solve(x1: Array, x2: Array, /) -> Any:
    if x2.ndim == 1:
        return _solve(x1, x2.unsqueeze(-1)).squeeze(-1)
    if x2.ndim == x1.ndim - 1:  # a matrix for each, not PyTorch's batch of vectors
        x2 = x2.unsqueeze(0)
    return _solve(x1, x2)


def tensordot(x1: Array, x2: Array, /, *, axes: Dim = 2) -> Any:
    return einsum_tensordot_kron.tensordot(x1, x2, axes)


def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike = None) -> Any:
    return sum_mean.sum(diagonal(x, offset=offset), -1, dtype=dtype)


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return _linalg.matrix_norm(x, ord, keepdim=keepdims)


def matrix_rank(x: Array, /, *, rtol: Number | None = None) -> Any:
    return _linalg.matrix_rank(x, rtol=rtol)


def pinv(x: Array, /, *, rtol: Number | None = None) -> Any:
    return _linalg.pinv(x, rtol=rtol)


def vector_norm(x: Array, /, *, axis: Dim = None, keepdims: bool = False, ord: float = 2) -> Any:
    return _linalg.vector_norm(x, ord, axis, keepdims)


__all__ = [
    "cholesky", "cross", "det", "diagonal", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "slogdet", "solve", "tensordot", "trace",
    "vecdot", "vector_norm",
]  # fmt: skip
