"""Derivatives and integrals of samples against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.tolerance import assert_near

X = [1.0, 4, 9, 20]


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({}, [3, 4, 8, 11]),
        ({"spacing": 2.0}, [1.5, 2, 4, 5.5]),
        ({"edge_order": 2}, [2, 4, 8, 14]),
        ({"places": [0.0, 1, 3, 4]}, [3, 2.8333333, 8.166667, 11]),
        ({"places": [0.0, 1, 3, 4], "edge_order": 2}, [3.1666667, 2.8333333, 8.166667, 13.833334]),
    ],
)
def test_differences(options, want):
    options = dict(options)
    if "places" in options:
        options["spacing"] = (torch.tensor(options.pop("places")),)
    (got,) = torch.gradient(torch.tensor(X), **options)
    assert_near(got, torch.tensor(want, dtype=torch.float32))


def test_a_derivative_for_each_dimension():
    m = torch.arange(12.0).reshape(3, 4) ** 2
    down, right = torch.gradient(m)
    assert down[1].tolist() == [32, 40, 48, 56] and right[0].tolist() == [1, 2, 4, 5]
    (right,) = torch.gradient(m, dim=-1)
    assert right.shape == (3, 4)
    with raises(
        RuntimeError,
        "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal "
        "to 'self.dim() = 2', since dim argument was not given, but got a list of length 1",
    ):
        torch.gradient(m, spacing=[1.0])
    with raises(
        RuntimeError, "torch.gradient expected each dimension size to be at least edge_order+1"
    ):
        torch.gradient(torch.ones(2), edge_order=2)


def test_integrals():
    y = torch.tensor([[1.0, 2, 3], [4, 5, 7]])
    x = torch.tensor([0.0, 1, 3])
    assert torch.trapezoid(y).tolist() == [4, 10.5]
    assert torch.trapezoid(y, x).tolist() == [6.5, 16.5]
    assert torch.trapz(y, dx=2.0, dim=0).tolist() == [5, 7, 10]
    assert torch.cumulative_trapezoid(y, x).tolist() == [[1.5, 6.5], [4.5, 16.5]]
    assert torch.trapezoid(torch.ones(2, 0)).tolist() == [0, 0]
    with raises(RuntimeError, "trapezoid: There must be one `x` value for each sample point"):
        torch.trapezoid(y, torch.ones(2))
    with raises(
        RuntimeError, "trapezoid: received a bool input for `y`, but bool is not supported"
    ):
        torch.trapezoid(torch.tensor([True, False]))


@pytest.mark.parametrize("dim", [0, -1])
def test_places_of_more_dimensions_than_the_samples(dim):
    """The dimension is counted among those of the samples, and taken of the places, too."""
    x = torch.tensor([[0.0], [1.0], [3.0]])
    y = torch.ones(3)
    assert torch.cumulative_trapezoid(y, x, dim=dim).tolist() == [[1, 1], [3, 3]]
    assert torch.trapezoid(y, x, dim=dim).tolist() == [3, 3]
    with raises(
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1",
    ):
        torch.trapezoid(y, x.T, dim=dim)


def test_the_last_step_divides_by_a_number():
    y = torch.ones(3, requires_grad=True)
    assert torch.trapezoid(y, torch.arange(3)).grad_fn.name() == "DivBackward1"
    assert torch.trapezoid(y, dx=2.0).grad_fn.name() == "MulBackward1"
    assert torch.cumulative_trapezoid(y, torch.arange(3)).grad_fn.name() == "DivBackward1"
