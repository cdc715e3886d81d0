"""logit at its limits."""

import pytest

import tapegrad as torch


def test_limits_of_logit_that_cross_are_tried_from_below():
    y = torch.logit(torch.tensor([0.1, 1.5]), 0.7)
    assert y.tolist() == pytest.approx([0.8472978, -0.8472978])
