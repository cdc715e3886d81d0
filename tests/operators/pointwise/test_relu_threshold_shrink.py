"""Activations at nan, where the gradient does not hide it, as PyTorch's; what prelu refuses."""

import math

import pytest

import tapegrad as torch
from tapegrad.nn import functional as F
from tests.messages import raises_beginning

FUNCTIONS = {
    "softshrink": (F.softshrink, [1, 0, 0, 1]),
    "hardshrink": (F.hardshrink, [1, 0, 0, 1]),
    "hardtanh": (F.hardtanh, [1, 1, 1, 0]),
    "relu6": (F.relu6, [1, 0, 1, 1]),
    "relu": (F.relu, [1, 0, 1, 1]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_cotangent_of_nan_passes(name):
    function, gradient = FUNCTIONS[name]
    x = torch.tensor([math.nan, -0.2, 0.3, 2.0], requires_grad=True)
    y = function(x)
    y.sum().backward()
    assert y[0].isnan()
    assert x.grad.tolist() == gradient


def test_softshrink_keeps_the_sign_of_zero():
    y = F.softshrink(torch.tensor([-0.2, 0.2]))
    assert y.signbit().tolist() == [True, False]


def test_the_slope_of_acosh_is_infinite_at_minus_one():
    x = torch.tensor([-1.0, 1.0], requires_grad=True)
    torch.acosh(x).sum().backward()
    assert x.grad.tolist() == [math.inf, math.inf]


PRELU = (  # the shape of the weights, their dtype, and PyTorch's error for an input (2, 3)
    ((2, 2), torch.int8, "prelu: Type promoting not supported. Got Float and Char"),
    (
        (2, 2),
        torch.float32,
        "Mismatch of parameter numbers and input channel size. Found parameter",
    ),
    ((1, 3), torch.float32, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim"),
    ((1, 1), torch.float32, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim"),
)


@pytest.mark.parametrize(("shape", "dtype", "text"), PRELU)
def test_the_weights_of_prelu(shape, dtype, text):
    with raises_beginning(RuntimeError, text):
        torch.prelu(torch.ones(2, 3), torch.ones(shape, dtype=dtype))


def test_prelu_of_a_single_number_has_one_weight():
    with raises_beginning(RuntimeError, "Not allow zero-dim input tensor."):
        torch.prelu(torch.tensor(1.0), torch.ones(3, 1))


@pytest.mark.parametrize(
    ("dtype", "limit", "kind"),
    [
        (torch.int64, float("inf"), "int64_t"),
        (torch.int32, float("nan"), "int64_t"),
        (torch.uint8, 300, "uint8_t"),
    ],
)
def test_hardtanh_of_integers_refuses_limits_that_are_none(dtype, limit, kind):
    text = f"^value cannot be converted to type {kind} without overflow"
    with pytest.raises(RuntimeError, match=text):
        torch.nn.functional.hardtanh(torch.ones(2, dtype=dtype), 0, limit)
