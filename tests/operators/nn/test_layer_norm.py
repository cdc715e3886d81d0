"""Layer norms: what they keep."""

import numpy as np

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
