"""Samples of activations, softmax and losses."""

from tapegrad.operators.nn.loss import bce, mse_l1, nll_cross_entropy
from tests.samples.sample import Make, Sample, binary, row, unary

assert bce and nll_cross_entropy and mse_l1  # importing them declares their operators


@row
def relu(make: Make) -> list:
    return unary(make, make.away)


@row
def leaky_relu(make: Make) -> list:
    return unary(make, make.away, negative_slope=0.1)


@row
def elu_scaled(make: Make) -> list:
    return unary(make, make.away, alpha=0.7, scale=1.2, input_scale=0.9)


@row
def celu_scaled(make: Make) -> list:
    return unary(make, make.away, alpha=0.7)


@row
def gelu(make: Make) -> list:
    return [*unary(make, approximate="none"), *unary(make, approximate="tanh")]


@row
def silu(make: Make) -> list:
    return unary(make, make.away)


@row
def mish(make: Make) -> list:
    return unary(make, make.away)


@row
def softplus_beta(make: Make) -> list:
    return unary(make, make.away, beta=1.5, threshold=20)


@row
def log_sigmoid(make: Make) -> list:
    return unary(make, make.away)


@row
def hardtanh_between(make: Make) -> list:
    return [*unary(make, make.away, low=-3.0, high=3.0), *unary(make, low=-0.9876, high=0.8765)]


@row
def hardswish(make: Make) -> list:
    return unary(make, lambda *shape: make(*shape, low=-4.0, high=4.0))


@row
def hardsigmoid(make: Make) -> list:
    return unary(make, lambda *shape: make(*shape, low=-4.0, high=4.0))


@row
def soft_shrink(make: Make) -> list:
    return unary(make, lambd=0.54321)


@row
def hard_shrink(make: Make) -> list:
    return unary(make, lambd=0.54321)


@row
def threshold_above(make: Make) -> list:
    return unary(make, threshold=0.54321, value=7.0)


@row
def prelu_kernel(make: Make) -> list:
    return binary(make, make.away)


@row
def softmax_along(make: Make) -> list:
    return [Sample(make(2, 3), axis=0), Sample(make(3, 2).T, axis=1), Sample(make(4), axis=0)]


@row
def log_softmax_along(make: Make) -> list:
    return [Sample(make(2, 3), axis=0), Sample(make(3, 2).T, axis=1), Sample(make(4), axis=0)]


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
