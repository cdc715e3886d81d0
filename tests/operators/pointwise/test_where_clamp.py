"""Choices between values: who gets the gradient at limits."""

import math

import pytest

import tapegrad as torch
from tests.operators.gradient import assert_equal_numbers, gradients, value_and_gradients

inf, nan = math.inf, math.nan


POINTS = [-2.0, -1.0, 0.0, 1.0, 2.0, nan, inf]


@pytest.mark.parametrize(
    ("limits", "values", "slopes"),
    [
        ((-1, 1), [-1, -1, 0, 1, 1, nan, 1], [0, 1, 1, 1, 0, 0, 0]),
        ((-1, None), [-1, -1, 0, 1, 2, nan, inf], [0, 1, 1, 1, 1, 0, 1]),
        ((None, 1), [-2, -1, 0, 1, 1, nan, 1], [1, 1, 1, 1, 0, 0, 0]),
        ((1, -1), [-1, -1, -1, -1, -1, nan, -1], [0] * 7),
        ((nan, 1), [nan] * 7, [0] * 7),
    ],
)
def test_clamp_lets_gradients_through_at_its_limits(limits, values, slopes):
    got, gradient = value_and_gradients(lambda x: x.clamp(*limits), POINTS)
    assert_equal_numbers(got, values)
    assert gradient == slopes


def test_clamp_min_and_clamp_max_are_clamp():
    assert gradients(lambda x: x.clamp_min(-1), POINTS) == [0, 1, 1, 1, 1, 0, 1]
    assert gradients(lambda x: x.clamp_max(1), POINTS) == [1, 1, 1, 1, 0, 0, 0]
    x = torch.ones(1, requires_grad=True)
    names = [
        y.grad_fn.name()
        for y in (x.clamp_min(0), x.clamp_min(x), x.clamp_max(0), x.clamp_max(x), x.clip(0, 1))
    ]
    assert names == [
        "ClampMinBackward0",
        "ClampMinBackward1",
        "ClampMaxBackward0",
        "ClampMaxBackward1",
        "ClampBackward1",
    ]


def test_limits_that_are_tensors_get_gradients():
    low, high = [-1, -1, 0, 2, 3, 0, 0], [1, 1, 0, 1, 1, 1, 1]
    x, to_low, to_high = gradients(torch.clamp, POINTS, low, high)
    assert x == [0, 1, 1, 0, 0, 0, 0]
    assert to_low == [1, 0, 0, 0, 0, 0, 0]
    assert to_high == [0, 0, 0, 1, 1, 0, 1]
    y = torch.ones(1, requires_grad=True)
    node = y.clamp(min=torch.zeros(1)).grad_fn
    assert (node.name(), len(node.next_functions)) == ("ClampBackward0", 3)


def test_clamp_promotes():
    x = torch.tensor([3, -2])
    assert x.clamp(0.5).tolist() == [3, 0.5]
    assert x.clamp(0).dtype is torch.int64
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        x.clamp_(0.5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: x.clamp(),
            RuntimeError,
            "torch.clamp: At least one of 'min' or 'max' must not be None",
        ),
        (
            lambda x: x.clamp(0, x),
            TypeError,
            "clamp() received an invalid combination of arguments",
        ),
        (lambda x: x.clamp("a"), TypeError, "clamp() received an invalid combination of arguments"),
        (
            lambda x: x.to(torch.complex64).clamp(0),
            NotImplementedError,
            "clamp is not supported for complex types",
        ),
        (lambda x: torch.maximum(x, 2.0), TypeError, "maximum(): argument 'other' (position 2)"),
        (
            lambda x: torch.where(x, x, x),
            RuntimeError,
            "where expected condition to be a boolean tensor, but got a tensor with dtype Float",
        ),
        (lambda x: torch.where(x > 0, x), TypeError, "where() received an invalid combination"),
        (
            lambda x: x.masked_fill(torch.ones(2, dtype=torch.int64), 1),
            RuntimeError,
            "masked_fill_ only supports boolean masks, but got mask with dtype long int",
        ),
        (
            lambda x: x.masked_fill(x > 0, torch.ones(1)),
            RuntimeError,
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 "
            "dimension(s).",
        ),
        (
            lambda x: x.byte().masked_fill(x > 0, 300),
            RuntimeError,
            "value cannot be converted to type uint8_t without overflow",
        ),
        (
            lambda x: x.masked_fill(x > 0, 1j),
            RuntimeError,
            "value cannot be converted to type float without overflow",
        ),
    ],
)
def test_what_pytorch_refuses_is_refused(call, error, message):
    with pytest.raises(error) as caught:
        call(torch.tensor([1.0, 2.0]))
    assert str(caught.value).startswith(message)
    assert caught.value.__notes__


def test_where_chooses_by_element():
    mask = torch.tensor([True, False])
    assert torch.where(mask, torch.tensor([1, 2]), 0.5).tolist() == [1, 0.5]
    assert torch.where(mask, 1.0, 2).dtype is torch.float32
    assert torch.where(mask, 1, 2).dtype is torch.int64
    assert torch.where(mask, torch.ones(2, dtype=torch.float64), 2).dtype is torch.float64
    assert torch.where(torch.tensor([[True], [False]]), torch.ones(3), 0).shape == (2, 3)


def test_where_keeps_nan_out_of_the_other_gradient():
    mask = torch.tensor([True, False])
    first, second = gradients(lambda a, b: torch.where(mask, a, b), [nan, 1.0], [2.0, inf])
    assert (first, second) == ([1, 0], [0, 1])
    x = torch.ones(2, requires_grad=True)
    assert len(torch.where(mask, x, 0.0).grad_fn.next_functions) == 2
