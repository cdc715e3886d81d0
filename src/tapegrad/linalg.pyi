# Written by `python -m tools.stubs`.

from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence
from typing import Any, overload

from tapegrad import return_types
from tapegrad.core.annotations import Dim, DTypeLike, Number, Out, Outs
from tapegrad.core.errors import LinAlgError as LinAlgError
from tapegrad.tensors.tensor import Tensor

def _powsum(
    input: Tensor, ord: Any = 2, dim: Dim = None, keepdim: _bool = False, *, dtype: DTypeLike = None
) -> Tensor: ...
def cholesky(input: Tensor, *, upper: _bool = False, out: Out = None) -> Tensor: ...
def cholesky_ex(
    input: Tensor, *, upper: _bool = False, check_errors: _bool = False, out: Outs = None
) -> return_types.linalg_cholesky_ex: ...
@overload
def cond(input: Tensor, p: Number | None = None, *, out: Out = None) -> Tensor: ...
@overload
def cond(input: Tensor, p: _str | None, *, out: Out = None) -> Tensor: ...
def cross(input: Tensor, other: Tensor, *, dim: _int = -1, out: Out = None) -> Tensor: ...
def det(A: Tensor, *, out: Out = None) -> Tensor: ...
def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor: ...
def eig(input: Tensor, *, out: Outs = None) -> return_types.linalg_eig: ...
def eigh(input: Tensor, UPLO: _str = ..., *, out: Outs = None) -> return_types.linalg_eigh: ...
def eigvals(input: Tensor, *, out: Out = None) -> Tensor: ...
def eigvalsh(input: Tensor, UPLO: _str = ..., *, out: Out = None) -> Tensor: ...
def householder_product(input: Tensor, tau: Tensor, *, out: Out = None) -> Tensor: ...
def inv(A: Tensor, *, out: Out = None) -> Tensor: ...
def inv_ex(
    A: Tensor, *, check_errors: _bool = False, out: Outs = None
) -> return_types.linalg_inv_ex: ...
def ldl_factor(
    input: Tensor, *, hermitian: _bool = False, out: Outs = None
) -> return_types.linalg_ldl_factor: ...
def ldl_factor_ex(
    input: Tensor, *, hermitian: _bool = False, check_errors: _bool = False, out: Outs = None
) -> return_types.linalg_ldl_factor_ex: ...
def ldl_solve(
    LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: _bool = False, out: Out = None
) -> Tensor: ...
def lstsq(
    input: Tensor,
    b: Tensor,
    rcond: _float | None = None,
    *,
    driver: _str | None = None,
    out: Outs = None,
) -> return_types.linalg_lstsq: ...
def lu(A: Tensor, *, pivot: _bool = True, out: Outs = None) -> return_types.linalg_lu: ...
def lu_factor(
    A: Tensor, *, pivot: _bool = True, out: Outs = None
) -> return_types.linalg_lu_factor: ...
def lu_factor_ex(
    A: Tensor, *, pivot: _bool = True, check_errors: _bool = False, out: Outs = None
) -> return_types.linalg_lu_factor_ex: ...
def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    adjoint: _bool = False,
    out: Out = None,
) -> Tensor: ...
def matmul(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor: ...
def matrix_exp(input: Tensor) -> Tensor: ...
@overload
def matrix_norm(
    input: Tensor,
    ord: Number,
    dim: Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor: ...
@overload
def matrix_norm(
    input: Tensor,
    ord: _str = ...,
    dim: Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor: ...
def matrix_power(input: Tensor, n: _int, *, out: Out = None) -> Tensor: ...
@overload
def matrix_rank(
    input: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: _bool = False,
    out: Out = None,
) -> Tensor: ...
@overload
def matrix_rank(
    input: Tensor,
    *,
    atol: _float | None = None,
    rtol: _float | None = None,
    hermitian: _bool = False,
    out: Out = None,
) -> Tensor: ...
@overload
def matrix_rank(
    input: Tensor, tol: Tensor | _float, hermitian: _bool = False, *, out: Out = None
) -> Tensor: ...
def multi_dot(tensors: Sequence[Tensor], *, out: Out = None) -> Tensor: ...
@overload
def norm(
    input: Tensor,
    ord: Number | None = None,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor: ...
@overload
def norm(
    input: Tensor,
    ord: _str | None,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor: ...
@overload
def pinv(
    input: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: _bool = False,
    out: Out = None,
) -> Tensor: ...
@overload
def pinv(
    input: Tensor,
    *,
    atol: _float | None = None,
    rtol: _float | None = None,
    hermitian: _bool = False,
    out: Out = None,
) -> Tensor: ...
@overload
def pinv(
    input: Tensor, rcond: Tensor | _float, hermitian: _bool = False, *, out: Out = None
) -> Tensor: ...
def qr(A: Tensor, mode: _str = ..., *, out: Outs = None) -> return_types.linalg_qr: ...
def slogdet(A: Tensor, *, out: Outs = None) -> return_types.linalg_slogdet: ...
def solve(A: Tensor, B: Tensor, *, left: _bool = True, out: Out = None) -> Tensor: ...
def solve_ex(
    A: Tensor, B: Tensor, *, left: _bool = True, check_errors: _bool = False, out: Outs = None
) -> return_types.linalg_solve_ex: ...
def solve_triangular(
    input: Tensor,
    B: Tensor,
    *,
    upper: _bool,
    left: _bool = True,
    unitriangular: _bool = False,
    out: Out = None,
) -> Tensor: ...
def svd(
    A: Tensor, full_matrices: _bool = True, *, driver: _str | None = None, out: Outs = None
) -> return_types.linalg_svd: ...
def svdvals(A: Tensor, *, driver: _str | None = None, out: Out = None) -> Tensor: ...
def tensorinv(input: Tensor, ind: _int = 2, *, out: Out = None) -> Tensor: ...
def tensorsolve(
    input: Tensor, other: Tensor, dims: Sequence[_int] | None = None, *, out: Out = None
) -> Tensor: ...
def vander(x: Tensor, *, N: _int | None = None) -> Tensor: ...
def vecdot(x: Tensor, y: Tensor, *, dim: _int = -1, out: Out = None) -> Tensor: ...
def vector_norm(
    input: Tensor,
    ord: Number = 2,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Tensor: ...
