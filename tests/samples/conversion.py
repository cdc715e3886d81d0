"""Samples of conversions to other dtypes."""

from tapegrad.core.dtype import float64, int64
from tests.samples.sample import Sample, row


@row
def to_copy(make):
    return [
        Sample(make(), dtype=float64),
        Sample(make(2, 3).T, dtype=float64),
        Sample(make(0, 3), dtype=float64),
        Sample(make.integers(3), dtype=int64),
    ]
