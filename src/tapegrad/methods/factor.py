"""Methods of square matrices: inverses, determinants, factors, powers."""

from tapegrad.later import method


class FactorMethods:
    """Linear algebra that is loaded when it is first used."""

    __slots__ = ()

    cholesky = method("tapegrad.ops.definite", "cholesky")
    cholesky_inverse = method("tapegrad.ops.definite", "cholesky_inverse")
    cholesky_solve = method("tapegrad.ops.definite", "cholesky_solve")
    cross = method("tapegrad.ops.vector_product", "cross")
    det = method("tapegrad.ops.determinant", "det")
    eig = method("tapegrad.ops.removed", "eig")
    inverse = method("tapegrad.ops.inversion", "inverse")
    logdet = method("tapegrad.ops.determinant", "logdet")
    lstsq = method("tapegrad.ops.removed", "lstsq")
    lu = method("tapegrad.ops.lu_factors", "lu_method")
    lu_solve = method("tapegrad.ops.lu_system", "lu_solve")
    matrix_exp = method("tapegrad.ops.matrix_function", "matrix_exp")
    matrix_power = method("tapegrad.ops.matrix_function", "matrix_power")
    slogdet = method("tapegrad.ops.determinant", "slogdet")
    solve = method("tapegrad.ops.removed", "solve")
    symeig = method("tapegrad.ops.removed", "symeig")
    triangular_solve = method("tapegrad.ops.triangular_system", "triangular_solve")
