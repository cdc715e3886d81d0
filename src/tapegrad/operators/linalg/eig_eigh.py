"""Eigenvalues and eigenvectors: of Hermitian matrices (eigh) and of any square ones (eig)."""

from tapegrad import return_types
from tapegrad.arrays.namespaces import elements
from tapegrad.autograd.mode import MODE
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.result_order import column_major
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import constant, jvp, primitive, vjp
from tapegrad.operators.linalg import matrix_check
from tapegrad.operators.linalg.decomposition import (
    adjoint,
    check_phases,
    column,
    converged,
    diagonal,
    diagonal_matrix,
    off_diagonal,
    ratio,
    row,
    values_gradient,
    values_tangent,
)

_PHASES = (
    ": The eigenvectors in the complex case are specified up to multiplication by e^{i phi}. The "
    "specified loss function depends on this quantity, so it is ill-defined."
)
_ADVICE = "Use what does not change when an eigenvector is multiplied by a phase, such as abs()."

# --- Hermitian matrices ----------------------------------------------------------------------


def _lower(xp: Namespace, x: Array, upper: bool) -> Any:
    """A matrix whose lower triangle says what the Hermitian matrix is: LAPACK reads no more."""
    return adjoint(xp, x) if upper else x


def _hermitian_gradient(xp, g_values, g_vectors, values, vectors):
    """V [ diag(gL) + skew(V^H gV) / (L_j - L_i) ] V^H."""
    vh = adjoint(xp, vectors)
    inner = vh @ g_vectors
    if xp.isdtype(vectors.dtype, "complex floating"):
        check_phases(xp, diagonal(xp, inner), "linalg_eigh_backward" + _PHASES, _ADVICE)
    skew = (inner - adjoint(xp, inner)) / 2
    inner = ratio(xp, off_diagonal(xp, skew), row(values) - column(values))
    return vectors @ (inner + diagonal_matrix(xp, g_values)) @ vh


def _hermitian_tangents(xp, t, values, vectors):
    """With P = V^H t V: dL = Re diag(P) and dV = V P / (L_j - L_i)."""
    p = adjoint(xp, vectors) @ t @ vectors
    d_values = diagonal(xp, p)
    if xp.isdtype(p.dtype, "complex floating"):
        d_values = xp.real(d_values)
    turn = ratio(xp, off_diagonal(xp, p), row(values) - column(values))
    return d_values, vectors @ turn


@jvp(x=_hermitian_tangents)
@vjp(x=_hermitian_gradient)
@primitive(
    name="eigh",
    node="LinalgEighBackward0",
    outputs=("values", "vectors"),
    holomorphic=False,
    order=column_major(1),
)
def hermitian_decomposition(xp, x, *, upper):
    """L and V with x = V diag(L) V^H; L is real and rises, V has orthonormal columns."""
    return tuple(xp.linalg.eigh(_lower(xp, x, upper)))


def _gradient_of_hermitian_values(xp, g, x, upper):
    vectors = xp.linalg.eigh(_lower(xp, x, upper))[1]
    return values_gradient(g, vectors, adjoint(xp, vectors))


def _tangent_of_hermitian_values(xp, t, x, upper):
    vectors = xp.linalg.eigh(_lower(xp, x, upper))[1]
    return values_tangent(xp, t, vectors, vectors)


@jvp(x=_tangent_of_hermitian_values)
@vjp(x=_gradient_of_hermitian_values)
@primitive(name="eigvalsh", node="LinalgEighBackward0", holomorphic=False)
def hermitian_values(xp, x, *, upper):
    """The eigenvalues of Hermitian matrices, rising.

    Their derivative computes the vectors anew: the values alone cost a fraction, and their
    gradient is defined where some are equal.
    """
    return xp.linalg.eigvalsh(_lower(xp, x, upper))


# --- square matrices -------------------------------------------------------------------------


def _complex(xp: Namespace, x: Array) -> Any:
    """NumPy gives real numbers where all imaginary parts are 0."""
    if xp.isdtype(x.dtype, "complex floating"):
        return x
    return xp.astype(x, xp.complex64 if x.dtype == xp.float32 else xp.complex128)


def _gradient(xp, g_values, g_vectors, values, vectors, x_like):
    """V^-H [ diag(gL) + (V^H gV - V^H V Re diag(V^H gV)) / conj(L_j - L_i) ] V^H.

    Source: Boeddeker et al., On the Computation of Complex-valued Gradients with Application to
    Statistically Optimum Beamforming (2017), with the length of the columns of V kept at 1.
    """
    vh = adjoint(xp, vectors)
    inner = vh @ g_vectors
    lengths = diagonal(xp, inner)
    check_phases(xp, lengths, "linalg_eig_backward" + _PHASES, _ADVICE)
    inner = inner - (vh @ vectors) * row(xp.real(lengths))
    inner = ratio(xp, off_diagonal(xp, inner), xp.conj(row(values) - column(values)))
    g = xp.linalg.solve(vh, (inner + diagonal_matrix(xp, g_values)) @ vh)
    return g if xp.isdtype(x_like.dtype, "complex floating") else xp.real(g)


