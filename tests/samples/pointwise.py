"""Samples of functions of each element."""

import numpy as np

from tests.samples.sample import Make, Sample, binary, row, unary


def _complex(make: Make) -> list:
    """For functions that are analytic: complex numbers, too."""
    return [*unary(make), Sample(make.complex(2, 3).T)]


def _inside(make: Make, margin: float = 0.1) -> list:
    """Between -1 and 1."""
    return unary(make, lambda *shape: make(*shape, low=margin - 1, high=1 - margin))


@row
def exp(make: Make) -> list:
    return _complex(make)


@row
def exp2(make: Make) -> list:
    return unary(make)


@row
def expm1(make: Make) -> list:
    return _complex(make)


@row
def log(make: Make) -> list:
    return [*unary(make, make.positive), Sample(make.complex(3))]


@row
def log2(make: Make) -> list:
    return unary(make, make.positive)


@row
def log10(make: Make) -> list:
    return unary(make, make.positive)


@row
def log1p(make: Make) -> list:
    return unary(make, lambda *shape: make(*shape, low=-0.5, high=3))


@row
def sigmoid(make: Make) -> list:
    return [*_complex(make), Sample(make(3, low=-30, high=30)), Sample(make.integers(3))]


@row
def sigmoid_backward(make: Make) -> list:
    return binary(make)


@row
def logit(make: Make) -> list:
    def between(*shape: int) -> np.ndarray:
        return make(*shape, low=0.2, high=0.8)

    return [*unary(make, between, eps=None), Sample(make(5, low=0.01, high=0.95), eps=0.1)]


@row
def logaddexp(make: Make) -> list:
    return binary(make)


@row
def logaddexp2(make: Make) -> list:
    return binary(make)


@row
def xlogy(make: Make) -> list:
    return [*binary(make, make.away, make.positive), Sample(make.integers(3), make.positive(3))]


@row
def number_log_y(make: Make) -> list:
    return [Sample(make.positive(2, 3).T, 0.5), Sample(make.positive(), 0)]


@row
def x_log_number(make: Make) -> list:
    return [Sample(make(2, 3).T, 0.5), Sample(make(), 3)]


# --- angles ----------------------------------------------------------------------------------


@row
def sin(make: Make) -> list:
    return _complex(make)


@row
def cos(make: Make) -> list:
    return _complex(make)


@row
def tan(make: Make) -> list:
    return unary(make, lambda *shape: make(*shape, low=-1, high=1))


@row
def asin(make: Make) -> list:
    return _inside(make)


@row
def acos(make: Make) -> list:
    return _inside(make)


@row
def atan(make: Make) -> list:
    return unary(make)


@row
def sinh(make: Make) -> list:
    return _complex(make)


@row
def cosh(make: Make) -> list:
    return _complex(make)


@row
def tanh(make: Make) -> list:
    return [*_complex(make), Sample(make(3, low=-9, high=9))]


@row
def tanh_backward(make: Make) -> list:
    return binary(make)


@row
def asinh(make: Make) -> list:
    return unary(make)


@row
def acosh(make: Make) -> list:
    return unary(make, lambda *shape: make(*shape, low=1.2, high=3))


@row
def atanh(make: Make) -> list:
    return _inside(make)


@row
def atan2(make: Make) -> list:
    return binary(make, make.away)


@row
def hypot(make: Make) -> list:
    return binary(make, make.away)


@row
def copysign(make: Make) -> list:
    return binary(make, make.away)


@row
def with_sign_of_number(make: Make) -> list:
    return [Sample(make.away(2, 3).T, -2.0), Sample(make.away(), 0)]


@row
def deg2rad(make: Make) -> list:
    return unary(make)


@row
def rad2deg(make: Make) -> list:
    return unary(make)


# --- steps -----------------------------------------------------------------------------------


def _between_steps(make: Make) -> list:
    def between(*shape: int) -> np.ndarray:
        return np.asarray(np.floor(make(*shape)) + make(*shape, low=0.1, high=0.4))

    return unary(make, between)


@row
def abs_(make: Make) -> list:
    return [*unary(make, make.away), Sample(make.integers(3, low=-3)), Sample(make.complex(3))]


@row
def sign(make: Make) -> list:
    return [*unary(make, make.away), Sample(make.integers(3, low=-3))]


@row
def sgn(make: Make) -> list:
    return [*unary(make, make.away), Sample(make.complex(3))]


@row
def floor(make: Make) -> list:
    return [*_between_steps(make), Sample(make.integers(3))]


@row
def ceil(make: Make) -> list:
    return [*_between_steps(make), Sample(make.integers(3))]


@row
def trunc(make: Make) -> list:
    return [*_between_steps(make), Sample(make.integers(3))]


@row
def frac(make: Make) -> list:
    return _between_steps(make)


@row
def round_(make: Make) -> list:
    return [*_between_steps(make), Sample(make.integers(3))]


@row
def round_decimals(make: Make) -> list:
    exact = np.array([0.12, -3.41, 27.89])  # 0.02 or more from where two decimals' halves are
    return [Sample(exact, decimals=1), Sample(exact, decimals=-1), Sample(exact, decimals=0)]


def _never_equal(make: Make) -> list:
    return binary(make, make.distinct, lambda *shape: np.asarray(make.distinct(*shape) + 0.03))


# --- parts of numbers ------------------------------------------------------------------------


@row
def mantissa_and_exponent(make: Make) -> list:
    return unary(make, lambda *shape: make(*shape, low=1.1, high=1.9))


@row
def ldexp(make: Make) -> list:
    return binary(make)


@row
def nextafter(make: Make) -> list:
    return _never_equal(make)


@row
def narrow_neighbour(make: Make) -> list:
    return _never_equal(make)


@row
def heaviside(make: Make) -> list:
    return [Sample(make.integers(2, 3, low=-1, high=2), make.integers(3))]


@row
def sinc(make: Make) -> list:
    return unary(make, make.away)


def _odd_numbers(make: Make) -> list:
    return [*unary(make), Sample(np.array([np.nan, np.inf, -np.inf, 0.0]))]


@row
def signbit(make: Make) -> list:
    return [*_odd_numbers(make), Sample(make.integers(3, low=-3)), Sample(make.mask(3))]


@row
def isposinf(make: Make) -> list:
    return [*_odd_numbers(make), Sample(make.integers(3))]


@row
def isneginf(make: Make) -> list:
    return [*_odd_numbers(make), Sample(make.integers(3))]


@row
def isreal(make: Make) -> list:
    return [*unary(make), Sample(make.complex(3)), Sample(make.integers(3))]


@row
def gcd(make: Make) -> list:
    return [Sample(make.integers(2, 3, low=-9, high=9), make.integers(3))]


@row
def lcm(make: Make) -> list:
    return [Sample(make.integers(2, 3, low=-9, high=9), make.integers(3))]
