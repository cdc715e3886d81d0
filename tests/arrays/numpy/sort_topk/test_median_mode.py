"""Medians of large arrays, and PyTorch's choice among equal elements."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.numpy import namespace as xp


def test_the_median_of_a_long_row():
    x = np.round(np.random.default_rng(0).standard_normal((3, 20_001)) * 10)
    order = np.argsort(x, axis=1, kind="stable")
    np.testing.assert_array_equal(xp.median_index(x, 1, False), order[:, 10_000:10_001])
    np.testing.assert_array_equal(xp.kth_index(x, 77, 1), order[:, 77:78])


X = [3, 1, 2, 3, 1, 2, 3, 1, 2, 2]


@pytest.mark.parametrize(
    ("k", "place"),
    [(1, 4), (2, 1), (3, 7), (4, 8), (5, 9), (6, 5), (7, 2), (8, 3), (9, 6), (10, 0)],
)
def test_kthvalue_chooses_among_ties_as_pytorch(k, place):
    assert torch.kthvalue(torch.tensor(X), k).indices.item() == place
