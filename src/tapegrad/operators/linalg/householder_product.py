"""Products of Householder reflections, the form in which LAPACK keeps orthogonal matrices.

Q = H_1 ... H_k with H_i = 1 - tau_i v_i v_i^H. With the vectors as columns of V,

    Q = 1 - V (1 + D N)^-1 D V^H,    D = diag(tau), N the strict upper triangle of V^H V,

so that a product costs three matrix products and a triangular solution; so do its derivatives.

Source: Schreiber and Van Loan, A Storage-Efficient WY Representation for Products of Householder
Transformations (1989).
"""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace
from tapegrad.core.result_order import column_major
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.linalg.decomposition import adjoint, column, unit_matrix

# --- the product in rules --------------------------------------------------------------------


def _vectors(xp: Namespace, x: Array, tau: Array) -> Any:
    """The columns below the diagonal of x, with ones on it: as many as there are tau."""
    x = x[..., : tau.shape[-1]]
    return xp.tril(x, k=-1) + unit_matrix(xp, x)


def _parts(xp: Namespace, v: Array, tau: Array, c: Array) -> tuple:
    """N, 1 + D N, V^H c and Z of Q c = c - V Z."""
    vh = adjoint(xp, v)
    n = xp.triu(vh @ v, k=1)
    m = column(tau) * n + unit_matrix(xp, n)
    w = vh @ c
    return n, m, w, xp.triangular_solution(m, column(tau) * w, True, True, True)


def _product(xp: Namespace, v: Array, tau: Array, c: Array) -> Any:
    """Q c."""
    return c - v @ _parts(xp, v, tau, c)[3]


def _pulled(xp: Namespace, g: Array, v: Array, tau: Array, c: Array) -> tuple:
    """The gradients by v, tau and c of <g, Q c>."""
    vh = adjoint(xp, v)
    n, m, w, z = _parts(xp, v, tau, c)
    b = xp.triangular_solution(adjoint(xp, m), -(vh @ g), False, True, True)
    g_tau = xp.sum(_conj(xp, w - n @ z) * b, axis=-1)
    g_w = column(_conj(xp, tau)) * b
    g_n = xp.triu(-(g_w @ adjoint(xp, z)), k=1)
    g_v = c @ adjoint(xp, g_w) - g @ adjoint(xp, z) + v @ (g_n + adjoint(xp, g_n))
    return g_v, g_tau, g + v @ g_w


def _pushed_by_vectors(xp: Namespace, t: Array, v: Array, tau: Array, c: Array) -> Any:
    """The change of Q c with a change t of v."""
    th = adjoint(xp, t)
    _, m, _, z = _parts(xp, v, tau, c)
    d_n = th @ v
    d_n = xp.triu(d_n + adjoint(xp, d_n), k=1)
    change = column(tau) * (th @ c - d_n @ z)
    return -(t @ z) - v @ xp.triangular_solution(m, change, True, True, True)


def _pushed_by_tau(xp: Namespace, t: Array, v: Array, tau: Array, c: Array) -> Any:
    """The change of Q c with a change t of tau."""
    n, m, w, z = _parts(xp, v, tau, c)
    return -(v @ xp.triangular_solution(m, column(t) * (w - n @ z), True, True, True))


def _conj(xp: Namespace, x: Array) -> Any:
    return xp.conj(x) if xp.isdtype(x.dtype, "complex floating") else x


def _below(xp: Namespace, g_v: Any, shape: tuple[int, ...]) -> Any:
    """A gradient by the vectors as one by the matrix that has them below its diagonal."""
    g = xp.tril(g_v, k=-1)
    if shape[-1] == g.shape[-1]:
        return g
    rest = xp.zeros((*g.shape[:-1], shape[-1] - g.shape[-1]), dtype=g.dtype)
    return xp.concat([g, rest], axis=-1)


def _change(xp: Namespace, t: Array, tau: Array) -> Any:
    """A change of the matrix as one of the vectors."""
    return xp.tril(t[..., : tau.shape[-1]], k=-1)


