"""Softmax, cross-entropy and GELU on large arrays, which are worked on in blocks."""

import math

import numpy as np
import pytest

import tapegrad as torch

F = torch.nn.functional


def both(function, x, g):
    """Value and gradient in float32, and in float64."""
    found = []
    for dtype in (torch.float32, torch.float64):
        leaf = torch.tensor(x, dtype=dtype, requires_grad=True)
        y = function(leaf)
        y.backward(torch.tensor(g, dtype=dtype))
        found.append((y.detach()._array, leaf.grad._array))
    return found


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
def test_blocks_agree_with_double_precision_for_numbers_of_any_size(function, axis, scale):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((64, 32, 48)) * scale).astype(np.float32)
    g = rng.standard_normal(x.shape).astype(np.float32)
    (y, slope), (y_wide, slope_wide) = both(lambda t: function(t, axis), x, g)
    np.testing.assert_allclose(y, y_wide, rtol=3e-6, atol=3e-6)
    np.testing.assert_allclose(slope, slope_wide, atol=1e-5)


def test_a_large_softmax_leaves_out_minus_infinity():
    x = torch.randn(300, 200)
    x[:, 100:] = -math.inf
    y = torch.softmax(x, 1)
    assert y[:, 100:].sum().item() == 0
    np.testing.assert_allclose(y.sum(1)._array, 1, rtol=1e-5)


def test_chunks_of_linear_scores_give_pytorchs_loss_and_gradient():
    torch.manual_seed(0)
    x, w = torch.randn(4, 3, requires_grad=True), torch.randn(5, 3)
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    loss = F.linear_cross_entropy(x, w, torch.tensor([0, 4, -100, 2]), options=options)
    assert loss.item() == pytest.approx(1.3508520126342773, rel=1e-6)
    loss.backward()
    np.testing.assert_allclose(x.grad[0]._array, [0.33839658, 0.01349887, 0.00387785], rtol=1e-4)
    assert x.grad[2].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_in_single_precision_is_as_exact_as_its_numbers(approximate):
    x = np.linspace(-9, 9, 200_001).astype(np.float32)
    (y, slope), (y_wide, slope_wide) = both(
        lambda t: F.gelu(t, approximate=approximate), x, np.ones_like(x)
    )
    assert abs(y - y_wide).max() < 1e-6
    assert abs(slope - slope_wide).max() < 3e-6


def test_gelu_far_from_zero():
    x = torch.tensor([-1e20, -20.0, 0.0, 20.0, 1e20, math.inf, math.nan], requires_grad=True)
    y = F.gelu(x)
    want = [0.0, 0.0, 0.0, 20.0, float(np.float32(1e20)), math.inf, math.nan]
    np.testing.assert_array_equal(y.tolist(), want)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.tolist(), [0.0, 0.0, 0.5, 1.0, 1.0, 1.0, math.nan])
