"""Samples of Bessel functions, of the normal distribution, of incomplete gamma functions."""

from tests.samples.sample import Make, Sample, binary, row, unary


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
    return unary(make, lambda *shape: make.positive(*shape, low=1.7), p=3)


@row
def zeta(make: Make) -> list:
    return [Sample(make.integers(2, 3, low=2), make.positive(2, 3, low=0.7))]


@row
def xlog1py(make: Make) -> list:
    numbers = [Sample(make(3), 0.5), Sample(0.5, make.positive(3))]
    return [*binary(make, make.away, make.positive), *numbers]
