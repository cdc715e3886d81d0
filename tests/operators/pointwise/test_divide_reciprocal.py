"""Quotients and remainders: signs, zeros, integers, nodes, gradients."""

import math

import pytest

import tapegrad as torch
from tests.operators.gradient import assert_equal_numbers, gradients

inf, nan = math.inf, math.nan


def test_integers_divide_as_in_pytorch():
    a, b = torch.tensor([-7, 7, -7, 7]), torch.tensor([3, -3, -3, 3])
    assert (a % b).tolist() == [2, -2, -1, 1]
    assert torch.fmod(a, b).tolist() == [-1, 1, -1, 1]
    assert (a // b).tolist() == [-3, -3, 2, 2]
    assert torch.div(a, b, rounding_mode="floor").tolist() == [-3, -3, 2, 2]
    assert torch.div(a, b, rounding_mode="trunc").tolist() == [-2, -2, 2, 2]
    assert (a / b).dtype is torch.float32
    assert (7 // torch.tensor([3, -2])).tolist() == [2, -4]
    assert (7 % torch.tensor([3, -2])).tolist() == [1, -1]


def test_floats_divide_by_zero_and_infinity_as_in_pytorch():
    a = torch.tensor([1.0, -1.0, 0.0, inf, 5.0, -5.0])
    b = torch.tensor([0.0, 0.0, 0.0, 2.0, inf, inf])
    assert_equal_numbers((a // b).tolist(), [inf, -inf, nan, nan, 0, -1])
    assert_equal_numbers((a % b).tolist(), [nan, nan, nan, nan, 5, inf])
    truncated = torch.div(a, b, rounding_mode="trunc")
    assert_equal_numbers(truncated.tolist(), [inf, -inf, nan, inf, 0, 0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x // 0,
        lambda x: x % 0,
        lambda x: torch.fmod(x, 0),
        lambda x: torch.div(x, torch.zeros_like(x), rounding_mode="trunc"),
    ],
)
def test_integers_do_not_divide_by_zero(function):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        function(torch.tensor([1, 2]))


def test_exact_quotients_of_integers_by_zero_are_infinite():
    assert_equal_numbers((torch.tensor([3, -2, 0]) / 0).tolist(), [inf, -inf, nan])


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: x // x, "div_floor_cpu"),
        (lambda x: x % x, "remainder_cpu"),
        (lambda x: torch.fmod(x, x), "fmod_cpu"),
    ],
)
def test_truth_values_do_not_divide(function, name):
    with pytest.raises(NotImplementedError, match=f"\"{name}\" not implemented for 'Bool'"):
        function(torch.tensor([True]))


def test_an_unknown_rounding_mode_is_refused():
    with pytest.raises(RuntimeError) as error:
        torch.div(torch.ones(1), 2, rounding_mode="up")
    assert str(error.value) == (
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'"
    )


@pytest.mark.parametrize(
    ("function", "node", "edges"),
    [
        (lambda x: x / x, "DivBackward0", 2),
        (lambda x: torch.div(x, x, rounding_mode="floor"), "DivBackward2", 2),
        (lambda x: x % 2, "RemainderBackward0", 1),
        (lambda x: x % x, "RemainderBackward1", 2),
        (lambda x: torch.fmod(x, 2), "FmodBackward0", 1),
        (lambda x: torch.fmod(x, x), "FmodBackward1", 2),
        (lambda x: x // 2, "torch::autograd::NotImplemented", 2),
        (lambda x: 2 % x, "torch::autograd::NotImplemented", 1),
        (lambda x: torch.reciprocal(x), "ReciprocalBackward0", 1),
    ],
)
def test_nodes_have_the_names_and_edges_of_pytorch(function, node, edges):
    y = function(torch.ones(2, requires_grad=True))
    assert y.grad_fn.name() == node
    assert len(y.grad_fn.next_functions) == edges


A = [0, 0, 0, 0, 1, 2, -1, -2, nan, 1, 0]


B = [0, 1, -1, 2, 0, 3, 2, 0.5, 1, nan, nan]


def test_quotients_differentiate_as_in_pytorch():
    first, second = gradients(torch.div, A, B)
    assert_equal_numbers(first, [inf, 1, -1, 0.5, inf, 1 / 3, 0.5, 2, 1, nan, nan])
    assert_equal_numbers(second, [nan, 0, 0, 0, -inf, -2 / 9, 0.25, 8, nan, nan, nan])


@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_rounded_quotients_have_no_slope(mode):
    first, second = gradients(lambda a, b: torch.div(a, b, rounding_mode=mode), [7.0], [2.0])
    assert first == second == [0]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: x // 2, "floor_divide"),
        (lambda x: 2 // x, "floor_divide"),
        (lambda x: 2 % x, "remainder"),
    ],
)
def test_a_derivative_pytorch_does_not_have_is_refused(function, name):
    y = function(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError) as error:
        y.sum().backward()
    assert str(error.value) == f"derivative for aten::{name} is not implemented"
    assert error.value.__notes__


def test_reciprocals_differentiate_at_zero_as_in_pytorch():
    assert_equal_numbers(
        gradients(torch.reciprocal, [-1.0, 0.0, 1.0, inf, nan]), [-1, -inf, -1, 0, nan]
    )
