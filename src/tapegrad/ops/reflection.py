"""Products of Householder reflections, the form in which LAPACK keeps orthogonal matrices.

Q = H_1 ... H_k with H_i = 1 - tau_i v_i v_i^H. With the vectors as columns of V,

    Q = 1 - V (1 + D N)^-1 D V^H,    D = diag(tau), N the strict upper triangle of V^H V,

so that a product costs three matrix products and a triangular solution; so do its derivatives.

Source: Schreiber and Van Loan, A Storage-Efficient WY Representation for Products of Householder
Transformations (1989).
"""

from __future__ import annotations

from typing import Any

from tapegrad import errors, return_types
from tapegrad.call import finish
from tapegrad.op import primitive
from tapegrad.ops.matrix_check import check_kernel, check_tensors
from tapegrad.ops.matrix_out import finish_castable
from tapegrad.ops.spectrum import adjoint, column, unit_matrix

__all__ = ["geqrf", "orgqr", "ormqr"]


# --- the product in rules --------------------------------------------------------------------


def _vectors(xp: Any, x: Any, tau: Any) -> Any:
    """The columns below the diagonal of x, with ones on it: as many as there are tau."""
    x = x[..., : tau.shape[-1]]
    return xp.tril(x, k=-1) + unit_matrix(xp, x)


def _parts(xp: Any, v: Any, tau: Any, c: Any) -> tuple:
    """N, 1 + D N, V^H c and Z of Q c = c - V Z."""
    vh = adjoint(xp, v)
    n = xp.triu(vh @ v, k=1)
    m = column(tau) * n + unit_matrix(xp, n)
    w = vh @ c
    return n, m, w, _solved(xp, m, column(tau) * w)


def _solved(xp: Any, m: Any, x: Any) -> Any:
    return xp.triangular_solution(m, x, True, True, True)


def _product(xp: Any, v: Any, tau: Any, c: Any) -> Any:
    """Q c."""
    return c - v @ _parts(xp, v, tau, c)[3]


def _pulled(xp: Any, g: Any, v: Any, tau: Any, c: Any) -> tuple:
    """The gradients by v, tau and c of <g, Q c>."""
    vh = adjoint(xp, v)
    n, m, w, z = _parts(xp, v, tau, c)
    b = xp.triangular_solution(adjoint(xp, m), -(vh @ g), False, True, True)
    g_tau = xp.sum(_conj(xp, w - n @ z) * b, axis=-1)
    g_w = column(_conj(xp, tau)) * b
    g_n = xp.triu(-(g_w @ adjoint(xp, z)), k=1)
    g_v = c @ adjoint(xp, g_w) - g @ adjoint(xp, z) + v @ (g_n + adjoint(xp, g_n))
    return g_v, g_tau, g + v @ g_w


def _pushed_by_vectors(xp: Any, t: Any, v: Any, tau: Any, c: Any) -> Any:
    """The change of Q c with a change t of v."""
    th = adjoint(xp, t)
    _, m, _, z = _parts(xp, v, tau, c)
    d_n = th @ v
    d_n = xp.triu(d_n + adjoint(xp, d_n), k=1)
    return -(t @ z) - v @ _solved(xp, m, column(tau) * (th @ c - d_n @ z))


def _pushed_by_tau(xp: Any, t: Any, v: Any, tau: Any, c: Any) -> Any:
    """The change of Q c with a change t of tau."""
    n, m, w, z = _parts(xp, v, tau, c)
    return -(v @ _solved(xp, m, column(t) * (w - n @ z)))


def _conj(xp: Any, x: Any) -> Any:
    return xp.conj(x) if xp.isdtype(x.dtype, "complex floating") else x


def _below(xp: Any, g_v: Any, shape: tuple[int, ...]) -> Any:
    """A gradient by the vectors as one by the matrix that has them below its diagonal."""
    g = xp.tril(g_v, k=-1)
    if shape[-1] == g.shape[-1]:
        return g
    rest = xp.zeros((*g.shape[:-1], shape[-1] - g.shape[-1]), dtype=g.dtype)
    return xp.concat([g, rest], axis=-1)


def _change(xp: Any, t: Any, tau: Any) -> Any:
    """A change of the matrix as one of the vectors."""
    return xp.tril(t[..., : tau.shape[-1]], k=-1)


# --- the first columns of Q ------------------------------------------------------------------


@primitive(
    node="LinalgHouseholderProductBackward0", holomorphic=False, kernels=("triangular_solution",)
)
def householder_product(xp, x, tau):
    """As many columns of Q = H_1 ... H_k as x has; the vectors are below the diagonal of x."""
    return _product(xp, _vectors(xp, x, tau), tau, unit_matrix(xp, x))


householder_product.vjp(
    x=lambda xp, g, x, tau: _below(
        xp, _pulled(xp, g, _vectors(xp, x, tau), tau, unit_matrix(xp, x))[0], x.shape
    ),
    tau=lambda xp, g, x, tau: _pulled(xp, g, _vectors(xp, x, tau), tau, unit_matrix(xp, x))[1],
)
householder_product.jvp(
    x=lambda xp, t, x, tau: _pushed_by_vectors(
        xp, _change(xp, t, tau), _vectors(xp, x, tau), tau, unit_matrix(xp, x)
    ),
    tau=lambda xp, t, x, tau: _pushed_by_tau(xp, t, _vectors(xp, x, tau), tau, unit_matrix(xp, x)),
)


