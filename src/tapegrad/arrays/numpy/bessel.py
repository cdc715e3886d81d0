"""Bessel and Airy functions on NumPy arrays, by SciPy, which is loaded at the first use of one."""

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array


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
