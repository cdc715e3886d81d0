"""GELU on large arrays and far from zero."""

import gc
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


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_the_room_of_blocks_is_given_back_without_the_garbage_collector(approximate):
    x = torch.randn(1000, requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        F.gelu(x, approximate=approximate).sum().backward()
        assert not any(type(each).__name__ == "_Curve" for each in gc.get_objects())
    finally:
        gc.enable()
