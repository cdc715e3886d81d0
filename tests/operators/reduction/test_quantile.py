"""Quantiles against PyTorch 2.13."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.tolerance import assert_near

NAN = math.nan


def table():
    return torch.tensor([[3.0, 1, 2, 10], [5, NAN, 4, 6]], requires_grad=True)


def test_several_quantiles_are_the_first_dimension():
    got = torch.quantile(table(), torch.tensor([0.25, 0.6]), dim=1)
    assert_near(got, torch.tensor([[1.75, NAN], [2.8, NAN]]))


def test_nan_is_left_out_and_the_gradient_is_shared():
    x = table()
    got = torch.nanquantile(x, 0.6, dim=1, keepdim=True)
    assert_near(got, torch.tensor([[2.8], [5.2]]))
    got[1].sum().backward()
    assert_near(x.grad, torch.tensor([[0.0, 0, 0, 0], [0.8, 0, 0, 0.2]]))


@pytest.mark.parametrize(
    ("interpolation", "want"),
    [("lower", 1.0), ("higher", 2.0), ("midpoint", 1.5), ("nearest", 1.0), ("linear", 1.2)],
)
def test_between_two_elements(interpolation, want):
    got = torch.quantile(torch.arange(4.0), 0.4, interpolation=interpolation)
    assert got.item() == pytest.approx(want)


def test_bad_quantiles():
    x = torch.ones(3)
    with raises(RuntimeError, "quantile() q must be in the range [0, 1] but got 1.5"):
        torch.quantile(x, 1.5)
    with raises(RuntimeError, "quantile() input tensor must be either float or double dtype"):
        torch.quantile(torch.arange(3), 0.5)
    with raises(RuntimeError, "quantile() q tensor must be same dtype as the input tensor"):
        torch.nanquantile(x, torch.tensor(0.5, dtype=torch.float64))
    with raises(RuntimeError, "quantile() input tensor must be non-empty"):
        torch.quantile(torch.ones(0), 0.5)
