"""Samples of choices between values: where, clamp, maximum, masked fills."""

from typing import Any

import numpy as np

from tests.samples.sample import Make, Sample, binary, row, unary


@row
def where(make: Make) -> list:
    return [
        Sample(make.mask(2, 3), make(2, 3), make(2, 3)),
        Sample(make.mask(3), make(2, 1), make()),
        Sample(make.mask(2, 1), make(3), 2),
        Sample(make.mask(2), 0.5, make(2)),
        Sample(make.mask(0), make(0), make(0)),
        Sample(make.mask(3), make.integers(3), make(3)),
    ]


@row
def clamp(make: Make) -> list:
    return [
        *(Sample(x.inputs[0], -0.55, 0.55) for x in unary(make, make.distinct)),
        Sample(make.distinct(4), None, 0.05),
        Sample(make.distinct(4), -0.05, None),
        Sample(make.integers(4), 1, 3),
    ]


@row
def clamp_to_tensors(make: Make) -> list:
    x = make.distinct(2, 6)
    return [
        Sample(x, np.full(6, -0.21), np.array(0.22)),
        Sample(x, None, x[::-1] + 0.03),
        Sample(x, x.T.reshape(2, 6) - 0.04, None),
        Sample(x, np.array(0.51), np.array(-0.52)),
    ]


@row
def clamp_min(make: Make) -> list:
    return [Sample(make.distinct(2, 3).T, 0.05), Sample(make.distinct(), 0)]


@row
def at_least(make: Make) -> list:
    return _never_equal(make)


@row
def clamp_max(make: Make) -> list:
    return [Sample(make.distinct(2, 3).T, 0.05), Sample(make.distinct(), 0)]


@row
def at_most(make: Make) -> list:
    return _never_equal(make)


def _never_equal(make: Make) -> list:
    return binary(make, make.distinct, lambda *shape: np.asarray(make.distinct(*shape) + 0.03))


@row
def maximum(make: Make) -> list:
    return _never_equal(make)


@row
def minimum(make: Make) -> list:
    return _never_equal(make)


@row
def fmax(make: Make) -> list:
    return _never_equal(make)


@row
def fmin(make: Make) -> list:
    return _never_equal(make)


@row
def fill_masked(make: Make) -> list:
    return [
        Sample(make(2, 3), make.mask(2, 3), 1.5),
        Sample(make(3), make.mask(2, 1), 2),
        Sample(make.integers(3), make.mask(3), 7),
    ]


@row
def fill_masked_with(make: Make) -> list:
    return [Sample(make(2, 3), make.mask(2, 3), make()), Sample(make(3), make.mask(2, 1), make())]


@row
def nan_to_num(make: Make) -> list:
    numbers: dict[str, Any] = {"nan": 0.0, "posinf": None, "neginf": None}
    return [*unary(make, **numbers), Sample(make.integers(3), **numbers)]
