"""Running sums of exponentials over many elements."""

import math

import pytest

import tapegrad as torch


def test_logcumsumexp_of_many_elements_is_exact_to_the_last():
    n = 100_000
    assert torch.zeros(n).logcumsumexp(0)[-1].item() == pytest.approx(math.log(n), rel=1e-7)
