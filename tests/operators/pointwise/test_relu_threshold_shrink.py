"""Activations at nan: the gradient does not hide it, as PyTorch's."""

import math

import pytest

import tapegrad as torch
from tapegrad.nn import functional as F

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
