"""Special functions on NumPy arrays, by SciPy, which is loaded at the first use of one."""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array


@kernel(elementwise=True)
def erf(x: Array, /) -> Any:
    from scipy.special import erf

    return erf(x)


@kernel(elementwise=True)
def erfc(x: Array, /) -> Any:
    from scipy.special import erfc

    return erfc(x)


@kernel(elementwise=True)
def erfinv(x: Array, /) -> Any:
    from scipy.special import erfinv

    return erfinv(x)


@kernel(elementwise=True)
def lgamma(x: Array, /) -> Any:
    from scipy.special import gammaln

    return np.where(np.isinf(x), np.inf, gammaln(x))


@kernel(elementwise=True)
def digamma(x: Array, /) -> Any:
    """At the poles: infinite at zero, by its sign, and nan at the negative integers."""
    from scipy.special import psi

    y = psi(x)
    y = np.where(x == 0, np.copysign(np.inf, -x), y)
    return np.where((x < 0) & (np.floor(x) == x), np.asarray(np.nan, x.dtype), y)


@kernel(elementwise=True)
def polygamma(x: Array, /, *, n: int) -> Any:
    """The derivative of order n of digamma: a Hurwitz zeta function, reflected for x < 0."""
    from scipy.special import gamma, zeta

    sign = 1.0 if n % 2 else -1.0
    y = sign * gamma(n + 1.0) * zeta(n + 1.0, x)
    return np.asarray(y, x.dtype)


@kernel(elementwise=True)
def i0(x: Array, /) -> Any:
    from scipy.special import i0

    return i0(x)


@kernel(elementwise=True)
def i0e(x: Array, /) -> Any:
    from scipy.special import i0e

    return i0e(x)


@kernel(elementwise=True)
def i1(x: Array, /) -> Any:
    from scipy.special import i1

    return i1(x)


@kernel(elementwise=True)
def i1e(x: Array, /) -> Any:
    from scipy.special import i1e

    return i1e(x)


@kernel(elementwise=True)
def bessel_j0(x: Array, /) -> Any:
    from scipy.special import j0

    return j0(x)


@kernel(elementwise=True)
def bessel_j1(x: Array, /) -> Any:
    from scipy.special import j1

    return j1(x)


@kernel(elementwise=True)
def bessel_y0(x: Array, /) -> Any:
    from scipy.special import y0

    return y0(x)


@kernel(elementwise=True)
def bessel_y1(x: Array, /) -> Any:
    from scipy.special import y1

    return y1(x)


@kernel(elementwise=True)
def log_ndtr(x: Array, /) -> Any:
    from scipy.special import log_ndtr

    return log_ndtr(x)


@kernel(elementwise=True)
def ndtri(x: Array, /) -> Any:
    from scipy.special import ndtri

    return ndtri(x)


@kernel(elementwise=True)
def erfcx(x: Array, /) -> Any:
    from scipy.special import erfcx

    return erfcx(x)


@kernel(elementwise=True)
def gammainc(a: Array, x: Array, /) -> Any:
    from scipy.special import gammainc

    return gammainc(a, x)


@kernel(elementwise=True)
def gammaincc(a: Array, x: Array, /) -> Any:
    from scipy.special import gammaincc

    return gammaincc(a, x)


@kernel(elementwise=True)
def zeta(x: Array, q: Array, /) -> Any:
    from scipy.special import zeta

    return zeta(x, q)


@kernel(elementwise=True)
def bessel_k0(x: Array, /) -> Any:
    from scipy.special import k0

    return k0(x)


@kernel(elementwise=True)
def bessel_k1(x: Array, /) -> Any:
    from scipy.special import k1

    return k1(x)


@kernel(elementwise=True)
def bessel_k0e(x: Array, /) -> Any:
    from scipy.special import k0e

    return k0e(x)


@kernel(elementwise=True)
def bessel_k1e(x: Array, /) -> Any:
    from scipy.special import k1e

    return k1e(x)


@kernel(elementwise=True)
def airy_ai(x: Array, /) -> Any:
    from scipy.special import airy

    return airy(x)[0]
