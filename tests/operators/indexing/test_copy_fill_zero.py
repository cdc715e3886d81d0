"""Fills and copies into tensors."""

import numpy as np

import tapegrad as torch
from tests.messages import raises


def test_fill_gives_a_new_tensor_and_takes_gradients_of_its_value():
    x = torch.zeros(2, 3, requires_grad=True)
    value = torch.tensor(3.0, requires_grad=True)
    assert type(torch.fill(x, 3).grad_fn).__name__ == "FillBackward0"
    y = torch.fill(x, value)
    assert type(y.grad_fn).__name__ == "FillBackward1" and len(y.grad_fn.next_functions) == 2
    (y * 2).sum().backward()
    assert x.grad.tolist() == [[0] * 3] * 2 and value.grad.item() == 12


def test_copy_takes_tensors_that_broadcast_and_numbers():
    x = torch.ones(2, 3)
    assert x.copy_(torch.tensor([3, 4, 5])).tolist() == [[3, 4, 5], [3, 4, 5]]
    assert x.copy_(5).tolist() == [[5] * 3] * 2
    message = "copy_(): argument 'other' (position 1) must be Tensor, not numpy.ndarray"
    with raises(TypeError, message):
        x.copy_(np.ones(3))


def test_fill_takes_numbers_and_tensors_of_one():
    x = torch.ones(2, dtype=torch.int32)
    assert x.fill_(3.7).tolist() == [3, 3]
    assert x.fill_(torch.tensor(5)).tolist() == [5, 5]
    with raises(RuntimeError, "value cannot be converted to type int without overflow"):
        x.fill_(1e20)
    assert x.tolist() == [5, 5]


def test_a_diagonal_is_filled_and_cut_from_the_history():
    x = torch.zeros(7, 3).fill_diagonal_(1, wrap=True)
    assert x.nonzero().tolist() == [[0, 0], [1, 1], [2, 2], [4, 0], [5, 1], [6, 2]]
    assert torch.zeros(2, 2, 2).fill_diagonal_(1).nonzero().tolist() == [[0, 0, 0], [1, 1, 1]]
    w = torch.ones(3, 3, requires_grad=True)
    (w * 2).fill_diagonal_(0.0).sum().backward()
    assert w.grad.tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    with raises(RuntimeError, "all dimensions of input must be of equal length"):
        torch.zeros(2, 3, 2).fill_diagonal_(1)


def test_the_node_of_a_copy_has_pytorchs_namespace():
    source = torch.ones(3, requires_grad=True)
    copied = torch.zeros(3).copy_(source)
    assert copied.grad_fn.name() == "torch::autograd::CopyBackwards"
    assert type(copied.grad_fn).__name__ == "CopyBackwards"
