"""Samples of counts, searches and reduced slices."""

import numpy as np

from tests.samples.sample import Make, Sample, row


@row
def places_in(make: Make) -> list:
    rows = np.sort(make(2, 4), -1)
    return [
        Sample(np.sort(make(5)), make(2, 3), right=False, reference=np.searchsorted),
        Sample(rows, make(2, 3), right=True),
        Sample(np.sort(make(5)), make(), right=False),
        Sample(np.array([1.0, np.nan]), np.array([0.5, 5.0, np.nan]), right=False),
    ]


@row
def members(make: Make) -> list:
    return [
        Sample(make.integers(2, 3), make.integers(4), unique=False, invert=False),
        Sample(make.integers(3), make.integers(0), unique=False, invert=True),
        Sample(make.integers(), make.integers(2), unique=False, invert=False),
    ]


@row
def bincount(make: Make) -> list:
    return [
        Sample(make.integers(6), None, minimum=0),
        Sample(make.integers(0), None, minimum=2),
        Sample(make.integers(4), make.integers(4) * 1.0, minimum=7, fixed=(1,)),
    ]


@row
def histc(make: Make) -> list:
    return [Sample(make(9), low=-1.0, high=1.5, bins=4), Sample(make(0), low=0.0, high=1.0, bins=2)]


@row
def index_extremum(make: Make) -> list:
    index = np.array([[0, 0, 0], [2, 2, 2], [0, 0, 0]])
    x, values = make.distinct(4, 3), make.distinct(3, 3) + 0.02
    return [
        Sample(x, values, index, axis=0, how="amax", include=True),
        Sample(x, values, index, axis=0, how="amin", include=False),
    ]


@row
def index_product(make: Make) -> list:
    index = np.array([[0, 0, 0], [2, 2, 2], [0, 0, 0]])
    return [
        Sample(make.away(4, 3), make.away(3, 3), index, axis=0, include=True),
        Sample(make.away(4, 3), make.away(3, 3), index, axis=0, include=False),
    ]


@row
def index_total(make: Make) -> list:
    index = np.array([[0, 0, 0], [2, 2, 2], [0, 0, 0]])
    return [
        Sample(make(4, 3), make(3, 3), index, axis=0, mean=True, include=True),
        Sample(make(4, 3), make(3, 3), index, axis=0, mean=True, include=False),
    ]
