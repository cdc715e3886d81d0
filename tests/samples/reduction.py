"""Samples of reductions, sorting, searching and running sums."""

import numpy as np

from tests.samples.sample import Make, Sample, row


@row
def linalg__powsum(make: Make) -> list:
    x = make(2, 3)
    orders = [0.0, 1.0, 2.0, 3.0, 0.5, float("inf")]
    found = [Sample(x, fixed=(0,), order=order, axis=(0, 1), keepdims=False) for order in orders]
    return [*found, Sample(x, fixed=(0,), order=3.0, axis=(1,), keepdims=True)]


@row
def vector_norm(make: Make) -> list:
    found = [
        Sample(make.away(2, 3), order=order, axis=axis, keepdims=keepdims)
        for order in (2.0, 1.0, 3.0, 0.5, 0.0, float("inf"))
        for axis, keepdims in (((0,), False), ((0, 1), True))
    ]
    return [*found, Sample(make.away(), order=2.0, axis=(), keepdims=False)]


def along(make: Make, array=None, **params) -> list:
    """Each axis of small arrays, kept or not."""
    array = array or make
    found = []
    for keepdims in (False, True):
        found += [
            Sample(array(2, 3), axis=0, keepdims=keepdims, **params),
            Sample(array(2, 3).T, axis=1, keepdims=keepdims, **params),
            Sample(array(4), axis=0, keepdims=keepdims, **params),
        ]
    return found


def over(make: Make, array=None, empty=True, **params) -> list:
    """Several axes at once, none, all; an empty array."""
    array = array or make
    found = [
        Sample(array(2, 3, 2), axis=(0, 2), keepdims=False, **params),
        Sample(array(2, 3, 2), axis=(1,), keepdims=True, **params),
        Sample(array(2, 3).T, axis=(0, 1), keepdims=False, **params),
        Sample(array(), axis=(), keepdims=False, **params),
    ]
    return [*found, Sample(array(0, 3), axis=(0,), keepdims=False, **params)] if empty else found


@row
def sum_all(make: Make) -> list:
    return [Sample(make()), Sample(make(3, 2).T), Sample(make(0))]


@row
def mean_all(make: Make) -> list:
    return [Sample(make()), Sample(make(3, 2).T)]


@row
def sum_axes(make: Make) -> list:
    return over(make)


@row
def sum_numbers(make: Make) -> list:
    gap = Sample(np.where(make.mask(3, 4), make(3, 4), np.nan), axis=(1,), keepdims=False)
    return [*over(make), gap]


@row
def mean_axes(make: Make) -> list:
    return over(make, empty=False)


@row
def variance(make: Make) -> list:
    return over(make, empty=False, correction=0) + over(make, empty=False, correction=1)[:3]


@row
def deviation(make: Make) -> list:
    return over(make, empty=False, correction=1)[:3]


@row
def variance_and_mean(make: Make) -> list:
    return over(make, empty=False, correction=1)[:3]


@row
def deviation_and_mean(make: Make) -> list:
    return over(make, empty=False, correction=1)[:3]


@row
def all_axes(make: Make) -> list:
    return over(make, make.mask)


@row
def any_axes(make: Make) -> list:
    return over(make, make.mask)


@row
def count_axes(make: Make) -> list:
    return [Sample(make.mask(2, 3), axis=(0,)), Sample(make(2, 3), axis=(0, 1))]


@row
def product_along(make: Make) -> list:
    return along(make)


@row
def product_all(make: Make) -> list:
    return [Sample(make(2, 3)), Sample(make())]


@row
def product_of_one(make: Make) -> list:
    return [Sample(make())]


@row
def logsumexp_axes(make: Make) -> list:
    return over(make, empty=False)


@row
def largest(make: Make) -> list:
    return over(make, make.distinct, empty=False)


@row
def smallest(make: Make) -> list:
    return over(make, make.distinct, empty=False)


@row
def largest_of_all(make: Make) -> list:
    return over(make, make.distinct, empty=False)


@row
def smallest_of_all(make: Make) -> list:
    return over(make, make.distinct, empty=False)


@row
def largest_along(make: Make) -> list:
    return along(make, make.distinct)


@row
def smallest_along(make: Make) -> list:
    return along(make, make.distinct)


@row
def median_along(make: Make) -> list:
    return along(make, make.distinct)


@row
def median_of_numbers_along(make: Make) -> list:
    return along(make, make.distinct)


@row
def median_of_all(make: Make) -> list:
    return [Sample(make.distinct(2, 3).T, axis=(0, 1)), Sample(make(), axis=())]


@row
def median_of_all_numbers(make: Make) -> list:
    gap = make.distinct(5)
    gap[2] = np.nan
    return [Sample(make.distinct(4), axis=(0,)), Sample(gap, axis=(0,))]


@row
def argmax_along(make: Make) -> list:
    return along(make)


@row
def argmin_along(make: Make) -> list:
    return along(make)


@row
def sort_along(make: Make) -> list:
    return [
        Sample(make.distinct(2, 3), axis=axis, descending=descending)
        for axis in (0, 1)
        for descending in (False, True)
    ]


@row
def topk_along(make: Make) -> list:
    return [
        Sample(make.distinct(2, 4), k=2, axis=1, largest=True),
        Sample(make.distinct(4, 2), k=3, axis=0, largest=False),
        Sample(make.distinct(4), k=0, axis=0, largest=False),
    ]


@row
def kth_along(make: Make) -> list:
    return along(make, make.distinct, k=2)


@row
def mode_along(make: Make) -> list:
    return along(make, make.distinct)


@row
def put_along(make: Make) -> list:
    indices = make.rng.permuted([[0, 1, 2, 3]] * 2, axis=1)[:, :3]
    return [Sample(make(2, 3), indices, shape=(2, 4), axis=1)]


def running(make: Make, array=None) -> list:
    array = array or make
    return [Sample(array(4), axis=0), Sample(array(2, 3), axis=0), Sample(array(2, 3).T, axis=1)]


@row
def running_sum(make: Make) -> list:
    return running(make)


@row
def running_product(make: Make) -> list:
    return running(make)


@row
def log_running_sum(make: Make) -> list:
    return [*running(make), Sample(make.complex(4), axis=0), Sample(make.complex(2, 3), axis=-1)]


@row
def running_largest(make: Make) -> list:
    return running(make, make.distinct)


@row
def running_smallest(make: Make) -> list:
    return running(make, make.distinct)


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


def _unique(make: Make, slices: bool) -> list:
    x = make(3, 2) if slices else make(4)
    return [Sample(x, found=x[:2], fixed=(0,), reference=x[:2])]


@row
def _unique2(make: Make) -> list:
    return _unique(make, False)


@row
def unique_dim(make: Make) -> list:
    return _unique(make, True)


@row
def unique_consecutive(make: Make) -> list:
    return _unique(make, False)
