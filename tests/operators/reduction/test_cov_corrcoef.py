"""Correlations against PyTorch 2.13."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.tolerance import assert_near


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


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_fewer_observations_than_the_correction_makes_infinite_covariances():
    x, weights = torch.tensor([1.0, -1.0, 0.0]), torch.tensor([0.25, 0.5, 0.75])
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert torch.cov(x, correction=3, aweights=weights).item() == math.inf