def _tangents(xp, t, values, vectors):
    """With P = V^-1 t V: dL = diag(P), dV = V P / (L_j - L_i) with columns kept at length 1."""
    p = xp.linalg.solve(vectors, xp.astype(t, vectors.dtype) @ vectors)
    turn = ratio(xp, off_diagonal(xp, p), row(values) - column(values))
    d_vectors = vectors @ turn
    lengths = xp.sum(xp.real(xp.conj(vectors) * d_vectors), axis=-2)
    return diagonal(xp, p), d_vectors - vectors * row(lengths)


@jvp(x=_tangents)
@vjp(x=_gradient)
@primitive(
    name="eig",
    node="LinalgEigBackward0",
    outputs=("values", "vectors"),
    holomorphic=False,
    order=column_major(1),
)
def eigendecomposition(xp, x):
    """L and V with x V = V diag(L), both complex; the columns of V have length 1."""
    values, vectors = xp.linalg.eig(x)
    return _complex(xp, values), _complex(xp, vectors)


@constant
def eigvals(xp, x):
    """The eigenvalues of square matrices, where no derivative is asked for."""
    return _complex(xp, xp.linalg.eigvals(x))


# --- the public functions --------------------------------------------------------------------


def _is_upper(UPLO: Any) -> bool:
    letter = UPLO.upper() if isinstance(UPLO, str) else UPLO
    if letter not in ("L", "U"):
        text = f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}"
        advice = "It names the triangle that is read, the lower or the upper one."
        raise errors.runtime_error(text, advice)
    return letter == "U"


def _check_hermitian(function: str, x: Tensor, UPLO: Any) -> bool:
    """Whether the upper triangle is to be read."""
    matrix_check.check_tensors(function, input=x)
    matrix_check.check_square("linalg.eigh", x)
    upper = _is_upper(UPLO)
    matrix_check.check_kernel("linalg_eigh_cpu", x)
    return upper


@autocast
def eigh(A: Tensor, UPLO: str = "L", *, out: Out = None) -> Any:
    """The eigenvalues and eigenvectors of symmetric or Hermitian matrices: A = V diag(L) V^H.

    Args:
        A: (..., n, n); only the triangle that UPLO names is read. The gradient is Hermitian.
        UPLO: "L", the lower triangle, or "U", the upper one.

    Returns:
        (eigenvalues, eigenvectors): (..., n), real and rising; (..., n, n), the vectors as columns.

    >>> torch.linalg.eigh(torch.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    tensor([1., 3.])
    """
    upper = _check_hermitian("linalg_eigh", A, UPLO)
    found = converged("linalg.eigh", hermitian_decomposition, A, upper=upper)
    return matrix_check.finish_exact("linalg_eigh", return_types.linalg_eigh(found), out)


@autocast
def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Out = None) -> Any:
    """The eigenvalues of symmetric or Hermitian matrices, rising.

    Shape: (..., n, n) to (..., n).

    >>> torch.linalg.eigvalsh(torch.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    upper = _check_hermitian("linalg_eigvalsh", A, UPLO)
    found = converged("linalg.eigh", hermitian_values, A, upper=upper)
    return matrix_check.finish_exact("linalg_eigvalsh", found, out)


def _check_general(name: str, x: Tensor) -> None:
    matrix_check.check_tensors(f"linalg_{name}", input=x)
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        text = f"Unknown Complex ScalarType for {x.dtype.scalar_name}"
        raise errors.runtime_error(text, "Convert the tensor first: x.float().")
    matrix_check.check_square(f"linalg.{name}", x)
    matrix_check.check_kernel("linalg_eig_out_cpu", x)
    if not elements(x.isfinite()._array).all():
        text = "torch.linalg.eig: input tensor should not contain infs or NaNs."
        raise errors.runtime_error(text, "Look for them with torch.isfinite(x).")


@autocast
def eig(A: Tensor, *, out: Out = None) -> Any:
    """The eigenvalues and eigenvectors of square matrices: A V = V diag(L).

    Args:
        A: (..., n, n), real or complex.

    Returns:
        (eigenvalues, eigenvectors): (..., n) and (..., n, n), complex, in no particular order; the
        vectors are columns of length 1. Their phases are the algorithm's choice: gradients are
        defined for what does not depend on them.

    >>> torch.linalg.eig(torch.tensor([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """
    _check_general("eig", A)
    found = return_types.linalg_eig(eigendecomposition(A))
    return matrix_check.finish_castable(
        "linalg_eig", "torch.linalg.eig", found, out, "eigenvalues", "eigenvectors"
    )


def _is_differentiated(x: Tensor) -> bool:
    """Whether a derivative may be asked for, in reverse or forward mode."""
    mode = MODE.get()
    if mode is True or mode is False:
        return mode and x.requires_grad
    from tapegrad.autograd.forward.mode import forward_mode

    return forward_mode() is not None or (mode.grad and x.requires_grad)


@autocast(name="eigvals")
def linalg_eigvals(A: Tensor, *, out: Out = None) -> Any:
    """The eigenvalues of square matrices, complex, in no particular order.

    Shape: (..., n, n) to (..., n).

    >>> torch.linalg.eigvals(torch.tensor([[0.0, -1.0], [1.0, 0.0]]))
    tensor([0.+1.j, 0.-1.j])
    """
    _check_general("eigvals", A)
    # the values alone are found faster, but in another order than those that go with vectors
    found = eigendecomposition(A)[0] if _is_differentiated(A) else eigvals(A)
    return matrix_check.finish_castable(
        "linalg_eigvals", "torch.linalg.eigvals", found, out, "eigenvalues"
    )
