"""Orthogonal polynomials of any degree, by their recurrences over three terms."""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array, Callable

_FIRST: dict[str, Callable] = {
    "chebyshev_t": lambda x: x,
    "chebyshev_u": lambda x: 2 * x,
    "chebyshev_v": lambda x: 2 * x - 1,
    "chebyshev_w": lambda x: 2 * x + 1,
    "hermite_h": lambda x: 2 * x,
    "hermite_he": lambda x: x,
    "laguerre_l": lambda x: 1 - x,
    "legendre_p": lambda x: x,
}
_NEXT: dict[str, Callable] = {  # of degree k, from p of degree k - 2 and q of degree k - 1
    "chebyshev": lambda k, x, p, q: 2 * x * q - p,
    "hermite_h": lambda k, x, p, q: 2 * x * q - 2 * (k - 1) * p,
    "hermite_he": lambda k, x, p, q: x * q - (k - 1) * p,
    "laguerre_l": lambda k, x, p, q: ((2 * k - 1 - x) * q - (k - 1) * p) / k,
    "legendre_p": lambda k, x, p, q: ((2 * k - 1) * x * q - (k - 1) * p) / k,
}
_FEW = 6  # degrees up to which Chebyshev polynomials are computed by recurrence in (-1, 1), too


@kernel(elementwise=True)
def polynomial(x: Array, n: Any, family: str) -> Any:
    """The polynomial of degree `n`, an array of floats, at `x`: 0 for negative degrees."""
    if family[:8] == "shifted_":
        x, family = 2 * x - 1, family[8:]
    x, n = np.broadcast_arrays(x, np.trunc(n))
    n = np.where(np.isfinite(n), n, -1).astype(np.int64)
    out = np.asarray((n == 0).astype(x.dtype))
    rest = n > 0
    if family[:9] == "chebyshev":
        by_angle = rest & (n > _FEW) & (np.abs(x) <= 1)
        if by_angle.any():
            out[by_angle] = _chebyshev(x[by_angle], n[by_angle], family[-1])
            rest &= ~by_angle
    if rest.any():
        out[rest] = _recurrence(x[rest], n[rest], family)
    return out


def _recurrence(x: Array, n: Any, family: str) -> Any:
    """Degrees of 1 and more, for arrays of one axis."""
    p, q = np.ones_like(x), _FIRST[family](x)
    step = _NEXT.get(family) or _NEXT["chebyshev"]
    out = q.copy()
    for k in range(2, int(n.max()) + 1):
        p, q = q, step(k, x, p, q)
        np.copyto(out, q, where=n >= k)
        if not k % 64 and np.isnan(q[n >= k]).all():
            break  # beyond the largest number, and so are all higher degrees
    return out


def _chebyshev(x: Array, n: int, kind: str) -> Any:
    """Chebyshev polynomials at cosines: the definitions, and their limits at 1 and -1."""
    angle = np.arccos(x)
    if kind == "t":
        return np.cos(n * angle)
    sign = np.where(n % 2, -1, 1) if kind in "uv" else 1
    if kind == "u":
        y, inner = np.sin((n + 1) * angle), np.sin(angle)
        ends = np.where(x > 0, n + 1, (n + 1) * sign)
    elif kind == "v":
        y, inner = np.cos((n + 0.5) * angle), np.cos(angle / 2)
        ends = np.where(x > 0, 1, (2 * n + 1) * sign)
    else:
        y, inner = np.sin((n + 0.5) * angle), np.sin(angle / 2)
        ends = np.where(x > 0, 2 * n + 1, np.where(n % 2, -1, 1))
    at_end = np.abs(x) == 1
    return np.where(at_end, ends, y / np.where(at_end, 1, inner))
