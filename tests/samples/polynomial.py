"""Samples of orthogonal polynomials, of Bessel functions of the second kind, of Airy's."""

import numpy as np

from tests.samples.sample import Make, Sample, row, unary

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
