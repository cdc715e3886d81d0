"""Softmax and cross-entropy of large arrays, which are worked on in blocks."""

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


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_of_one_number_without_dimensions(name):
    x = torch.tensor(1.5, requires_grad=True)
    y = getattr(torch, name)(x, 0)
    assert y.item() == (1 if name == "softmax" else 0) and y._base is None
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert g.item() == h.item() == 0
    assert torch.func.jvp(lambda x: getattr(torch, name)(x, 0), (x,), (x,))[1].item() == 0


def test_of_no_elements_there_is_a_softmax_in_every_dtype():
    x = torch.zeros(0, 3, dtype=torch.int64)
    assert torch.softmax(x, 1).dtype is torch.int64 and torch.log_softmax(x, 0).shape == (0, 3)
