"""Copies with another slice in them."""

import tapegrad as torch


def test_patches_leave_the_tensor_alone():
    x = torch.zeros(2, 3)
    assert x.select_scatter(torch.ones(3), 0, 1).tolist() == [[0.0] * 3, [1.0] * 3]
    assert x.slice_scatter(torch.ones(2, 1), 1, 2).tolist() == [[0.0, 0.0, 1.0]] * 2
    assert x.diagonal_scatter(torch.ones(2)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert x.sum().item() == 0
