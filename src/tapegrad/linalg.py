"""`torch.linalg`: linear algebra under its own names, as far as tapegrad has it."""

from tapegrad.errors import LinAlgError
from tapegrad.missing import missing as _missing
from tapegrad.ops.chain import multi_dot
from tapegrad.ops.definite import cholesky_ex
from tapegrad.ops.definite import linalg_cholesky as cholesky
from tapegrad.ops.determinant import linalg_det as det
from tapegrad.ops.determinant import linalg_slogdet as slogdet
from tapegrad.ops.indefinite import ldl_factor, ldl_factor_ex, ldl_solve
from tapegrad.ops.inversion import inv, inv_ex, tensorinv
from tapegrad.ops.length import linalg_vector_norm as vector_norm
from tapegrad.ops.lu_factors import linalg_lu as lu
from tapegrad.ops.lu_factors import lu_factor, lu_factor_ex
from tapegrad.ops.lu_system import linalg_lu_solve as lu_solve
from tapegrad.ops.matrix_function import linalg_matrix_exp as matrix_exp
from tapegrad.ops.matrix_function import linalg_matrix_power as matrix_power
from tapegrad.ops.product import matmul
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
    "cross",
    "det",
    "diagonal",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "multi_dot",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]


def __getattr__(name: str):
    raise _missing(__name__, name)
