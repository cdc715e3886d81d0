"""How gamma and Dirichlet numbers move with their parameters, at a fixed probability.

With F the cumulative probability and p the density, `F(x(a), a)` stays as it is, so that
`dx/da = -(dF/da) / p(x)`. `dF/da` is the integral of `(log t - mean of log t) p(t)` from the end of
the support to x, or to the other end with the other sign: the side with less mass is taken, where
the integrand is one smooth hump in the logarithm (or logit) of t, which 80 nodes integrate.

Source: Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018, equation 5.
"""

from functools import lru_cache

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array, Callable

_DEPTH = 45.0  # where the integrand is below exp(-45) of its first value
_STEPS = 60  # halvings of the interval in which that is sought


@kernel(elementwise=True)
def standard_gamma_slope(a: Array, x: Array, /) -> Any:
    """dx/da of a gamma number x of shape a and rate 1."""
    dtype = np.result_type(a, x)
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    from scipy.special import psi

    mean_log = psi(a)
    is_low = x < a
    direction = np.where(is_low, -1.0, 1.0)
    log_x = np.log(x)

    def log_height(u: Array) -> Any:
        """log of `t p(t)` over its value at x, where t = x exp(direction u)."""
        return a * direction * u - x * np.expm1(direction * u)

    with np.errstate(all="ignore"):
        low_end = (_DEPTH + x) / a
        high_end = np.log1p(2 * (_DEPTH + a * np.log1p(_DEPTH / a)) / x) + 1
        end = _end(log_height, np.where(is_low, low_end, high_end))
        total = 0.0
        for node, weight in zip(*_nodes(), strict=True):
            u = end * node
            total = total + weight * (log_x + direction * u - mean_log) * np.exp(log_height(u))
        slope = direction * x * end * total
    return np.where((a > 0) & (x > 0), slope, np.where(np.isnan(a + x), np.nan, 0.0)).astype(dtype)


@kernel(elementwise=True)
def dirichlet_slope(x: Array, alpha: Array, total: Array, /) -> Any:
    """dx/dalpha over 1 - x, of a beta number x of the parameters alpha and total - alpha."""
    dtype = np.result_type(x, alpha, total)
    x, alpha, total = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (x, alpha, total)))
    from scipy.special import psi

    beta = total - alpha
    mean_log = psi(alpha) - psi(total)
    is_low = x * total < alpha
    direction = np.where(is_low, -1.0, 1.0)
    log_x, rest = np.log(x), np.log1p(-x)

    def logs(u: Array) -> tuple:
        """log t and log(1 - t), where the logit of t is that of x + direction u."""
        logit = log_x - rest + direction * u
        return -np.logaddexp(0, -logit), -np.logaddexp(0, logit)

    def log_height(u: Array) -> Any:
        log_t, log_rest = logs(u)
        return alpha * (log_t - log_x) + beta * (log_rest - rest)

    with np.errstate(all="ignore"):
        low_end = (_DEPTH - total * rest) / alpha
        high_end = (_DEPTH - total * log_x) / beta
        end = _end(log_height, np.where(is_low, low_end, high_end))
        area = 0.0
        for node, weight in zip(*_nodes(), strict=True):
            u = end * node
            log_t, log_rest = logs(u)
            height = np.exp(alpha * (log_t - log_x) + beta * (log_rest - rest))
            area = area + weight * (log_t - mean_log) * height
        slope = direction * x * end * area
    return slope.astype(dtype)


def _end(log_height: Callable, far: Array) -> Any:
    """Where a concave function that starts at 0 and falls reaches -_DEPTH, before `far`."""
    near = np.zeros_like(far)
    for _ in range(_STEPS):
        middle = 0.5 * (near + far)
        is_above = log_height(middle) > -_DEPTH
        near = np.where(is_above, middle, near)
        far = np.where(is_above, far, middle)
    return far


@lru_cache(1)
def _nodes() -> tuple[list, list]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    return (0.5 * (nodes + 1)).tolist(), (0.5 * weights).tolist()
