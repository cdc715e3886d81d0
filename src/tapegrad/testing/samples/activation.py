"""Samples of activations, softmax and losses."""

from tapegrad.testing.sample import Make, Sample, row, unary


@row
def relu(make: Make) -> list:
    return unary(make, make.away)


@row
def leaky_relu(make: Make) -> list:
    return unary(make, make.away, negative_slope=0.1)
