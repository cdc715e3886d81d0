"""Signs and infinities."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises

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


@pytest.mark.parametrize("decimals", [400, -400, 2**62, -(2**62)])
def test_more_decimals_than_a_number_has_give_nan(decimals):
    x = torch.tensor([1.5, -2.0], dtype=torch.float64)
    assert torch.round(x, decimals=decimals).isnan().all()


def test_special_round_is_of_no_decimals_by_default():
    x = torch.tensor([0.25, 1.5, -2.6], requires_grad=True)
    y = torch.special.round(x)
    assert y.tolist() == [0, 2, -3] and y.grad_fn.name() == "RoundBackward1"
    assert torch.round(x).grad_fn.name() == "RoundBackward0"


@pytest.mark.parametrize(("decimals", "kernel"), [(0, "round_vml_cpu"), (1, "round_cpu")])
def test_integers_have_no_decimals(decimals, kernel):
    x = torch.ones(2, dtype=torch.int16)
    assert torch.round(x).tolist() == [1, 1]
    for function in (torch.round, torch.special.round):
        with raises(NotImplementedError, f"\"{kernel}\" not implemented for 'Short'"):
            function(x, decimals=decimals)
