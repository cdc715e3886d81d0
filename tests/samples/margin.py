"""Samples of losses with a margin."""

import numpy as np

from tests.samples.sample import Make, Sample, row

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
