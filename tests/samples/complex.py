"""Samples of complex numbers: from their parts, and their parts."""

from tests.samples.sample import Make, Sample, row, unary


@row
def join_parts(make):
    return [Sample(make(), make()), Sample(make(2, 3), make(3)), Sample(make(2, 0), make(2, 0))]


@row
def join_polar(make):
    return [
        Sample(make.positive(), make()),
        Sample(make.positive(2, 3), make(3)),
        Sample(make.positive(2, 0), make(2, 0)),
    ]


# --- parts of complex numbers ----------------------------------------------------------------


@row
def conj(make: Make) -> list:
    return [*unary(make, make.complex), Sample(make(3))]


@row
def conj_physical(make: Make) -> list:
    return [*unary(make, make.complex), Sample(make(3))]


@row
def _neg_view(make: Make) -> list:
    return [*unary(make, make.complex), Sample(make(3))]


@row
def real_part(make: Make) -> list:
    return unary(make, make.complex)


@row
def imaginary_part(make: Make) -> list:
    return unary(make, make.complex)


@row
def angle(make: Make) -> list:
    return [*unary(make, make.away), *unary(make, make.complex)]