# --- products with Q -------------------------------------------------------------------------
# c Q is the adjoint of Q^H c^H, and Q^H is the product of the reflections in reverse.


def _turned(xp: Any, v: Any, tau: Any, turn: bool) -> tuple:
    """v and tau of Q, or with `turn` of Q^H; its own inverse."""
    return (xp.flip(v, axis=-1), _conj(xp, xp.flip(tau, axis=-1))) if turn else (v, tau)


def _sided(xp: Any, x: Any, left: bool) -> Any:
    return x if left else adjoint(xp, x)


@primitive(name="ormqr", node="OrmqrBackward0", holomorphic=False, kernels=("triangular_solution",))
def reflected(xp, x, tau, c, *, left, transpose):
    """Q c or c Q, with Q or its adjoint."""
    v, tau = _turned(xp, _vectors(xp, x, tau), tau, left == transpose)
    return _sided(xp, _product(xp, v, tau, _sided(xp, c, left)), left)


def _pulled_all(xp: Any, g: Any, x: Any, tau: Any, c: Any, left: bool, transpose: bool) -> tuple:
    turn = left == transpose
    v, tau = _turned(xp, _vectors(xp, x, tau), tau, turn)
    g_v, g_tau, g_c = _pulled(xp, _sided(xp, g, left), v, tau, _sided(xp, c, left))
    g_v, g_tau = _turned(xp, g_v, g_tau, turn)
    return _below(xp, g_v, x.shape), g_tau, _sided(xp, g_c, left)


def _pushed(xp: Any, t: Any, x: Any, tau: Any, c: Any, left: bool, transpose: bool) -> Any:
    """The change of the product with a change t of the vectors or, as long as it, of tau."""
    turn = left == transpose
    c = _sided(xp, c, left)
    v = _vectors(xp, x, tau)
    changed = (v, t) if t.ndim == tau.ndim else (_change(xp, t, tau), tau)
    t = _turned(xp, *changed, turn)[t.ndim == tau.ndim]
    v, tau = _turned(xp, v, tau, turn)
    push = _pushed_by_tau if t.ndim == tau.ndim else _pushed_by_vectors
    return _sided(xp, push(xp, t, v, tau, c), left)


reflected.vjp(
    x=lambda xp, g, x, tau, c, left, transpose: _pulled_all(xp, g, x, tau, c, left, transpose)[0],
    tau=lambda xp, g, x, tau, c, left, transpose: _pulled_all(xp, g, x, tau, c, left, transpose)[1],
    c=lambda xp, g, x, tau, left, transpose: reflected.op.forward(
        xp, x, tau, g, left=left, transpose=not transpose
    ),
)
reflected.jvp(
    x=_pushed,
    tau=_pushed,
    c=lambda xp, t, x, tau, left, transpose: reflected.op.forward(
        xp, x, tau, t, left=left, transpose=transpose
    ),
)


# --- the reflections of a matrix -------------------------------------------------------------


@primitive(name="geqrf", outputs=("a", "tau"), kernels=("reflectors",))
def reflections(xp, x):
    """R on and above the diagonal of a, the vectors below it, and the factors tau."""
    return xp.reflectors(x)


def _no_derivative(*_: Any) -> Any:
    raise errors.advised(
        NotImplementedError("the derivative for 'geqrf' is not implemented."),
        "torch.linalg.qr has one.",
    )


reflections.vjp(x=lambda g_a, g_tau: _no_derivative())
reflections.jvp(x=lambda t: _no_derivative())


# --- the public functions --------------------------------------------------------------------

_PRODUCT, _ORMQR = "torch.linalg.householder_product", "torch.ormqr"


def _raise(text: str, advice: str) -> None:
    raise errors.advised(RuntimeError(text), advice)


def _check_vectors(name: str, x: Any, tau: Any) -> None:
    """A matrix (..., m, n) and tau (..., k)."""
    shape, sizes = x._array.shape, tau._array.shape
    if len(shape) < 2:
        _raise(
            f"{name}: input must have at least 2 dimensions.",
            "It is the matrix that geqrf gives, with the vectors below its diagonal.",
        )
    if not sizes:
        raise errors.advised(
            IndexError("Dimension specified as -1 but tensor has no dimensions"),
            "tau has a number for each reflection.",
        )


def _check_tau_batch(name: str, x: Any, tau: Any) -> None:
    shape, sizes = x._array.shape, tau._array.shape
    advice = f"tau must have the shape {[*shape[:-2], 'k']}."
    if len(sizes) != len(shape) - 1:
        _raise(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal "
            f"to {len(sizes)} and input.ndim is equal to {len(shape)}",
            advice,
        )
    if sizes[:-1] != shape[:-2]:
        _raise(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(sizes[:-1])}",
            advice,
        )


