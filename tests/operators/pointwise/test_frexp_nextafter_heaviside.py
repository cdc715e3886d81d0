"""Exponents, neighbours and steps."""

import math

import pytest

import tapegrad as torch
from tests.operators.gradient import assert_equal_numbers, gradients

inf, nan = math.inf, math.nan


def test_frexp_and_ldexp_are_inverse():
    x = torch.tensor([1.0, -2.0, 0.0, 6.5], requires_grad=True)
    pair = torch.frexp(x)
    assert pair.mantissa.tolist() == [0.5, -0.5, 0, 0.8125]
    assert pair.exponent.tolist() == [1, 2, 0, 3]
    assert pair.exponent.dtype is torch.int32
    assert torch.ldexp(*pair).tolist() == x.tolist()
    assert pair.mantissa.grad_fn.name() == "FrexpBackward0"
    pair.mantissa.sum().backward()
    assert x.grad.tolist() == [0.5, 0.25, 1, 0.125]
    with pytest.raises(RuntimeError, match="only supports floating-point dtypes"):
        torch.frexp(torch.tensor([1]))


def test_ldexp_differentiates_in_both():
    first, second = gradients(torch.ldexp, [0.0, 1.0, -1.0], [-1.0, 0.0, 2.0])
    assert_equal_numbers(first, [0.5, 1, 4])
    assert_equal_numbers(second, [0, math.log(2), -4 * math.log(2)])
    assert torch.ldexp(torch.tensor([3]), torch.tensor([3])).tolist() == [24]


def test_nextafter_gives_its_gradient_to_the_one_it_leaves():
    first, second = gradients(torch.nextafter, [1.0, 2.0], [3.0, 1.0])
    assert (first, second) == ([1, 1], [0, 0])
    assert torch.nextafter(torch.tensor(0.0), torch.tensor(1.0)).item() == 2**-149


def test_heaviside_takes_its_value_at_zero():
    x = torch.tensor([1.0, -2.0, 0.0, nan], requires_grad=True)
    y = torch.heaviside(x, torch.tensor([0.5]))
    assert y.tolist() == [1, 0, 0.5, 0]
    with pytest.raises(RuntimeError, match="derivative for aten::heaviside is not implemented"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="not yet implemented for tensors with different dtypes"):
        torch.heaviside(x, torch.tensor([1]))


def test_neighbours_of_16_bits_are_of_16_bits():
    one, two = torch.tensor([1.0]).half(), torch.tensor([2.0]).half()
    assert torch.nextafter(one, two).item() == 1.0009765625
    x = torch.tensor([1.0, 1.0], dtype=torch.float16, requires_grad=True)
    torch.nextafter(x, two).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_ldexp_does_not_overflow_on_the_way():
    assert torch.ldexp(torch.tensor([1e-30]), torch.tensor([140])).item() > 1e12
    assert torch.ldexp(torch.tensor([1e30]), torch.tensor([-200])).item() > 0
    assert torch.ldexp(torch.tensor([1j]), torch.tensor([1])).item() == 2j


def test_ldexp_of_infinite_exponents():
    inf = math.inf
    x = torch.tensor([1.0, 2.0, -1.0, 1.0])
    e = torch.tensor([inf, -inf, inf, 300.0])
    assert torch.ldexp(x, e).tolist() == [inf, 0, -inf, inf]
    e = torch.tensor([-inf, 2.0], requires_grad=True)
    torch.ldexp(torch.ones(2), e).sum().backward()
    assert e.grad.tolist() == pytest.approx([0, 4 * math.log(2)])


def test_the_least_common_multiple_of_narrow_integers_is_cut_to_their_width():
    x, y = torch.tensor([-4], dtype=torch.int8), torch.tensor([113], dtype=torch.int8)
    assert torch.lcm(x, y).tolist() == [452 - 512]
