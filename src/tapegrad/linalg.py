"""`torch.linalg`: linear algebra under its own names."""

from tapegrad.core.errors import LinAlgError
from tapegrad.core.missing import refuses as _refuses
from tapegrad.operators.creation.vander import linalg_vander as vander
from tapegrad.operators.linalg.cholesky import cholesky_ex
from tapegrad.operators.linalg.cholesky import linalg_cholesky as cholesky
from tapegrad.operators.linalg.cond import cond
from tapegrad.operators.linalg.cross_vecdot import linalg_cross as cross
from tapegrad.operators.linalg.cross_vecdot import linalg_vecdot as vecdot
from tapegrad.operators.linalg.det_slogdet import linalg_det as det
from tapegrad.operators.linalg.det_slogdet import linalg_slogdet as slogdet
from tapegrad.operators.linalg.eig_eigh import eig, eigh, eigvalsh
from tapegrad.operators.linalg.eig_eigh import linalg_eigvals as eigvals
from tapegrad.operators.linalg.geqrf_ormqr import linalg_householder_product as householder_product
from tapegrad.operators.linalg.inv import inv, inv_ex, tensorinv
from tapegrad.operators.linalg.ldl import ldl_factor, ldl_factor_ex, ldl_solve
from tapegrad.operators.linalg.lstsq import lstsq
from tapegrad.operators.linalg.lu_factor import linalg_lu as lu
from tapegrad.operators.linalg.lu_factor import lu_factor, lu_factor_ex
from tapegrad.operators.linalg.lu_solve import linalg_lu_solve as lu_solve
from tapegrad.operators.linalg.matmul import matmul
from tapegrad.operators.linalg.matrix_exp_power import linalg_matrix_exp as matrix_exp
from tapegrad.operators.linalg.matrix_exp_power import linalg_matrix_power as matrix_power
from tapegrad.operators.linalg.matrix_norm import matrix_norm, norm
from tapegrad.operators.linalg.multi_dot_chain_matmul import multi_dot
from tapegrad.operators.linalg.pinv_matrix_rank import matrix_rank, pinv
from tapegrad.operators.linalg.qr import linalg_qr as qr
from tapegrad.operators.linalg.solve import solve, solve_ex, tensorsolve
from tapegrad.operators.linalg.svd import linalg_svd as svd
from tapegrad.operators.linalg.svd import svdvals
from tapegrad.operators.linalg.triangular_solve import solve_triangular
from tapegrad.operators.reduction.vector_norm import linalg__powsum as _powsum
from tapegrad.operators.reduction.vector_norm import linalg_vector_norm as vector_norm
from tapegrad.operators.shape.tril_triu_diag import linalg_diagonal as diagonal

__all__ = [
    "LinAlgError", "_powsum", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig",
    "eigh", "eigvals", "eigvalsh", "householder_product", "inv", "inv_ex", "ldl_factor",
    "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul",
    "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr",
    "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv",
    "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip

__getattr__ = _refuses(__name__)