# --- the first columns of Q ------------------------------------------------------------------


@jvp(
    x=lambda xp, t, x, tau: _pushed_by_vectors(
        xp, _change(xp, t, tau), _vectors(xp, x, tau), tau, unit_matrix(xp, x)
    ),
    tau=lambda xp, t, x, tau: _pushed_by_tau(xp, t, _vectors(xp, x, tau), tau, unit_matrix(xp, x)),
)
@vjp(
    x=lambda xp, g, x, tau: _below(
        xp, _pulled(xp, g, _vectors(xp, x, tau), tau, unit_matrix(xp, x))[0], x.shape
    ),
    tau=lambda xp, g, x, tau: _pulled(xp, g, _vectors(xp, x, tau), tau, unit_matrix(xp, x))[1],
)
@primitive(
    node="LinalgHouseholderProductBackward0",
    holomorphic=False,
    kernels=("triangular_solution",),
    order=column_major(),
)
def householder_product(xp, x, tau):
    """As many columns of Q = H_1 ... H_k as x has; the vectors are below the diagonal of x."""
    return _product(xp, _vectors(xp, x, tau), tau, unit_matrix(xp, x))


# --- products with Q -------------------------------------------------------------------------
# c Q is the adjoint of Q^H c^H, and Q^H is the product of the reflections in reverse.


def _turned(xp: Namespace, v: Array, tau: Array, turn: bool) -> tuple:
    """v and tau of Q, or with `turn` of Q^H; its own inverse."""
    return (xp.flip(v, axis=-1), _conj(xp, xp.flip(tau, axis=-1))) if turn else (v, tau)


def _sided(xp: Namespace, x: Array, left: bool) -> Any:
    return x if left else adjoint(xp, x)


@primitive(
    name="ormqr",
    node="OrmqrBackward0",
    holomorphic=False,
    kernels=("triangular_solution",),
    order=column_major(),
)
def reflected(xp, x, tau, c, *, left, transpose):
    """Q c or c Q, with Q or its adjoint."""
    v, tau = _turned(xp, _vectors(xp, x, tau), tau, left == transpose)
    return _sided(xp, _product(xp, v, tau, _sided(xp, c, left)), left)


def _pulled_all(
    xp: Namespace, g: Array, x: Array, tau: Array, c: Array, left: bool, transpose: bool
) -> tuple:
    turn = left == transpose
    v, tau = _turned(xp, _vectors(xp, x, tau), tau, turn)
    g_v, g_tau, g_c = _pulled(xp, _sided(xp, g, left), v, tau, _sided(xp, c, left))
    g_v, g_tau = _turned(xp, g_v, g_tau, turn)
    return _below(xp, g_v, x.shape), g_tau, _sided(xp, g_c, left)


def _pushed(
    xp: Namespace, t: Array, x: Array, tau: Array, c: Array, left: bool, transpose: bool
) -> Any:
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
    c=lambda xp, g, x, tau, left, transpose: reflected.on_arrays(
        xp, x, tau, g, left=left, transpose=not transpose
    ),
)
reflected.jvp(
    x=_pushed,
    tau=_pushed,
    c=lambda xp, t, x, tau, left, transpose: reflected.on_arrays(
        xp, x, tau, t, left=left, transpose=transpose
    ),
)


# --- the reflections of a matrix -------------------------------------------------------------


def _no_derivative(*_: Any) -> Any:
    text = "the derivative for 'geqrf' is not implemented."
    raise errors.not_implemented(text, "torch.linalg.qr has one.")


@jvp(x=lambda t: _no_derivative())
@vjp(x=lambda g_a, g_tau: _no_derivative())
@primitive(name="geqrf", outputs=("a", "tau"), kernels=("reflectors",), order=column_major())
def reflections(xp, x):
    """R on and above the diagonal of a, the vectors below it, and the factors tau."""
    return xp.reflectors(x)
