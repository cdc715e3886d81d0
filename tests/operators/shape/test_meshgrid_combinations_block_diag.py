"""Combinations of more elements than there are."""

import tapegrad as torch


def test_there_are_no_combinations_of_more_elements_than_there_are():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    assert torch.combinations(x, 13).shape == (0, 13)
    assert torch.combinations(x, 3, with_replacement=True).shape == (10, 3)
    torch.combinations(x, 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_parts_of_nothing():
    assert [tuple(part.shape) for part in torch.ones(2, 0).unsafe_chunk(3, 1)] == [(2, 0)] * 3
