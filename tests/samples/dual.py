"""Samples of the views of forward mode."""

from tests.samples.sample import Make, Sample, row


@row
def dual_view(make: Make) -> list:
    return [Sample(make(2, 3)), Sample(make()), Sample(make(2, 3).T)]


@row
def primal_view(make: Make) -> list:
    return [Sample(make(2, 3)), Sample(make()), Sample(make(2, 3).T)]
