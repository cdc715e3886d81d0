"""Searches against PyTorch 2.13."""

import math

import tapegrad as torch
from tests.messages import raises


def test_equal_elements_go_to_the_left_or_to_the_right():
    sequence, values = torch.tensor([1, 3, 5, 7, 9]), torch.tensor([[3, 6, 9], [3, 6, 9]])
    assert torch.searchsorted(sequence, values).tolist() == [[1, 3, 4], [1, 3, 4]]
    assert torch.searchsorted(sequence, values, side="right").tolist() == [[2, 3, 5], [2, 3, 5]]
    assert torch.searchsorted(sequence, 4.5, out_int32=True).dtype == torch.int32
    assert torch.bucketize(values, sequence, right=True)[0].tolist() == [2, 3, 5]


def test_each_row_has_a_sequence_and_nan_comes_last():
    rows = torch.tensor([[1, 3, 5], [2, 4, 6]])
    assert torch.searchsorted(rows, torch.tensor([[3, 4], [3, 4]])).tolist() == [[1, 2], [1, 1]]
    sequence = torch.tensor([1.0, math.nan])
    assert torch.searchsorted(sequence, torch.tensor([math.nan, 5.0])).tolist() == [2, 2]
    sorter = torch.tensor([1, 2, 0])
    assert torch.searchsorted(
        torch.tensor([5, 1, 3]), torch.tensor([2]), sorter=sorter
    ).tolist() == [1]


def test_bad_searches():
    x = torch.tensor([1.0, 2])
    with raises(
        RuntimeError, "torch.searchsorted(): side can only be 'left' or 'right' but got bad"
    ):
        torch.searchsorted(x, x, side="bad")
    with raises(RuntimeError, "boundaries tensor must be 1 dimension, but got dim(2)"):
        torch.bucketize(x, torch.ones(1, 2))
    with raises(RuntimeError, "Unsupported input type encountered for isin(): Bool"):
        torch.isin(torch.tensor([True]), torch.tensor([True]))


def test_members():
    assert torch.isin(torch.tensor([1, 2]), 2).tolist() == [False, True]
    assert torch.isin(2, torch.tensor([1, 2])).item() is True
    assert torch.isin(torch.tensor([1, 2]), 2.5, invert=True).tolist() == [True, True]
    assert torch.isin(torch.tensor([math.nan]), torch.tensor([math.nan])).tolist() == [False]
    assert torch.isin(-(2**40), torch.tensor([0, 1], dtype=torch.uint8)).item() is True
