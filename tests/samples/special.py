"""Samples of special functions: Bessel, gamma and error functions, orthogonal polynomials."""

import numpy as np

from tests.samples.sample import Make, Sample, binary, row, unary

FAMILIES = (
    *("chebyshev_t", "chebyshev_u", "chebyshev_v", "chebyshev_w", "shifted_chebyshev_t"),
    *("hermite_h", "hermite_he", "laguerre_l", "legendre_p"),
)


@row
def orthogonal_polynomial(make: Make) -> list:
    degrees = np.array([-1.0, 0.0, 1.0, 2.0, 7.0, 9.5])
    return [Sample(make(3, 1), degrees, family=family) for family in FAMILIES]


@row
def modified_bessel_k0(make: Make) -> list:
    return unary(make, make.positive)


@row
def modified_bessel_k1(make: Make) -> list:
    return unary(make, make.positive)


@row
def scaled_modified_bessel_k0(make: Make) -> list:
    return unary(make, make.positive)


@row
def scaled_modified_bessel_k1(make: Make) -> list:
    return unary(make, make.positive)


@row
def airy_ai(make: Make) -> list:
    return unary(make)


@row
def spherical_bessel_j0(make: Make) -> list:
    return unary(make)


# --- special functions -----------------------------------------------------------------------


@row
def erf(make: Make) -> list:
    return unary(make)


@row
def erfc(make: Make) -> list:
    return unary(make)


@row
def erfinv(make: Make) -> list:
    return unary(make, lambda *shape: make(*shape, low=-0.8, high=0.8))


@row
def lgamma(make: Make) -> list:
    return unary(make, make.positive)


@row
def digamma(make: Make) -> list:
    return unary(make, lambda *shape: make.positive(*shape, low=0.7))


@row
def polygamma(make: Make) -> list:
    return unary(make, lambda *shape: make.positive(*shape, low=0.9), n=1)


@row
def i0(make: Make) -> list:
    return unary(make)


@row
def i0e(make: Make) -> list:
    return unary(make, make.away)


@row
def i1(make: Make) -> list:
    return unary(make, make.away)


@row
def i1e(make: Make) -> list:
    return unary(make, make.away)


@row
def bessel_j0(make: Make) -> list:
    return unary(make)


@row
def bessel_j1(make: Make) -> list:
    return unary(make)


@row
def bessel_y0(make: Make) -> list:
    return unary(make, make.positive)


@row
def bessel_y1(make: Make) -> list:
    return unary(make, make.positive)


@row
def modified_bessel_i0(make: Make) -> list:
    return unary(make)


@row
def modified_bessel_i1(make: Make) -> list:
    return unary(make)


@row
def log_ndtr(make: Make) -> list:
    return [*unary(make), Sample(make(3, low=-9, high=-3))]


@row
def ndtri(make: Make) -> list:
    return unary(make, lambda *shape: make(*shape, low=0.2, high=0.8))


@row
def erfcx(make: Make) -> list:
    return unary(make)


@row
def entr(make: Make) -> list:
    return unary(make, make.positive)


def _with_integer_order(make: Make) -> list:
    """Orders without a derivative, here integers."""
    return [
        Sample(make.integers(2, 3, low=1), make.positive(2, 3)),
        Sample(make.integers(3, low=1), make.positive(2, 1)),
    ]


@row
def igamma(make: Make) -> list:
    return _with_integer_order(make)


@row
def igammac(make: Make) -> list:
    return _with_integer_order(make)


@row
def mvlgamma(make: Make) -> list:
    few = unary(make, lambda *shape: make.positive(*shape, low=1.7), p=3)
    return [
        *few,
        Sample(make.positive(2, 3, low=25.0, high=30.0), p=40),
        Sample(make.positive(low=25.0, high=30.0), p=40),
    ]


@row
def zeta(make: Make) -> list:
    return [Sample(make.integers(2, 3, low=2), make.positive(2, 3, low=0.7))]


@row
def zeta_of_number(make: Make) -> list:
    return [Sample(make.positive(2, 3, low=0.7).T, 2.5), Sample(make.positive(low=0.7), 3)]


@row
def zeta_from_number(make: Make) -> list:
    return [Sample(make.integers(2, 3, low=2).T, 1.5)]


@row
def xlog1py(make: Make) -> list:
    return binary(make, make.away, make.positive)


@row
def number_log1p_y(make: Make) -> list:
    return [Sample(make.positive(2, 3).T, 0.5), Sample(make.positive(), 0)]


@row
def x_log1p_number(make: Make) -> list:
    return [Sample(make(2, 3).T, 0.5), Sample(make(), 3)]
