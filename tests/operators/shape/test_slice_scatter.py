"""Copies with another slice in them."""

import tapegrad as torch


def test_patches_leave_the_tensor_alone():
    x = torch.zeros(2, 3)
    assert x.select_scatter(torch.ones(3), 0, 1).tolist() == [[0.0] * 3, [1.0] * 3]
    assert x.slice_scatter(torch.ones(2, 1), 1, 2).tolist() == [[0.0, 0.0, 1.0]] * 2
    assert x.diagonal_scatter(torch.ones(2)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert x.sum().item() == 0


def test_places_of_as_strided_scatter_are_those_of_the_memory():
    x = torch.arange(10.0, requires_grad=True)
    src = torch.full((3,), 100.0, requires_grad=True)
    y = torch.as_strided_scatter(x[2:], src, (3,), (2,), 1)  # the first place lies before x[2:]
    assert y.tolist() == [2, 100, 4, 100, 6, 7, 8, 9] and y.storage_offset() == 2
    (y * torch.arange(8.0)).sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 0, 2, 0, 4, 5, 6, 7]
    assert src.grad.tolist() == [0, 1, 3]
    y = torch.as_strided_scatter(torch.arange(10.0).view(2, 5).T, torch.zeros(2), (2,), (1,), 1)
    assert y.tolist() == [[0, 5], [0, 6], [0, 7], [3, 8], [4, 9]]
