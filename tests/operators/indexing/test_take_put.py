"""Elements by their number in row-major order."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


def test_put_counts_in_row_major_order():
    x = torch.zeros(2, 2)
    x.put_(torch.tensor([3, 3]), torch.tensor([1.0, 2.0]), accumulate=True)
    assert x.tolist() == [[0.0, 0.0], [0.0, 3.0]]


ARRAY = np.arange(24.0).reshape(2, 3, 4)


@pytest.fixture
def x():
    return torch.from_numpy(ARRAY.copy())


def test_take_counts_in_row_major_order():
    x = torch.tensor([[1, 2], [3, 4]])
    assert x.take(torch.tensor([[0, -1]])).tolist() == [[1, 4]]
    with raises(IndexError, "out of range: tried to access index 4 on a tensor of 4 elements."):
        x.take(torch.tensor([4]))
