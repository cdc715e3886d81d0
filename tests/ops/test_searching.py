"""Searches, places and reduced slices against PyTorch 2.13."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.tolerance import assert_near


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


def test_places_of_flat_indices():
    found = torch.unravel_index(torch.tensor([5, -13]), (3, 4))
    assert [each.tolist() for each in found] == [[1, 2], [1, 3]]
    with raises(ValueError, "'shape' cannot have negative values, but got (-3, 4)"):
        torch.unravel_index(torch.tensor([1]), (-3, 4))


def test_sum_to_size_undoes_a_broadcast():
    x = torch.ones(2, 3, requires_grad=True)
    assert x.sum_to_size(2, 3) is x
    assert x.sum_to_size(3).tolist() == [2, 2, 2]
    assert x.sum_to_size(2, 1).tolist() == [[3], [3]]
    assert torch.ones(2, dtype=torch.bool).sum_to_size(()).dtype == torch.int64
    with raises(RuntimeError, "size {[2]} is not expandable to size {[2, 3]}."):
        x.sum_to_size(2)


def test_a_diagonal_is_filled_and_cut_from_the_history():
    x = torch.zeros(7, 3).fill_diagonal_(1, wrap=True)
    assert x.nonzero().tolist() == [[0, 0], [1, 1], [2, 2], [4, 0], [5, 1], [6, 2]]
    assert torch.zeros(2, 2, 2).fill_diagonal_(1).nonzero().tolist() == [[0, 0, 0], [1, 1, 1]]
    w = torch.ones(3, 3, requires_grad=True)
    (w * 2).fill_diagonal_(0.0).sum().backward()
    assert w.grad.tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    with raises(RuntimeError, "all dimensions of input must be of equal length"):
        torch.zeros(2, 3, 2).fill_diagonal_(1)


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize(
    ("reduce", "include_self", "want"),
    [
        ("prod", True, [0, 3, 12, 9]),
        ("prod", False, [4, 3, 2, 9]),
        ("mean", True, [4 / 3, 3, 4, 9]),
        ("amax", True, [2, 3, 6, 9]),
        ("amin", False, [2, 3, 2, 9]),
    ],
)
def test_slices_are_reduced(reduce, include_self, want):
    x = torch.tensor([0.0, 3, 6, 9], requires_grad=True)
    index, source = torch.tensor([0, 2, 0]), torch.full((3,), 2.0)
    got = torch.index_reduce(x, 0, index, source, reduce, include_self=include_self)
    assert_near(got, torch.tensor(want, dtype=torch.float32))
    assert type(got.grad_fn).__name__ == "IndexReduceBackward0"


def test_bad_slices():
    x, index = torch.ones(4, 3), torch.tensor([0, 2, 0])
    with raises(
        RuntimeError,
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got sum.",
    ):
        x.index_reduce(0, index, torch.ones(3, 3), "sum")