def linalg_householder_product(input: Any, tau: Any, *, out: Any = None) -> Any:
    """The first n columns of the product Q of reflections H_i = 1 - tau_i v_i v_i^H.

    Args:
        input: (..., m, n) with m >= n; v_i is below the diagonal of column i, with 1 on it.
        tau: (..., k) with k <= n.

    With what torch.geqrf gives it is the Q of a QR decomposition.

    >>> a, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> torch.linalg.householder_product(a, tau).shape
    torch.Size([2, 1])
    """
    check_tensors("linalg_householder_product", input=input)
    _check_vectors(_PRODUCT, input, tau)
    shape, k = input._array.shape, tau._array.shape[-1]
    if shape[-2] < shape[-1]:
        _raise(
            f"{_PRODUCT}: input.shape[-2] must be greater than or equal to input.shape[-1]",
            "An orthogonal matrix has no more columns than rows.",
        )
    if shape[-1] < k:
        _raise(
            f"{_PRODUCT}: input.shape[-1] must be greater than or equal to tau.shape[-1]",
            "Each number of tau goes with a column.",
        )
    _check_tau_batch(_PRODUCT, input, tau)
    if tau.dtype is not input.dtype:
        _raise(
            f"{_PRODUCT}: tau dtype {tau.dtype.scalar_name} does not match input dtype "
            f"{input.dtype.scalar_name}",
            f"Convert tau: .to({input.dtype}).",
        )
    check_kernel("orgqr_cpu", input)
    found = householder_product(input, tau)
    return finish_castable("linalg_householder_product", _PRODUCT, found, out)


orgqr = linalg_householder_product


def geqrf(input: Any, *, out: Any = None) -> Any:
    """The QR decomposition of matrices (..., m, n) as LAPACK keeps it, a pair (a, tau).

    R is on and above the diagonal of a (..., m, n), and Q the product of the reflections with the
    vectors below it; see torch.linalg.householder_product and torch.linalg.qr.

    >>> torch.geqrf(torch.tensor([[3.0], [4.0]])).a[0]
    tensor([-5.])
    """
    check_tensors("geqrf", input=input)
    if input._array.ndim < 2:
        _raise(
            "torch.geqrf: input must have at least 2 dimensions.",
            "Give a matrix (m, n), or a batch of matrices (..., m, n).",
        )
    check_kernel("geqrf_cpu", input)
    found = return_types.geqrf(reflections(input))
    return finish_castable("geqrf", "torch.geqrf", found, out, "a", "tau")


def ormqr(
    input: Any,
    tau: Any,
    other: Any,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Any = None,
) -> Any:
    """Q other, or other Q, with the product Q of reflections, or with its adjoint.

    Args:
        input: (..., m, n), tau: (..., k), what torch.geqrf gives; Q is (..., m, m).
        other: (..., m, p), or (..., p, m) where it is not `left`.

    >>> x = torch.tensor([[3.0], [4.0]])
    >>> a, tau = torch.geqrf(x)
    >>> torch.ormqr(a, tau, x, transpose=True)
    tensor([[-5.],
            [ 0.]])
    """
    check_tensors("ormqr", input=input)
    _check_vectors(_ORMQR, input, tau)
    _check_other(input, tau, other, -2 if left else -1)
    options = {"left": bool(left), "transpose": bool(transpose)}
    for name, x in (("tau", tau), ("other", other), ("result", out)):
        if x is not None and x.dtype is not input.dtype:
            _raise(
                f"{_ORMQR}: Expected input and {name} to have the same dtype, but input has dtype"
                f"{input.dtype.scalar_name} and {name} has dtype {x.dtype.scalar_name}",
                f"Convert it: .to({input.dtype}).",
            )
    check_kernel("ormqr_cpu", input)
    return finish("ormqr", reflected(input, tau, other, **options), out)


def _check_other(x: Any, tau: Any, other: Any, axis: int) -> None:
    shape, sizes = x._array.shape, other._array.shape
    if len(sizes) < 2:
        _raise(f"{_ORMQR}: other must have at least 2 dimensions.", "Give a matrix.")
    if sizes[axis] != shape[-2]:
        _raise(
            f"{_ORMQR}: other.shape[{axis}] must be equal to input.shape[-2]",
            f"Q has {shape[-2]} rows and columns.",
        )
    if tau._array.shape[-1] != min(sizes[axis], shape[-1]):
        _raise(
            f"{_ORMQR}: tau.shape[-1] must be equal to min(other.shape[{axis}], input.shape[-1])",
            "Each column of input has its number of tau.",
        )
    _check_tau_batch(_ORMQR, x, tau)
    if len(sizes) != len(shape):
        _raise(
            f"{_ORMQR}: Expected other to have the same number of dimensions as input, but got "
            f"other.ndim equal to {len(sizes)} and input.ndim is equal to {len(shape)}",
            "Batch dimensions do not broadcast: expand() them.",
        )
    if sizes[:-2] != shape[:-2]:
        _raise(
            f"{_ORMQR}: Expected batch dimensions of other to be equal to input.shape[:-2], but "
            f"got {list(sizes[:-2])}",
            "Batch dimensions do not broadcast: expand() them.",
        )
