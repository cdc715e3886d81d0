"""Functions of square matrices, in batches: the exponential, cofactors and their change."""

from math import comb, factorial

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.cholesky_lu_solve import is_small, lu_packed, lu_solution
from tapegrad.arrays.numpy.singular import inv, solve
from tapegrad.core.annotations import Any, Array

_BOUNDS = {
    8: {3: 1.495585217958292e-2, 5: 0.253939833006323, 7: 0.9504178996162932, 9: 2.097847961257068},
    4: {3: 0.4258730016922831, 5: 1.880152677804762},
}
"""By bytes of a number, and then by degree: the 1-norm up to which it is exact to rounding."""

_LAST = {8: (13, 4.25), 4: (7, 3.92572478313866)}
"""The highest degree, and the 1-norm from which on the matrix is halved first."""


@kernel
def matrix_exponential(a: Array) -> Any:
    """exp(A) = I + A + A^2/2 + A^3/6 + ...: of A/2^s by a Pade approximant, and squared s times.

    Source: Higham, The scaling and squaring method for the matrix exponential revisited, 2005,
    with the bounds of the 1-norm for each degree; that of degree 13: Al-Mohy and Higham, 2009.
    """
    if not a.size:
        return a.copy()
    if a.shape[-1] == 1:
        return np.exp(a)
    norm = np.abs(a).sum(-2).max(-1)
    finite = np.isfinite(norm)
    if not finite.all():
        a, norm = np.where(finite[..., None, None], a, 0), np.where(finite, norm, 0)
    last, limit = _LAST[norm.dtype.itemsize]
    bounds = _BOUNDS[norm.dtype.itemsize]
    largest = norm.max()
    degree = next((m for m, bound in bounds.items() if largest <= bound), last)
    halvings = np.ceil(np.log2(np.maximum(norm / limit, 1)))
    if largest > limit:
        a = a * np.exp2(-halvings).astype(norm.dtype)[..., None, None]
    x = _pade(a, degree)
    for i in range(int(halvings.max())):
        x = np.where((halvings > i)[..., None, None], x @ x, x)
    return x if finite.all() else np.where(finite[..., None, None], x, np.asarray(np.nan, x.dtype))


def _pade(a: Array, degree: int) -> Any:
    """q(A)^-1 p(A), with p of that degree and q(A) = p(-A)."""
    factors = [
        comb(degree, j) * factorial(2 * degree - j) / factorial(2 * degree)
        for j in range(degree + 1)
    ]
    power = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    even, odd = factors[0] * power, factors[1] * power
    square = a @ a
    for j in range(2, degree + 1, 2):
        power = square if j == 2 else power @ square
        even = even + factors[j] * power
        if j < degree:
            odd = odd + factors[j + 1] * power
    odd = a @ odd
    return np.linalg.solve(even - odd, even + odd)


_MANY = 16  # matrices from which on a loop over them is slower than NumPy's determinant


@kernel
def determinants(a: Array) -> Any:
    """The product of the pivots: NumPy's goes through the logarithm, which costs the last digits.

    Of the transpose, as in PyTorch, where that is what LAPACK reads without a copy.
    """
    if not 0 < a.size <= _MANY * a.shape[-1] * a.shape[-2]:
        return np.asarray(np.linalg.det(a))
    lu, pivots, _ = lu_packed(a.mT if a.dtype.kind == "f" and a.flags.c_contiguous else a)
    return _of_factors(lu, pivots)


def _of_factors(lu: Array, pivots: Array) -> Any:
    """The determinants of matrices from their packed factors."""
    swaps = np.count_nonzero(pivots != np.arange(1, lu.shape[-1] + 1), axis=-1)
    return np.asarray(np.prod(lu.diagonal(0, -2, -1), axis=-1) * (1 - 2 * (swaps % 2)), lu.dtype)


@kernel
def cofactors(a: Array) -> Any:
    """The derivative of det(A) by each element: det(A) A^-T, also where A is singular.

    There from the singular values: with A = U S V^H it is det(U V^H) conj(U) cof(S) V^T.
    """
    try:
        return _regular(a)
    except np.linalg.LinAlgError:
        pass
    found = np.empty(a.shape, a.dtype)
    singular = determinants(a) == 0
    regular = ~singular
    if regular.any():
        try:
            found[regular] = _regular(a[regular])
        except np.linalg.LinAlgError:  # the determinant underflows or not as rounding goes
            singular = np.ones_like(singular)
    u, s, vh, phase = _singular(a[singular])
    products = _without(s, 1)
    found[singular] = phase[..., None, None] * ((u.conj() * products[..., None, :]) @ vh.conj())
    return found


def _regular(a: Array) -> Any:
    if not is_small(a):
        lu, pivots, info = lu_packed(a.mT)
        if info.any():
            raise np.linalg.LinAlgError
        scaled = _of_factors(lu, pivots)[..., None, None] * np.eye(a.shape[-1], dtype=a.dtype)
        return lu_solution(lu, pivots, scaled, True, False)
    scaled = determinants(a)[..., None, None] * np.eye(a.shape[-1], dtype=a.dtype)
    return solve(a.mT, scaled)


def _singular(a: Array) -> tuple:
    u, s, vh = np.linalg.svd(a)
    return u, s, vh, np.linalg.det(u) * np.linalg.det(vh)


def _without(s: Array, count: int) -> Any:
    """Products of all singular values but one (..., n), or but two (..., n, n; 0 for i = j)."""
    n = s.shape[-1]
    one = np.eye(n, dtype=bool)
    if count == 1:
        return np.where(one, 1, s[..., None, :]).prod(-1)
    two = one[:, None, :] | one[None, :, :]
    return np.where(two, 1, s[..., None, None, :]).prod(-1) * ~one


@kernel
def cofactor_change(a: Array, direction: Any) -> Any:
    """How the cofactors of A change along a direction F: their derivative, linear in F.

    det(A) (<F, N> N - N F^T N) with N = A^-T; where A is singular the same from singular values:
    with A diagonal, element (i, j) is -F_ji, and (i, i) the sum of all F_jj, each times the
    product of the diagonal without i and j.
    """
    try:
        turned = inv(a).mT
        det = determinants(a)[..., None, None]
        total = np.sum(turned * direction, axis=(-2, -1), keepdims=True)
        return det * (total * turned - turned @ direction.mT @ turned)
    except np.linalg.LinAlgError:
        pass
    u, s, vh, phase = _singular(a)
    core = u.mT.conj() @ direction @ vh.mT.conj()
    products = _without(s, 2)
    diagonal = np.diagonal(core, 0, -2, -1)
    changed = -products * core.mT
    changed += np.eye(s.shape[-1]) * (products @ diagonal[..., None])
    return phase[..., None, None] * (u.conj() @ changed @ vh.conj())
