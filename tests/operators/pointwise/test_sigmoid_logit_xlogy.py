"""logit at its limits."""

import math

import pytest

import tapegrad as torch


def test_limits_of_logit_that_cross_are_tried_from_below():
    y = torch.logit(torch.tensor([0.1, 1.5]), 0.7)
    assert y.tolist() == pytest.approx([0.8472978, -0.8472978])


def test_the_slope_of_logit_outside_of_its_domain():
    for eps, outside in ((None, math.nan), (-0.5, math.nan), (0.3, 0.0)):
        x = torch.tensor([-0.4, 0.5, 1.1], requires_grad=True)
        torch.logit(x, eps).sum().backward()
        assert x.grad.tolist() == pytest.approx([outside, 4, outside], nan_ok=True)
