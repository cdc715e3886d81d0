"""Embeddings and one-hot vectors."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises, raises_beginning

F = torch.nn.functional


TABLE = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]


def test_the_padding_row_gets_no_gradient_and_frequent_rows_a_share():
    weight = torch.tensor(TABLE, requires_grad=True)
    index = torch.tensor([1, 2, 1, 3, 3, 3])
    F.embedding(index, weight, padding_idx=1, scale_grad_by_freq=True).sum().backward()
    assert weight.grad[:, 0].tolist() == [0.0, 0.0, 1.0, 1.0]


def test_rows_longer_than_max_norm_are_scaled_in_place():
    weight = torch.tensor([[3.0, 4.0], [3.0, 4.0], [0.3, 0.4]], requires_grad=True)
    F.embedding(torch.tensor([1, 2]), weight, max_norm=1.0)
    np.testing.assert_allclose(weight.detach()._array, [[3, 4], [0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    assert weight._version == 1


@pytest.mark.parametrize("most", [1, 3, 40])
def test_rows_named_several_times_are_added_up(most):
    rng = np.random.default_rng(0)
    index = rng.integers(0, 5000 // most, 600)
    g = rng.standard_normal((600, 64)).astype(np.float32)
    weight = torch.zeros(5000, 64, requires_grad=True)
    F.embedding(torch.from_numpy(index), weight).backward(torch.from_numpy(g))
    want = np.zeros((5000, 64))
    np.add.at(want, index, g)
    np.testing.assert_allclose(weight.grad._array, want, atol=1e-5)


def test_memory_used_again_is_cleared():
    weight = torch.zeros(50_000, 8, requires_grad=True)
    for row in (3, 7):
        weight.grad = None
        F.embedding(torch.tensor([row]), weight).sum().backward()
        assert weight.grad.sum().item() == 8 and weight.grad[row].tolist() == [1.0] * 8


def test_what_is_refused():
    weight = torch.tensor(TABLE, requires_grad=True)
    with raises(IndexError, "index out of range in self"):
        F.embedding(torch.tensor([4]), weight)
    with raises(RuntimeError, "'weight' must be 2-D"):
        F.embedding(torch.tensor([0]), torch.ones(3))
    with raises(
        RuntimeError, "Index 1 of input takes value 4 which is not in the valid range [0, 4)"
    ):
        F.embedding_bag(torch.tensor([0, 4]), weight, torch.tensor([0]))
    with raises(RuntimeError, "Class values must be smaller than num_classes."):
        F.one_hot(torch.tensor([3]), 2)


RENORM = (  # the table, the indices, and PyTorch's error
    (torch.ones(3), [0], "Expected 2-dimensional tensor, but got 1-dimensional tensor for"),
    (torch.ones(3, 2), [0.5], "Expected tensor for argument #2 'indices' to have one of the"),
    (torch.ones(3, 2), [7], "select(): index 7 out of range for tensor of size [3, 2] at"),
    (torch.ones(3, 2).int(), [0], "norm(): input dtype should be either floating point or"),
    (torch.ones(3, 2, requires_grad=True), [7], "a leaf Variable that requires grad is being"),
)


@pytest.mark.parametrize(("weight", "indices", "text"), RENORM)
def test_what_renorm_refuses(weight, indices, text):
    with raises_beginning((RuntimeError, IndexError), text):
        torch.embedding_renorm_(weight, torch.tensor(indices), 1.0, 2.0)
    assert (weight == 1).all()


def test_renorm_counts_from_the_end_and_takes_no_rows():
    weight = torch.full((2, 1), 4.0)
    torch.embedding_renorm_(weight, torch.tensor([-1]), 1.0, 2.0)
    assert weight[0] == 4 and weight[1] < 1.001
    whole = torch.ones(2, 1).int()
    assert torch.embedding_renorm_(whole, torch.tensor([], dtype=torch.int64), 1.0, 2.0) is whole
