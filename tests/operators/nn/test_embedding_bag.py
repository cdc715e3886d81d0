"""Bags of embeddings."""

import pytest

import tapegrad as torch
from tests.messages import raises_beginning

F = torch.nn.functional


TABLE = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]


BAGS = {
    "sum": ([[8, 10], [0, 0], [4, 6]], [0, 3, 0, 1]),
    "mean": ([[4, 5], [0, 0], [2, 3]], [0, 1.5, 0, 0.5]),
    "max": ([[6, 7], [0, 0], [2, 3]], [0, 1, 0, 1]),
}


@pytest.mark.parametrize("mode", BAGS)
def test_bags_leave_out_padding_and_may_be_empty(mode):
    values, slopes = BAGS[mode]
    weight = torch.tensor(TABLE, requires_grad=True)
    index, offsets = torch.tensor([1, 3, 1, 0, 1]), torch.tensor([0, 2, 2])
    y = F.embedding_bag(index, weight, offsets, mode=mode, padding_idx=0)
    assert y.tolist() == values
    y.sum().backward()
    assert weight.grad.tolist() == [[s, s] for s in slopes]
    assert y.grad_fn.name() == "EmbeddingBagBackward0"


def test_weights_of_samples_have_a_gradient():
    weight, share = torch.tensor(TABLE), torch.tensor([[0.5, 2.0]], requires_grad=True)
    y = F.embedding_bag(torch.tensor([[1, 3]]), weight, mode="sum", per_sample_weights=share)
    assert y.tolist() == [[13.0, 15.5]]
    y.sum().backward()
    assert share.grad.tolist() == [[5.0, 13.0]]


def _zeros(*shape, dtype=torch.int64):
    return torch.zeros(shape, dtype=dtype)


REFUSED = (  # the table, the indices, the offsets, what follows, and PyTorch's error
    (_zeros(3), _zeros(2, 2, 2), _zeros(1), (), "input has to be a 1D or 2D Tensor, but got"),
    (_zeros(3), _zeros(2), _zeros(1, 1), (), "offsets has to be a 1D Tensor, but got Tensor of"),
    (_zeros(3), _zeros(2, 2), _zeros(1, 1), (), "weight has to be a 2D Tensor, but got Tensor of"),
    (_zeros(3), _zeros(2, 2, 2), _zeros(1), (None, False, 9), "padding_idx must be within the num"),
    (_zeros(3, 2), _zeros(2) / 2, _zeros(1), (), "Expected tensor for argument #1 'indices'"),
    (_zeros(3, 2), _zeros(2), _zeros(1) / 2, (), "Expected tensor for argument #1 'indices'"),
    (_zeros(3, 2), _zeros(2), _zeros(1), (), "Expected tensor for argument #1 'weight'"),
    (_zeros(3, 2) / 2, _zeros(2), _zeros(1), (_zeros(3) / 2,), "Expected per_sample_weights"),
)


@pytest.mark.parametrize(("weight", "indices", "offsets", "rest", "text"), REFUSED)
def test_the_native_function_refuses_in_pytorchs_order(weight, indices, offsets, rest, text):
    with raises_beginning(RuntimeError, text):
        torch.embedding_bag(weight, indices, offsets, False, 0, False, *rest)


def test_the_native_function_takes_indices_in_two_dimensions():
    weight, indices = torch.tensor(TABLE), torch.tensor([[0, 1], [2, 3]])
    found = torch.embedding_bag(weight, indices, torch.tensor([0, 1]), False, 0)[0]
    assert found.tolist() == [[0.0, 1.0], [12.0, 15.0]]
