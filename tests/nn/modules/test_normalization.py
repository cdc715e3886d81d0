"""Normalisation over layers, groups and neighbouring channels: PyTorch's numbers."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def close(x, values):
    return torch.allclose(x.detach(), torch.tensor(values), atol=1e-4)


def test_samples_are_normalised_over_their_last_dimensions_or_groups():
    assert close(nn.LayerNorm(2)(torch.tensor([[1.0, 3.0]])), [[-1.0, 1.0]])
    assert close(nn.RMSNorm(2)(torch.tensor([3.0, 4.0])), [0.8485, 1.1314])
    assert close(nn.GroupNorm(1, 2)(torch.tensor([[1.0, 3.0]])), [[-1.0, 1.0]])
    assert list(nn.LayerNorm((2, 3), bias=False).state_dict()) == ["weight"]
    with raises(ValueError, "num_channels (4) must be divisible by num_groups (3)"):
        nn.GroupNorm(3, 4)


def test_cross_map_normalisation_is_pytorchs_first_channel_included():
    x = torch.arange(1.0, 17).reshape(1, 4, 2, 2)
    layer = nn.CrossMapLRN2d(3, alpha=0.1, beta=0.5, k=2)
    expected = torch.tensor(
        [
            [[0.5906, 1.0954], [1.5127, 1.8516]],
            [[2.1192, 2.3238], [2.4800, 2.6001]],
            [[2.6893, 2.7524], [2.7970, 2.8284]],
            [[4.0376, 4.0415], [4.0330, 4.0168]],
        ]
    )
    assert torch.allclose(layer(x)[0], expected, atol=1e-4, rtol=0)
    assert repr(nn.CrossMapLRN2d(5)) == "CrossMapLRN2d(5, alpha=0.0001, beta=0.75, k=1)"
    near = nn.CrossMapLRN2d(4)(x)[0, 2:, 0, 0].tolist()
    assert near == pytest.approx([8.9537, 12.9392], abs=1e-4)
    with pytest.raises(ValueError, match=r"^CrossMapLRN2d: Expected input to be 4D, got 2D inst"):
        layer(torch.ones(2, 3))


def test_the_derivative_of_cross_map_normalisation_is_its_own(seed):
    x = torch.randn(1, 5, 1, 2, dtype=torch.float64, requires_grad=True)
    t = torch.randn_like(x)
    layer = nn.CrossMapLRN2d(3, alpha=0.5, beta=0.75, k=2)
    (gradient,) = torch.autograd.grad(layer(x).square().sum(), x)
    ends = [layer(x.detach() + step * t).square().sum().item() for step in (1e-6, -1e-6)]
    assert (gradient * t).sum().item() == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)
