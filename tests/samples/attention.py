"""Samples of attention."""

import numpy as np

from tests.samples.sample import Make, Sample, row


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
