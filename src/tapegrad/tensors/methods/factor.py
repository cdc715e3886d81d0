"""Methods of square matrices: inverses, determinants, factors, powers."""

from tapegrad.core.lazy import method


class FactorMethods:
    """Linear algebra that is loaded when it is first used."""

    __slots__ = ()

    cholesky = method("tapegrad.operators.linalg.cholesky", "cholesky")
    cholesky_inverse = method("tapegrad.operators.linalg.cholesky", "cholesky_inverse")
    cholesky_solve = method("tapegrad.operators.linalg.cholesky", "cholesky_solve")
    cross = method("tapegrad.operators.linalg.cross_vecdot", "cross")
    det = method("tapegrad.operators.linalg.det_slogdet", "det")
    eig = method("tapegrad.operators.linalg.removed", "eig")
    inverse = method("tapegrad.operators.linalg.inv", "inverse")
    logdet = method("tapegrad.operators.linalg.det_slogdet", "logdet")
    lstsq = method("tapegrad.operators.linalg.removed", "lstsq")
    lu = method("tapegrad.operators.linalg.lu_factor", "lu_method")
    lu_solve = method("tapegrad.operators.linalg.lu_solve", "lu_solve")
    matrix_exp = method("tapegrad.operators.linalg.matrix_exp_power", "matrix_exp")
    matrix_power = method("tapegrad.operators.linalg.matrix_exp_power", "matrix_power")
    slogdet = method("tapegrad.operators.linalg.det_slogdet", "slogdet")
    solve = method("tapegrad.operators.linalg.removed", "solve")
    symeig = method("tapegrad.operators.linalg.removed", "symeig")
    triangular_solve = method("tapegrad.operators.linalg.triangular_solve", "triangular_solve")
