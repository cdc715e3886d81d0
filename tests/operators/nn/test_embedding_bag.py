"""Bags of embeddings."""

import pytest

import tapegrad as torch

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
