"""Samples of conversions: other dtypes, complex numbers from real ones."""

from tapegrad.core.dtype import float64, int64
from tests.samples.sample import Sample, row


@row
def to_copy(make):
    return [
        Sample(make(), dtype=float64),
        Sample(make(2, 3).T, dtype=float64),
        Sample(make(0, 3), dtype=float64),
        Sample(make.integers(3), dtype=int64),
    ]


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


@row
def fill_with_number(make):
    return [
        Sample(make(), value=2.5),
        Sample(make(2, 3).T, value=-1.0),
        Sample(make.integers(3), value=7),
    ]


@row
def fill_with_one(make):
    return [Sample(make(), make()), Sample(make(2, 3).T, make()), Sample(make(0, 2), make())]
