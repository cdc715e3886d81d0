"""Samples of losses."""

import numpy as np

from tapegrad.operators.nn.loss import bce, mse_l1, nll_cross_entropy
from tests.samples.sample import Make, Sample, row

assert bce and nll_cross_entropy and mse_l1  # importing them declares their operators


def pairs(make: Make, first=None, second=None, **params) -> list:
    """Inputs and targets of equal shape, with each reduction."""
    first, second = first or make, second or make
    return [
        Sample(first(*shape), second(*shape), reduction=reduction, **params)
        for reduction in ("none", "sum", "mean")
        for shape in ((2, 3), ())
    ]


@row
def squared_error(make: Make) -> list:
    return pairs(make)


@row
def smooth_l1(make: Make) -> list:
    return pairs(make, beta=0.9)


@row
def huber(make: Make) -> list:
    return pairs(make, delta=0.9)


def probability(make: Make):
    return lambda *shape: make(*shape, low=0.1, high=0.9)


@row
def bernoulli_nll(make: Make) -> list:
    p = probability(make)
    return [
        *(Sample(p(2, 3), p(2, 3), None, reduction=r) for r in ("none", "sum", "mean")),
        Sample(p(2, 3), p(2, 3), make.positive(2, 3), reduction="mean", fixed=(2,)),
    ]


@row
def logistic_nll(make: Make) -> list:
    x, p = make.away, probability(make)
    return [
        Sample(x(2, 3), p(2, 3), None, None, reduction="mean"),
        Sample(x(2, 3), p(2, 3), make.mask(2, 3) * 1.0, None, reduction="sum", fixed=(2,)),
        Sample(x(2, 3), p(2, 3), None, make.positive(2, 3), reduction="none", fixed=(3,)),
    ]


@row
def pick_class(make: Make) -> list:
    return [
        Sample(make(3, 4), make.integers(3, high=4)),
        Sample(make(2, 3, 2), make.integers(2, 2, high=3)),
    ]


@row
def unpick_class(make: Make) -> list:
    return [
        Sample(make(3), make.integers(3, high=4), shape=(3, 4)),
        Sample(make(2, 2), make.integers(2, 2, high=3), shape=(2, 3, 2)),
    ]


@row
def pick_classes(make: Make) -> list:
    weight = make.positive(4)
    return [
        Sample(
            *(make(3, 4), make.integers(3, high=4), w),
            fixed=(2,),
            ignore_index=ignored,
            reduction=reduction,
        )
        for reduction in ("none", "sum", "mean")
        for w, ignored in ((None, None), (weight, 2), (None, 1), (weight, None))
    ]


@row
def pick_places(make: Make) -> list:
    weight = make.positive(3)
    return [
        Sample(
            *(make(2, 3, 2), make.integers(2, 2, high=3), w),
            fixed=(2,),
            ignore_index=ignored,
            reduction=reduction,
        )
        for reduction in ("none", "sum", "mean")
        for w, ignored in ((None, None), (weight, 2))
    ]


@row
def alignment_loss(make: Make) -> list:
    repeated = np.array([[0, 1, 0, 1, 0], [0, 2, 0, 1, 0], [0, 3, 0, 0, 0]])
    empty, one = np.array([[0], [0]]), np.array([[0, 1, 0], [0, 2, 0]])
    return [
        Sample(
            *(make(4, 3, 4), repeated, np.array([4, 3, 4]), np.array([2, 2, 1])),
            zero_infinity=False,
            projected=False,
        ),
        Sample(
            *(make(3, 2, 4), empty, np.array([3, 0]), np.array([0, 0])),
            zero_infinity=False,
            projected=False,
        ),
        Sample(  # the second one is impossible
            *(make(4, 2, 4), one, np.array([4, 0]), np.array([1, 1])),
            zero_infinity=True,
            projected=False,
        ),
        Sample(  # there is no time for the blank between the two
            *(make(2, 1, 4), repeated[:1], np.array([2]), np.array([2])),
            zero_infinity=True,
            projected=False,
        ),
    ]


REDUCTIONS = ("none", "sum", "mean")


@row
def soft_margin(make: Make) -> list:
    sign = np.sign(make.away(2, 3))
    return [
        *(Sample(make(2, 3), sign, reduction=r, fixed=(1,)) for r in REDUCTIONS),
        Sample(make(2, 1), sign, reduction="mean", fixed=(1,)),
    ]


@row
def multi_margin(make: Make) -> list:
    label, weight = make.integers(3, high=4), make.positive(3)
    return [
        Sample(make(3, 4), label, w, fixed=(2,), p=p, margin=0.9, reduction=r)
        for r in REDUCTIONS
        for p, w in ((1, None), (2, weight))
    ]


@row
def multilabel_margin(make: Make) -> list:
    label = np.array([[1, 3, 1], [-1, -1, 2], [2, 0, -1]])
    return [Sample(make(3, 4), label, reduction=r) for r in REDUCTIONS]


@row
def chunked_cross_entropy(make: Make) -> list:
    target, scale = make.integers(5, high=4), make.positive(5)
    inputs = (make(5, 3), make(4, 3), target, scale, np.arange(4))
    return [
        Sample(*inputs, make(4), fixed=(3,), chunk=2, wants_input=True),
        Sample(*inputs, fixed=(3,), chunk=5, wants_input=True),
        Sample(*inputs, make(4), fixed=(0, 3), chunk=2, wants_input=False),
    ]
