"""Samples of embeddings and their bags."""

import numpy as np

from tests.samples.sample import Make, Sample, row


@row
def look_up(make: Make) -> list:
    return [
        Sample(make(5, 3), make.integers(4), padding=-1, by_frequency=False),
        Sample(make(5, 2), make.integers(2, 3, high=4), padding=4, by_frequency=False),
        Sample(make(4, 3), make.integers(0, low=0, high=4), padding=-1, by_frequency=False),
    ]


@row
def spread_looked_up(make: Make) -> list:
    often = np.array([1, 1, 0, 1, 1, 2, 1])
    return [
        Sample(make(4, 3), make.integers(4), n=5, padding=-1, by_frequency=False),
        Sample(make(2, 3, 2), make.integers(2, 3), n=5, padding=1, by_frequency=True),
        Sample(make(7, 2), often, n=4, padding=-1, by_frequency=False),
    ]


@row
def sum_bags(make: Make) -> list:
    indices, lengths = make.integers(5), np.array([2, 0, 3])
    return [
        Sample(make(5, 3), None, indices, lengths, average=False, by_frequency=False),
        Sample(make(5, 3), None, indices, lengths, average=True, by_frequency=False),
        Sample(make(5, 3), make(5), indices, lengths, average=False, by_frequency=False),
    ]


@row
def choose_in_bags(make: Make) -> list:
    filled = np.array([[True], [False]])
    return [Sample(make(5, 3), make.integers(2, 3), filled)]
