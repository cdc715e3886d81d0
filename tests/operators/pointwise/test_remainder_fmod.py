"""Remainders and common divisors."""

import math

import pytest

import tapegrad as torch
from tests.operators.gradient import assert_equal_numbers, gradients

inf, nan = math.inf, math.nan


A = [0, 0, 0, 0, 1, 2, -1, -2, nan, 1, 0]


B = [0, 1, -1, 2, 0, 3, 2, 0.5, 1, nan, nan]


def test_remainders_differentiate_as_in_pytorch():
    first, second = gradients(torch.remainder, A, B)
    assert_equal_numbers(first, [1] * 11)
    assert_equal_numbers(second, [nan, 0, 0, 0, -inf, 0, 1, 4, nan, nan, nan])
    first, second = gradients(torch.fmod, A, B)
    assert_equal_numbers(first, [1] * 11)
    assert_equal_numbers(second, [nan, 0, 0, 0, -inf, 0, 0, 4, nan, nan, nan])


def test_divisors_of_integers():
    a, b = torch.tensor([12, -18, 0]), torch.tensor([18, 12, 0])
    assert torch.gcd(a, b).tolist() == [6, 6, 0]
    assert torch.lcm(a, torch.tensor([18, 12, 5])).tolist() == [36, 36, 0]
    with pytest.raises(NotImplementedError, match="\"gcd_cpu\" not implemented for 'Float'"):
        torch.gcd(torch.ones(1), torch.ones(1))
