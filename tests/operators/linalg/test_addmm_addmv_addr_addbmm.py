"""A product added to a tensor."""

import tapegrad as torch


def test_factors_of_whole_numbers_are_cut_to_whole_numbers():
    a, b = torch.arange(6).view(2, 3), torch.arange(12).view(3, 4)
    doubled = torch.addmm(torch.arange(4), a, b, beta=2.5)
    assert doubled.tolist() == [[20, 25, 30, 35], [56, 70, 84, 98]]
    doubled = torch.addmm(torch.zeros(4, dtype=torch.int64), a, b, alpha=2.5)
    assert doubled.tolist() == [[40, 46, 52, 58], [112, 136, 160, 184]]


def test_what_is_added_stays_as_it_is():
    bias = torch.tensor([1.0, 2.0])
    matrix = torch.ones(3, 2)
    assert torch.addmm(bias, torch.ones(3, 1), torch.ones(1, 2)).tolist() == [[2.0, 3.0]] * 3
    torch.addmm(matrix, torch.ones(3, 1), torch.ones(1, 2))
    assert bias.tolist() == [1.0, 2.0]
    assert matrix.equal(torch.ones(3, 2))
