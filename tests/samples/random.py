"""Samples of the operators that put random numbers in the place of a tensor."""

import numpy as np

from tests.samples.sample import Make, Sample, row


def _replaced(make: Make) -> list:
    """0-d, empty, contiguous and not; what was drawn is an argument like any other."""
    arrays = [make(), make(3), make(0, 2), make(2, 3).T]
    return [Sample(x, drawn=np.asarray(make(*x.shape))) for x in arrays]


def _of_two(make: Make) -> list:
    """Two tensors whose shapes give that of what is drawn."""
    pairs = [(make(), make()), (make(2, 1), make(3)), (make(3), make(2, 3))]
    return [Sample(a, b, drawn=make(*np.broadcast_shapes(a.shape, b.shape))) for a, b in pairs]


@row
def normal_fill(make: Make) -> list:
    return _replaced(make)


@row
def uniform_fill(make: Make) -> list:
    return _replaced(make)


@row
def random_fill(make: Make) -> list:
    return _replaced(make)


@row
def random_to_fill(make: Make) -> list:
    return _replaced(make)


@row
def random_from_fill(make: Make) -> list:
    return _replaced(make)


@row
def exponential_fill(make: Make) -> list:
    return _replaced(make)


@row
def geometric_fill(make: Make) -> list:
    return _replaced(make)


@row
def cauchy_fill(make: Make) -> list:
    return _replaced(make)


@row
def log_normal_fill(make: Make) -> list:
    return _replaced(make)


@row
def bernoulli_fill(make: Make) -> list:
    return _replaced(make)


@row
def bernoulli_draw(make: Make) -> list:
    return _replaced(make)


@row
def bernoulli_tensor_fill(make: Make) -> list:
    pairs = [(make(), make()), (make(3), make(1)), (make(2, 3), make(3))]
    return [Sample(a, b, drawn=make(*a.shape)) for a, b in pairs]


@row
def poisson_draw(make: Make) -> list:
    return _replaced(make)


@row
def normal_of_mean(make: Make) -> list:
    return _replaced(make)


@row
def normal_of_std(make: Make) -> list:
    return _replaced(make)


@row
def normal_of_both(make: Make) -> list:
    return _of_two(make)


@row
def binomial(make: Make) -> list:
    counts = make.integers(2, 3)  # its derivative is not defined
    return [Sample(make.integers(2, 1), make.integers(3), drawn=counts)]


@row
def drop_masked(make: Make) -> list:
    return [Sample(make(2, 3), make.mask(2, 3), scale=2.0), Sample(make(), make.mask(), scale=0.0)]


# Gamma and Dirichlet numbers are differentiated at a fixed probability, which no difference of the
# operator's own outputs shows: tests/operators/random/test_gamma_dirichlet.py does.


@row
def _standard_gamma(make: Make) -> list:
    return [Sample(make.positive(2, 3), fixed=(0,), drawn=make.positive(2, 3))]


@row
def _sample_dirichlet(make: Make) -> list:
    return [Sample(make.positive(2, 3), fixed=(0,), drawn=np.full((2, 3), 1 / 3))]


@row
def _standard_gamma_grad(make: Make) -> list:
    return [Sample(make.positive(2, 3), make.positive(2, 3), fixed=(0, 1))]


@row
def _dirichlet_grad(make: Make) -> list:
    x = np.full((2, 3), 0.25)
    return [Sample(x, make.positive(2, 3), make.positive(2, 3) + 3, fixed=(0, 1, 2))]


# Of what has no derivative, no difference of outputs shows one.


@row
def no_formula(make: Make) -> list:
    found = [np.ones(3), np.zeros(())]
    return [Sample(make(2, 3), make(2), fixed=(0, 1), found=found, name="histogram")]
