"""Samples of gated units and of random slopes."""

from tests.samples.sample import Make, Sample, row, unary


@row
def gated(make: Make) -> list:
    return [Sample(make(2, 4), axis=1), Sample(make(3, 4).T, axis=0), Sample(make(2, 6, 0), axis=1)]


@row
def sloped(make: Make) -> list:
    return [Sample(make(2, 3), make.positive(2, 3), fixed=(1,))]


@row
def mean_slope(make: Make) -> list:
    return unary(make, make.away, slope=0.2)
