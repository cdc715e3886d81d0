"""Samples of activations and softmax."""

import numpy as np

from tests.samples.sample import Make, Sample, binary, row, unary


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


def _quantized(make: Make, n: int) -> list:
    """Differences say nothing of steps: what the gradient is, tests/operators/pointwise says."""
    scale = np.array([0.25, 0.5, 0.125][:n], dtype="float32")
    zero = np.array([0, 3, -2][:n], dtype="int32")
    fixed = (0, 1, 2)
    params = {"low": -4, "high": 5}
    return [Sample(make(*shape), scale, zero, fixed=fixed, **params) for shape in ((2, n), (0, n))]


@row
def fake_quantize_per_tensor_affine_cachemask(make: Make) -> list:
    return _quantized(make, 1)


@row
def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(make: Make) -> list:
    return _quantized(make, 1)


@row
def fake_quantize_per_channel_affine_cachemask(make: Make) -> list:
    return _quantized(make, 3)


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
def prelu_input_backward(make: Make) -> list:
    return [Sample(make(2, 3), make.away(2, 3), make(3)), Sample(make(3), make.away(3), make())]


@row
def prelu_weight_backward(make: Make) -> list:
    return [Sample(make(2, 3), make.away(2, 3), make(3)), Sample(make(3), make.away(3), make())]


@row
def softmax_along(make: Make) -> list:
    return [Sample(make(2, 3), axis=0), Sample(make(3, 2).T, axis=1), Sample(make(4), axis=0)]


@row
def softmax_backward_data(make: Make) -> list:
    return [
        Sample(make(2, 3), make.positive(2, 3), axis=0),
        Sample(make(3, 2).T, make.positive(2, 3), axis=1),
    ]


@row
def log_softmax_backward_data(make: Make) -> list:
    return [Sample(make(2, 3), make(2, 3), axis=0), Sample(make(3, 2).T, make(2, 3), axis=1)]


@row
def log_softmax_along(make: Make) -> list:
    return [Sample(make(2, 3), axis=0), Sample(make(3, 2).T, axis=1), Sample(make(4), axis=0)]


@row
def gated(make: Make) -> list:
    return [Sample(make(2, 4), axis=1), Sample(make(3, 4).T, axis=0), Sample(make(2, 6, 0), axis=1)]


@row
def sloped(make: Make) -> list:
    return [Sample(make(2, 3), make.positive(2, 3), fixed=(1,))]


@row
def mean_slope(make: Make) -> list:
    return unary(make, make.away, slope=0.2)
