"""`torch.linalg`: linear algebra under its own names."""

from tapegrad.errors import LinAlgError
from tapegrad.missing import missing as _missing
from tapegrad.ops.chain import multi_dot
from tapegrad.ops.conditioning import cond
from tapegrad.ops.definite import cholesky_ex
from tapegrad.ops.definite import linalg_cholesky as cholesky
from tapegrad.ops.determinant import linalg_det as det
from tapegrad.ops.determinant import linalg_slogdet as slogdet
from tapegrad.ops.eigen import eig, eigh, eigvalsh
from tapegrad.ops.eigen import linalg_eigvals as eigvals
from tapegrad.ops.indefinite import ldl_factor, ldl_factor_ex, ldl_solve
from tapegrad.ops.inversion import inv, inv_ex, tensorinv
from tapegrad.ops.least_squares import lstsq
from tapegrad.ops.length import linalg_vector_norm as vector_norm
from tapegrad.ops.lu_factors import linalg_lu as lu
from tapegrad.ops.lu_factors import lu_factor, lu_factor_ex
from tapegrad.ops.lu_system import linalg_lu_solve as lu_solve
from tapegrad.ops.magnitude import matrix_norm, norm
from tapegrad.ops.matrix_function import linalg_matrix_exp as matrix_exp
from tapegrad.ops.matrix_function import linalg_matrix_power as matrix_power
from tapegrad.ops.orthogonal import linalg_qr as qr
from tapegrad.ops.product import matmul
from tapegrad.ops.pseudoinverse import matrix_rank, pinv
from tapegrad.ops.reflection import linalg_householder_product as householder_product
from tapegrad.ops.singular import linalg_svd as svd
from tapegrad.ops.singular import svdvals
from tapegrad.ops.solving import solve, solve_ex, tensorsolve
from tapegrad.ops.triangle import linalg_diagonal as diagonal
from tapegrad.ops.triangular_system import solve_triangular
from tapegrad.ops.vandermonde import linalg_vander as vander
from tapegrad.ops.vector_product import linalg_cross as cross
from tapegrad.ops.vector_product import linalg_vecdot as vecdot

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]


def __getattr__(name: str):
    raise _missing(__name__, name)
