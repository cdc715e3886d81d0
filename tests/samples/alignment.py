"""Samples of connectionist temporal classification."""

import numpy as np

from tests.samples.sample import Make, Sample, row


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
