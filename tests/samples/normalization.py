"""Samples of normalisation, embeddings and attention."""

import numpy as np

from tests.samples.sample import Make, Sample, row


@row
def layer_standardize(make: Make) -> list:
    return [
        Sample(make(3, 4), make(4), make(4), n_axes=1, eps=1e-5),
        Sample(make(2, 3, 4), make(3, 4), None, n_axes=2, eps=1e-3),
        Sample(make(5, 3).T, None, make(5), n_axes=1, eps=1e-5),
        Sample(make(2, 1, 4) + 30, None, None, n_axes=1, eps=1e-5),  # the mean is far from zero
        Sample(make(2, 4) + 9, make(4), make(4), n_axes=1, eps=1e-5),
        Sample(make(0, 4), make(4), make(4), n_axes=1, eps=1e-5),
    ]


@row
def batch_standardize(make: Make) -> list:
    return [
        Sample(make(4, 3), make(3), make(3), eps=1e-5),
        Sample(make(2, 3, 4), make(3), None, eps=1e-3),
        Sample(make(3, 2, 5).transpose(1, 0, 2), None, make(3)[:3], eps=1e-5),
        Sample(make(2, 2, 4) + 30, make(2), make(2), eps=1e-5),
        Sample(make(2, 2, 4, 5), None, None, eps=1e-5),
    ]


@row
def group_standardize(make: Make) -> list:
    return [
        Sample(make(2, 6), make(6), make(6), groups=2, eps=1e-5),
        Sample(make(2, 4, 3), make(4), None, groups=4, eps=1e-3),
        Sample(make(2, 4, 3), None, make(4), groups=1, eps=1e-5),
        Sample(make(2, 4, 3, 6) + 30, make(4), make(4), groups=2, eps=1e-5),
    ]


@row
def channel_standardize(make: Make) -> list:
    return [
        Sample(make(4, 3), make(3), make(3), make(3), make.positive(3), eps=1e-5, fixed=(3, 4)),
        Sample(make(2, 3, 4), None, make(3), make(3), make.positive(3), eps=1e-5, fixed=(3, 4)),
        Sample(
            *(make(2, 3, 4, 5), make(3), None, make(3) + 30, make.positive(3)),
            eps=1e-3,
            fixed=(3, 4),
        ),
    ]


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


@row
def softmax_or_zero(make: Make) -> list:
    return [Sample(make(2, 3)), Sample(make(3, 2).T), Sample(make(2, 1, 4))]


@row
def attention(make: Make) -> list:
    mask = np.array([[True, False, True], [True, True, True]])
    heads = (make(2, 1, 2, 4), make(2, 1, 3, 4), make(2, 1, 3, 4))
    return [
        Sample(make(2, 3), make(4, 3), make(4, 5), scale=0.6, causal=False),
        Sample(make(3, 3), make(2, 3), make(2, 5), scale=0.6, causal=True),
        Sample(make(2, 2, 4), make(2, 3, 4), make(2, 3, 4), mask, scale=0.5, causal=False),
        Sample(*heads, make(2, 3), scale=0.5, causal=False, fixed=(3,)),
    ]


@row
def chunked_cross_entropy(make: Make) -> list:
    target, scale = make.integers(5, high=4), make.positive(5)
    inputs = (make(5, 3), make(4, 3), target, scale, np.arange(4))
    return [
        Sample(*inputs, make(4), fixed=(3,), chunk=2, wants_input=True),
        Sample(*inputs, fixed=(3,), chunk=5, wants_input=True),
        Sample(*inputs, make(4), fixed=(0, 3), chunk=2, wants_input=False),
    ]
