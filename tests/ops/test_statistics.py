"""Quantiles, counts, histograms and correlations against PyTorch 2.13."""

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


def test_bincount_with_weights():
    x = torch.tensor([1, 3, 1])
    assert x.bincount(minlength=5).tolist() == [0, 2, 0, 1, 0]
    got = x.bincount(torch.tensor([0.5, 1, 2]))
    assert got.dtype == torch.float32 and got.tolist() == [0, 2.5, 0, 1]
    assert x.bincount(torch.tensor([1, 2, 3])).dtype == torch.float64
    with raises(RuntimeError, "bincount only supports 1-d non-negative integral inputs."):
        torch.bincount(torch.tensor([-1]))
    weights = torch.ones(3, requires_grad=True)
    with raises(RuntimeError, "derivative for aten::bincount is not implemented"):
        x.bincount(weights).sum().backward()


def test_histograms():
    x = torch.tensor([0.0, 1, 1, 2, 5])
    assert torch.histc(x, 3).tolist() == [3, 1, 1]
    edges, weight = torch.tensor([0.0, 1, 2]), torch.tensor([1.0, 2, 3, 4, 5])
    hist, bin_edges = torch.histogram(x, edges, weight=weight, density=True)
    assert_near(hist, torch.tensor([0.1, 0.9]))
    assert bin_edges.tolist() == [0, 1, 2]
    points = torch.tensor([[0.0, 1], [1, 0], [2, 0], [2, 2]])
    found = torch.histogramdd(points, [3, 3], weight=torch.tensor([1.0, 2, 4, 8]))
    assert found.hist.tolist() == [[0, 1, 0], [2, 0, 0], [4, 0, 8]]
    assert repr(found).startswith("torch.return_types.histogramdd(\nhist=tensor([[0., 1., 0.],")


def test_bad_histograms():
    x = torch.ones(3)
    with raises(RuntimeError, "torch.histogram(): bins must be > 0, but got 0 for dimension 0"):
        torch.histc(x, 0)
    with raises(RuntimeError, "torch.histc: max must be larger than min"):
        torch.histc(x, 3, 5, 2)
    with raises(NotImplementedError, "\"histogram_cpu\" not implemented for 'Long'"):
        torch.histc(torch.tensor([1, 2]), 3)
    with raises(
        RuntimeError,
        "torch.histogramdd: min should not exceed max, but got min 3 max 0 for dimension 0",
    ):
        torch.histogram(x, 4, range=(3.0, 0.0))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_correlations():
    x = torch.tensor([[1.0, 2, 4], [2, 1, 0.5]])
    assert_near(torch.corrcoef(x), torch.tensor([[1, -0.92857146], [-0.92857146, 1]]))
    weights = {"fweights": torch.tensor([1, 2, 3]), "aweights": torch.tensor([1.0, 2, 3])}
    x = torch.arange(6.0).reshape(2, 3) ** 2
    want = torch.tensor([[2.9500003, 9.849999], [9.849999, 33.850002]])
    assert_near(torch.cov(x, **weights), want)
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert torch.cov(torch.tensor(3.0)).isnan().item()
    with raises(
        RuntimeError,
        "cov(): expected fweights to have integral dtype but got fweights with Float dtype",
    ):
        torch.cov(x, fweights=torch.ones(3))
