"""Signs and infinities."""

import math

import tapegrad as torch

inf, nan = math.inf, math.nan


def test_signbit_sees_the_sign_of_zero():
    assert torch.signbit(torch.tensor([-0.0, 0.0, -1.0, nan])).tolist() == [
        True,
        False,
        True,
        False,
    ]
    assert torch.signbit(torch.tensor([3, -2])).tolist() == [False, True]
    assert torch.signbit(torch.tensor([True])).tolist() == [False]


def test_infinities_are_told_apart():
    x = torch.tensor([inf, -inf, 1.0])
    assert torch.isposinf(x).tolist() == [True, False, False]
    assert torch.isneginf(x).tolist() == [False, True, False]
    assert torch.isposinf(torch.tensor([1, 2])).tolist() == [False, False]
