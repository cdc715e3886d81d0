"""Samples of indexing, scattering, masks and writing."""

from typing import Any

import numpy as np

from tests.samples.sample import Make, Sample, row


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


def _at(numbers: Any) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


@row
def index_at(make: Make) -> list:
    return [
        Sample(make(3, 2), _at([2, 0, 2]), axes=(0,)),
        Sample(make(3, 2).T, _at([[1, -1]]), axes=(1,)),
        Sample(make(3, 4, 2), _at([[0, 2], [1, 3]]), axes=(0, 1)),
        Sample(make(3, 2, 4), _at([[0, 0], [3, 3]]), axes=(0, 2)),
        Sample(make(3), _at([]), axes=(0,)),
    ]


@row
def add_at(make: Make) -> list:
    return [
        Sample(make(3, 2), _at([2, 0, 2]), shape=(3, 2), axes=(0,)),
        Sample(make(2, 3), _at([0, 0, 1]), shape=(2, 2), axes=(1,)),
        Sample(make(2, 2), _at([[0, 2], [1, 3]]), shape=(3, 4, 2), axes=(0, 1)),
        Sample(make(3), _at([1, 1, 0]), shape=(4,), axes=(0,)),
    ]


@row
def index_mask(make: Make) -> list:
    return [
        Sample(make(3, 2), make.mask(3, 2)),
        Sample(make(3, 2), make.mask(3)),
        Sample(make(2), np.zeros(2, bool)),
    ]


@row
def spread_mask(make: Make) -> list:
    mask = np.array([True, False, True])
    return [Sample(make(2), mask, shape=(3,)), Sample(make(2, 2), mask, shape=(3, 2))]


@row
def masked_elements(make: Make) -> list:
    return [Sample(make(3, 2), make.mask(3, 2)), Sample(make(), np.array(True))]


@row
def select_slices(make: Make) -> list:
    return [
        Sample(make(3, 2), _at([2, 0, 2]), axis=0),
        Sample(make(3, 2), _at([1]), axis=1),
        Sample(make(3), _at([]), axis=0),
    ]


@row
def take_flat(make: Make) -> list:
    return [
        Sample(make(3, 2), _at([[5, 0], [-1, 5]])),
        Sample(make(2, 3).T, _at(4)),
        Sample(make(), _at([0])),
    ]


@row
def gather_flat(make: Make) -> list:
    return [Sample(make(), _at(0)), Sample(make(3), _at(2)), Sample(make(2, 3), _at([]))]


@row
def gather_along(make: Make) -> list:
    return [
        Sample(make(3, 2), _at([[2, 0], [1, 1]]), axis=0),
        Sample(make(2, 3), _at([[2, 0, 0, 1]]), axis=1),
        Sample(make(4), _at([3, 3]), axis=0),
    ]


@row
def add_along(make: Make) -> list:
    return [
        Sample(make(2, 2), _at([[2, 0], [1, 0]]), shape=(3, 2), axis=0),
        Sample(make(1, 4), _at([[2, 0, 0, 1]]), shape=(2, 3), axis=1),
    ]


@row
def scatter_masked(make: Make) -> list:
    mask = np.array([[True, False], [True, True]])
    return [Sample(make(2, 2), make(4), mask), Sample(make(2, 2), make(1, 3), mask)]


@row
def write_at(make: Make) -> list:
    return [
        Sample(make(3, 2), make(2, 2), _at([2, 0]), axes=(0,), add=False),
        Sample(make(3, 2), make(2), _at([2, 2, 0]), axes=(0,), add=True),
        Sample(make(3, 2), make(3, 2), _at([2, 2, 0]), axes=(0,), add=True),
        Sample(make(3, 2), make(), _at([1]), axes=(1,), add=False),
        Sample(make(3, 4), make(2), _at([[0, 0], [1, 1]]), axes=(0, 1), add=True),
    ]


@row
def write_mask(make: Make) -> list:
    mask = np.array([True, False, True])
    return [
        Sample(make(3), make(2), mask),
        Sample(make(3, 2), make(2), mask),
        Sample(make(3), make(), mask),
    ]


@row
def add_slices(make: Make) -> list:
    return [
        Sample(make(3, 2), make(2, 2), _at([0, 0]), axis=0, alpha=1),
        Sample(make(2, 3), make(2, 1), _at([2]), axis=1, alpha=-2),
        Sample(make(3), make(2), _at([1, 1]), axis=0, alpha=0.5),
    ]


@row
def copy_slices(make: Make) -> list:
    return [
        Sample(make(3, 2), make(2, 2), _at([2, 0]), axis=0),
        Sample(make(2, 3), make(2, 1), _at([2]), axis=1),
    ]


@row
def fill_slices(make: Make) -> list:
    return [
        Sample(make(3, 2), _at([2, 0]), axis=0, value=5.0),
        Sample(make(2, 3), _at([]), axis=1, value=1.0),
    ]


@row
def fill_slices_with(make: Make) -> list:
    return [
        Sample(make(3, 2), make(), _at([2, 0]), axis=0),
        Sample(make(2, 3), make(), _at([1]), axis=1),
    ]


@row
def put_flat(make: Make) -> list:
    return [
        Sample(make(3, 2), make(2), _at([5, 0]), add=False),
        Sample(make(2, 3).T, make(1, 3), _at([[1, 1, 2]]), add=True),
    ]


@row
def replace(make: Make) -> list:
    return [Sample(make(2, 3), make(2, 3)), Sample(make(2, 3), make(3)), Sample(make(), make())]


@row
def replace_by_zeros(make: Make) -> list:
    return [Sample(make(2, 3)), Sample(make())]


@row
def replace_by_number(make: Make) -> list:
    return [Sample(make(2, 3), value=2.0), Sample(make(), value=1.0)]


@row
def replace_by_one(make: Make) -> list:
    return [Sample(make(2, 3), make()), Sample(make(0), make())]


_SCATTERED = _at([[2, 0], [1, 0], [1, 1]])


@row
def scatter_values(make: Make) -> list:
    index = _at([[2, 0], [1, 1]])
    return [
        Sample(make(3, 2), make(2, 2), index, axis=0),
        Sample(make(3, 2), make(3, 3), index, axis=0),
        Sample(make(), make(), _at(0), axis=0),
    ]


@row
def scatter_number(make: Make) -> list:
    return [Sample(make(3, 2), _SCATTERED, axis=0, value=2.0)]


@row
def scatter_sum(make: Make) -> list:
    return [
        Sample(make(3, 2), make(3, 2), _SCATTERED, axis=0),
        Sample(make(3, 2), make(4, 3), _SCATTERED, axis=0),
        Sample(make(4), make(3), _at([1, 1, 0]), axis=0),
    ]


@row
def scatter_extremum(make: Make) -> list:
    def both(n: int, m: int) -> tuple:
        found = make.distinct(n + m, 2)
        return found[:n], found[n:]

    return [
        Sample(*both(3, 3), _SCATTERED, axis=0, how=how, include=include)
        for how in ("amax", "amin")
        for include in (True, False)
    ]


@row
def scatter_product(make: Make) -> list:
    return [
        Sample(make.away(3, 2), make.away(3, 2), _SCATTERED, axis=0, include=include)
        for include in (True, False)
    ]


@row
def scatter_total(make: Make) -> list:
    return [
        Sample(make(3, 2), make(3, 2), _SCATTERED, axis=0, mean=mean, include=include)
        for mean in (True, False)
        for include in (True, False)
    ]


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
