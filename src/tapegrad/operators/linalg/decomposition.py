"""Helpers of decompositions: matrices in rules, and the checks of the public functions."""

import numpy as np

from tapegrad.arrays.namespaces import anywhere, elements
from tapegrad.arrays.numpy.singular import NO_FLAGS
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, OperatorLike, Tensor
from tapegrad.operators.linalg import matrix_check

# --- in rules --------------------------------------------------------------------------------


def adjoint(xp: Namespace, x: Array) -> Any:
    """The conjugate transpose."""
    x = xp.matrix_transpose(x)
    return xp.conj(x) if xp.isdtype(x.dtype, "complex floating") else x


def transposed(xp: Namespace, x: Array) -> Any:
    """Rows as columns."""
    return xp.matrix_transpose(x)


def row(s: Any) -> Any:
    """Numbers for each column of a matrix."""
    return s[..., None, :]


def column(s: Any) -> Any:
    """Numbers for each row of a matrix."""
    return s[..., None]


def first_columns(x: Any, k: int) -> Any:
    """The first k columns."""
    return x if x.shape[-1] == k else x[..., :k]


def diagonal(xp: Namespace, x: Array) -> Any:
    """The diagonals of square matrices."""
    return xp.linalg.diagonal(x)


def diagonal_matrix(xp: Namespace, x: Array) -> Any:
    """Square matrices with these diagonals."""
    return xp.tril(xp.triu(column(x) + xp.zeros_like(row(x))))


def off_diagonal(xp: Namespace, x: Array) -> Any:
    """Square matrices with zeros on the diagonal."""
    return xp.tril(x, k=-1) + xp.triu(x, k=1)


def unit_matrix(xp: Namespace, x: Array) -> Any:
    """Ones on the diagonal, in the shape of x."""
    return xp.tril(xp.triu(xp.ones_like(x)))


def ratio(xp: Namespace, a: Array, b: Array) -> Any:
    """a / b, and 0 where both are 0: what no gradient reaches needs no gap between values."""
    nothing = (a == 0) & (b == 0)
    return a / xp.where(nothing, xp.ones_like(b), b)


def values_gradient(g: Any, u: Any, vh: Any) -> Any:
    """The gradient of singular values or eigenvalues, from the vectors that go with them."""
    return (u * row(g)) @ vh


def values_tangent(xp: Namespace, t: Array, u: Any, v: Any) -> Any:
    """How these values change with the matrix."""
    if xp.isdtype(t.dtype, "complex floating"):
        return xp.real(xp.sum(xp.conj(u) * (t @ v), axis=-2))
    return xp.sum(u * (t @ v), axis=-2)


def check_phases(xp: Namespace, phases: Any, message: str, advice: str) -> None:
    """Refuse a gradient that depends on the phases of complex vectors."""
    if anywhere(xp.abs(xp.imag(phases)) > 1e-2):
        raise errors.runtime_error(message, advice)


# --- what is accepted ------------------------------------------------------------------------


def check_float_matrix(function: str, name: str, kernel: str, **argument: Any) -> None:
    """A matrix, or a batch of them, that LAPACK can decompose."""
    matrix_check.check_tensors(function, **argument)
    (x,) = argument.values()
    matrix_check.check_matrix(name, x)
    matrix_check.check_floating(name, x)
    matrix_check.check_kernel(kernel, x)


_DRIVERS = {"linalg.svd": "gesdd", "linalg.eigh": "heevd"}
_VALUES = {"linalg.svd": "singular values", "linalg.eigh": "eigenvalues"}


def converged(name: str, operator: OperatorLike, x: Tensor, **params: object) -> Any:
    """The result of a decomposition, or PyTorch's error where the algorithm fails."""
    array = elements(x._array)
    # LAPACK may never return from it, or no flag says that it failed
    if (name == "linalg.svd" or NO_FLAGS) and np.isnan(array).any():
        raise _no_convergence(name, array)
    try:
        return operator(x, **params)
    except np.linalg.LinAlgError:
        raise _no_convergence(name, array) from None


def _no_convergence(name: str, x: np.ndarray) -> errors.LinAlgError:
    """Which matrix of a batch it is that has no decomposition, and what LAPACK says of it."""
    from scipy.linalg import get_lapack_funcs

    driver = _DRIVERS[name]
    if x.dtype.kind != "c":
        driver = driver.replace("he", "sy")
    (decompose,) = get_lapack_funcs((driver,), (x,))
    where, code = "", 0
    for i, matrix in enumerate(x.reshape(-1, *x.shape[-2:])):
        if np.isnan(matrix).any():
            code = -1
        elif name == "linalg.svd" and np.isinf(matrix).any():
            continue  # nan in the result, no error; LAPACK may never return from it
        else:
            code = decompose(matrix)[-1]
        if code:
            where = f"(Batch element {i}): " if x.ndim > 2 else ""
            break
    if code < 0:
        reason = "contained non-finite values."
    else:
        reason = (
            f"is ill-conditioned or has too many repeated {_VALUES[name]} (error code: {code})."
        )
    text = f"{name}: {where}The algorithm failed to converge because the input matrix {reason}"
    advice = "Look for inf and nan in the matrix: torch.isfinite(x).all()."
    return errors.linalg_error(text, advice)
