"""Samples of distances of vectors side by side, and of bilinear forms."""

from math import inf

from tests.samples.sample import Make, Sample, row

ORDERS = (0.0, 0.7, 1.0, 1.5, 2.0, 3.0, inf)


@row
def norm_along(make: Make) -> list:
    return [
        *(Sample(make.away(3, 4), order=p, axis=(1,), keepdims=False) for p in ORDERS),
        Sample(make.away(4, 3).T, order=2.0, axis=(0,), keepdims=True),
    ]


@row
def norm_of_difference(make: Make) -> list:
    return [
        *(Sample(make(3, 4), make(3, 4), order=p) for p in ORDERS),
        Sample(make(3, 4), make(4), order=2.0),
        Sample(make(), make(2, 1, 3), order=3.0),
    ]


@row
def trilinear(make: Make) -> list:
    return [
        Sample(make(3, 4), make(2, 4, 5), make(3, 5)),
        Sample(make(4, 3).T, make(2, 4, 5), make(3, 5)),
        Sample(make(0, 4), make(2, 4, 5), make(0, 5)),
    ]
