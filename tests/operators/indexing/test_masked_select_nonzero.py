"""Where something is not zero, and what is there."""

import numpy as np
import pytest

import tapegrad as torch

ARRAY = np.arange(24.0).reshape(2, 3, 4)


@pytest.fixture
def x():
    return torch.from_numpy(ARRAY.copy())


def test_nonzero_comes_as_rows_or_by_dimension():
    x = torch.tensor([[1, 0], [0, 2]])
    assert x.nonzero().tolist() == [[0, 0], [1, 1]]
    rows, columns = torch.nonzero(x, as_tuple=True)
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [0, 1])
    assert torch.tensor(5).nonzero().shape == (1, 0)


def test_masked_select_flattens():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x.masked_select(torch.tensor([True, False]))
    assert y.tolist() == [1.0, 3.0]
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 0.0], [1.0, 0.0]]
