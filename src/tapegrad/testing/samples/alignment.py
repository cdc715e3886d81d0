"""Samples of connectionist temporal classification."""

import numpy as np

from tapegrad.testing.sample import Make, Sample, row


@row
def alignment_loss(make: Make) -> list:
    options = {"zero_infinity": False, "projected": False}
    repeated = np.array([[0, 1, 0, 1, 0], [0, 2, 0, 1, 0], [0, 3, 0, 0, 0]])
    times, labels = np.array([4, 3, 4]), np.array([2, 2, 1])
    empty = np.array([[0], [0]])
    impossible = np.array([[0, 1, 0, 1, 0]])
    return [
        Sample(make(4, 3, 4), repeated, times, labels, **options),
        Sample(make(3, 2, 4), empty, np.array([3, 0]), np.array([0, 0]), **options),
        Sample(
            *(make(4, 2, 4), np.array([[0, 1, 0], [0, 2, 0]]), np.array([4, 0]), np.array([1, 1])),
            **{**options, "zero_infinity": True},
        ),
        Sample(
            *(make(2, 1, 4), impossible, np.array([2]), np.array([2])),
            **{**options, "zero_infinity": True},
        ),
    ]
