"""Which of several equal elements is chosen: what PyTorch chooses (its answers, observed)."""

import pytest

import tapegrad as torch

X = [3, 1, 2, 3, 1, 2, 3, 1, 2, 2]


@pytest.mark.parametrize(
    ("k", "place"),
    [(1, 4), (2, 1), (3, 7), (4, 8), (5, 9), (6, 5), (7, 2), (8, 3), (9, 6), (10, 0)],
)
def test_kthvalue_chooses_among_ties_as_pytorch(k, place):
    assert torch.kthvalue(torch.tensor(X), k).indices.item() == place


@pytest.mark.parametrize(
    ("k", "largest", "places"),
    [
        (1, True, [3]),
        (1, False, [1]),
        (3, True, [3, 0, 6]),
        (3, False, [1, 4, 7]),
        (5, True, [3, 0, 6, 5, 8]),
        (5, False, [1, 4, 7, 8, 9]),
        (10, True, [3, 6, 0, 5, 9, 8, 2, 1, 4, 7]),
        (10, False, [1, 7, 4, 9, 8, 5, 2, 3, 0, 6]),
    ],
)
def test_topk_chooses_among_ties_as_pytorch(k, largest, places):
    assert torch.topk(torch.tensor(X), k, largest=largest).indices.tolist() == places


def test_topk_of_a_long_row_of_ties_takes_the_heap():
    x = (torch.arange(1000) * 7919) % 5
    assert torch.topk(x, 6).indices.tolist() == [11, 1, 21, 26, 16, 6]
