"""Functions of square matrices, in batches: the exponential, cofactors and their change."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.arrays.factor import lu_packed


def matrix_exponential(a: Any) -> Any:
    """exp(A) = I + A + A^2/2 + A^3/6 + ...

    Source: scaling and squaring with Pade approximants, Al-Mohy and Higham, 2009 (scipy's expm).
    """
    from scipy.linalg import expm

    if not a.size:
        return a.copy()
    finite = np.isfinite(a).all(axis=(-2, -1))
    if finite.all():
        return expm(a)
    result = expm(np.where(finite[..., None, None], a, 0))
    return np.where(finite[..., None, None], result, np.asarray(np.nan, a.dtype))


_MANY = 64  # matrices from which on a loop over them is slower than NumPy's determinant


def determinants(a: Any) -> Any:
    """The product of the pivots: NumPy's goes through the logarithm, which costs the last digits.

    Of the transpose, as in PyTorch, where that is what LAPACK reads without a copy.
    """
    if not 0 < a.size <= _MANY * a.shape[-1] * a.shape[-2]:
        return np.asarray(np.linalg.det(a))
    lu, pivots, _ = lu_packed(a.mT if a.dtype.kind == "f" and a.flags.c_contiguous else a)
    swaps = np.count_nonzero(pivots != np.arange(1, a.shape[-1] + 1), axis=-1)
    return np.asarray(np.prod(lu.diagonal(0, -2, -1), axis=-1) * (1 - 2 * (swaps % 2)), a.dtype)


def cofactors(a: Any) -> Any:
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


def _regular(a: Any) -> Any:
    scaled = determinants(a)[..., None, None] * np.eye(a.shape[-1], dtype=a.dtype)
    return np.linalg.solve(a.mT, scaled)


def _singular(a: Any) -> tuple:
    u, s, vh = np.linalg.svd(a)
    return u, s, vh, np.linalg.det(u) * np.linalg.det(vh)


def _without(s: Any, count: int) -> Any:
    """Products of all singular values but one (..., n), or but two (..., n, n; 0 for i = j)."""
    n = s.shape[-1]
    one = np.eye(n, dtype=bool)
    if count == 1:
        return np.where(one, 1, s[..., None, :]).prod(-1)
    two = one[:, None, :] | one[None, :, :]
    return np.where(two, 1, s[..., None, None, :]).prod(-1) * ~one


def cofactor_change(a: Any, direction: Any) -> Any:
    """How the cofactors of A change along a direction F: their derivative, linear in F.

    det(A) (<F, N> N - N F^T N) with N = A^-T; where A is singular the same from singular values:
    with A diagonal, element (i, j) is -F_ji, and (i, i) the sum of all F_jj, each times the
    product of the diagonal without i and j.
    """
    try:
        turned = np.linalg.inv(a).mT
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
