"""Samples of arithmetic: sums, products, quotients, powers."""

from tests.samples.sample import Make, Sample, binary, row, unary


@row
def add(make: Make) -> list:
    return [*binary(make), Sample(make(2), 3), Sample(make(2), 0.5), Sample(2, make(2))]


@row
def add_scaled(make: Make) -> list:
    return binary(make, alpha=2.5)


@row
def sub(make: Make) -> list:
    return [*binary(make), Sample(make(2), 3), Sample(0.5, make(2))]


@row
def sub_scaled(make: Make) -> list:
    return binary(make, alpha=2.5)


@row
def rsub_scaled(make: Make) -> list:
    return [*binary(make, alpha=2.5), *binary(make, alpha=1)]


@row
def subtract_from(make: Make) -> list:
    return [Sample(make(2, 3).T, 3), Sample(make(), 0.5), Sample(make(0), 1)]


@row
def mul(make: Make) -> list:
    numbers = [Sample(make(2), 3), Sample(0.5, make(2)), Sample(make(2), 1j)]
    return [
        *binary(make),
        *numbers,
        Sample(make.complex(2), make(2)),
        Sample(make.mask(3), make(3)),
    ]


@row
def neg(make: Make) -> list:
    return [*unary(make), Sample(make.integers(3)), Sample(make.complex(2))]


@row
def addcmul(make: Make) -> list:
    return [
        Sample(make(2, 3), make(2, 3), make(2, 3), value=1),
        Sample(make(3), make(2, 1), make(), value=0.5),
        Sample(make(), make(2), make(2), value=-2),
    ]


@row
def addcdiv(make: Make) -> list:
    return [
        Sample(make(2, 3), make(2, 3), make.away(2, 3), value=1),
        Sample(make(3), make(2, 1), make.away(), value=0.5),
        Sample(make(), make(2), make.away(2), value=-2),
    ]


@row
def lerp_number(make: Make) -> list:
    return [*binary(make, weight=0.25), *binary(make, weight=0.75), *binary(make, weight=2)]


@row
def lerp_tensor(make: Make) -> list:
    return [
        Sample(make(2, 3), make(2, 3), make.away(2, 3)),
        Sample(make(3), make(2, 1), make.away()),
        Sample(make(0), make(0), make(0)),
    ]


# --- division --------------------------------------------------------------------------------


@row
def div(make: Make) -> list:
    numbers = [Sample(make(2), 3), Sample(0.5, make.away(2)), Sample(make.integers(3), 2)]
    return [*binary(make, make, make.away), *numbers]


@row
def reciprocal(make: Make) -> list:
    return [*unary(make, make.away), Sample(make.complex(2))]


@row
def div_rounded(make: Make) -> list:
    a, b = make.integers(4, low=-9, high=9), make.integers(4, low=1)
    return [
        *binary(make, make, make.away, rounding_mode="floor"),
        *binary(make, make, make.away, rounding_mode="trunc"),
        Sample(make.positive(3), 0.7, rounding_mode="trunc"),
        Sample(a, -b, rounding_mode="floor"),
        Sample(a, -b, rounding_mode="trunc"),
    ]


def _whole(make: Make) -> list:
    """Integers, for operators whose derivative is not defined."""
    a, b = make.integers(4, low=-9, high=9), make.integers(4, low=1)
    return [Sample(a, b), Sample(a, -b), Sample(a, 2), Sample(a.reshape(2, 2).T, b[:2])]


@row
def floor_divide(make: Make) -> list:
    return [*_whole(make), Sample(7, make.integers(3, low=1))]


@row
def remainder(make: Make) -> list:
    return [*binary(make, make, make.away), *_whole(make)]


@row
def remainder_number(make: Make) -> list:
    return [Sample(make(2, 3).T, 0.7), Sample(make(), -2), Sample(make.integers(3), 3)]


@row
def remainder_of_number(make: Make) -> list:
    return [Sample(make.integers(3, low=1), 7), Sample(make.integers(3, low=1), -7)]


@row
def fmod(make: Make) -> list:
    return [*binary(make, make, make.away), *_whole(make)]


@row
def fmod_number(make: Make) -> list:
    return [Sample(make(2, 3).T, 0.7), Sample(make(), -2), Sample(make.integers(3, low=-9), 3)]


# --- powers ----------------------------------------------------------------------------------


@row
def sqrt(make: Make) -> list:
    return unary(make, make.positive)


@row
def rsqrt(make: Make) -> list:
    return unary(make, make.positive)


@row
def pow_(make: Make) -> list:
    exponents = (0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 1.7)
    return [
        *(Sample(make.positive(2, 3).T, exponent) for exponent in exponents),
        Sample(make.away(), 3),
        Sample(make(0), 2),
        Sample(make.integers(4, low=-3), 5),
        Sample(make.complex(3), 2.5),
    ]


@row
def power(make: Make) -> list:
    whole = make.integers(4, low=-2, high=3)
    return [
        *binary(make, make.positive, make),
        Sample(make.complex(3), make.complex(3)),
        Sample(whole, whole),
        Sample(whole, abs(whole)),
    ]


@row
def power_of_number(make: Make) -> list:
    return [Sample(make(2, 3).T, 2), Sample(make(), 0.5), Sample(make.positive(3), 0)]


@row
def plus_number(make: Make) -> list:
    return unary(make, number=0.3)


@row
def minus_number(make: Make) -> list:
    return unary(make, number=0.3)


@row
def times_number(make: Make) -> list:
    return unary(make, number=0.3)


@row
def over_number(make: Make) -> list:
    return unary(make, number=0.3)
