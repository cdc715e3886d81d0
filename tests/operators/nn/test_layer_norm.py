"""Layer norms: what they keep, and rows that are hard to scale."""

import numpy as np
import pytest

import tapegrad as torch

F = torch.nn.functional


def test_layer_norm_keeps_its_input_and_two_numbers_for_each_row():
    x, w = torch.randn(6, 8, requires_grad=True), torch.ones(8)
    node = F.layer_norm(x, (8,), w).grad_fn
    kept = [getattr(each, "_array", each) for each in node.saved]
    sizes = sorted(each.size for each in kept if isinstance(each, np.ndarray))
    assert sizes == [6, 6, 8, 48]


def test_squares_that_are_too_large_do_not_hide_in_zeros():
    x = torch.tensor([[-1e30, 2.0, 3.0]])
    assert torch.nn.functional.layer_norm(x, (3,)).isnan().all()
    assert torch.nn.functional.group_norm(x, 1).isnan().all()


@pytest.mark.parametrize("shift", [0.0, 1.0, 5.0, 300.0])
def test_rows_of_any_mean_are_scaled_as_exactly(shift):
    x, g = torch.randn(300, 64, dtype=torch.float64) + shift, torch.randn(300, 64)
    x[::7] *= 0.01
    parameters = torch.randn(64), torch.randn(64)
    found = []
    for dtype in (torch.float32, torch.float64):
        inputs = [t.to(torch.float32).to(dtype).requires_grad_() for t in (x, *parameters)]
        y = F.layer_norm(inputs[0], (64,), *inputs[1:])
        found.append([y, *torch.autograd.grad(y, inputs, g.to(dtype))])
    for single, exact in zip(*found, strict=True):
        error = (single - exact).abs().max() / exact.abs().max()
        assert error < 2e-6 * max(1, shift), error
