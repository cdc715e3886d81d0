"""Adding, copying and filling slices."""

import pytest

import tapegrad as torch
from tapegrad.arrays.numpy import getitem_setitem as index_kernels
from tests.messages import raises


@pytest.mark.parametrize("few", [0, 1 << 15])
def test_rows_are_added_one_by_one_or_written_once(few, monkeypatch):
    monkeypatch.setattr(index_kernels, "_FEW", few)
    rows = torch.arange(12.0).reshape(4, 3)
    x = torch.ones(3, 3).index_add(0, torch.tensor([2, 0, 2, 2]), rows)
    assert x.tolist() == [[4.0, 5.0, 6.0], [1.0, 1.0, 1.0], [16.0, 19.0, 22.0]]
    x = torch.ones(3, 2).index_add(1, torch.tensor([1, 1, 0, 1]), rows[:3].new_ones(3, 4))
    assert x.tolist() == [[2.0, 4.0]] * 3


def test_index_add_copy_and_fill_change_slices():
    x, index = torch.zeros(3, 2), torch.tensor([2, 0])
    source = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.index_add(0, index, source, alpha=2).tolist() == [[6.0, 8.0], [0.0, 0.0], [2.0, 4.0]]
    assert x.index_copy(0, index, source).tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]
    assert x.index_fill(1, torch.tensor([-1]), 5).tolist() == [[0.0, 5.0]] * 3


def test_slices_of_a_number_are_the_number_itself():
    number, source, first = torch.tensor(1.0), torch.tensor(5.0), torch.tensor([0])
    assert number.index_add(0, first, source).equal(torch.tensor(6.0))
    assert number.index_copy(0, first, source).equal(source)
    assert torch.ones(1).index_copy(0, first, source).tolist() == [5.0]
    with pytest.warns(UserWarning, match=r"^index_reduce\(\) is in beta"):
        assert number.index_reduce(0, first, source, "amax").equal(source)


@pytest.mark.parametrize(
    ("shape", "n", "source", "error", "message"),
    [
        ((), 2, (), IndexError, "When source is scalar, index should have one element (got 2)"),
        (
            (),
            1,
            (2, 1),
            RuntimeError,
            "Source/destination tensor must have same slice shapes. Destination slice shape:  at "
            "dimension 0 and source slice shape: 1 at dimension 0.",
        ),
    ],
)
def test_index_copy_says_what_does_not_fit_a_number(shape, n, source, error, message):
    with raises(error, "index_copy_(): " + message):
        torch.ones(shape).index_copy(0, torch.zeros(n, dtype=torch.int64), torch.ones(source))


@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (2, IndexError, "Dimension specified as 0 but tensor has no dimensions"),
        (
            1,
            RuntimeError,
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            "Got self.shape = [1] source.shape = []",
        ),
    ],
)
def test_index_add_says_what_a_number_lacks(n, error, message):
    with raises(error, message):
        torch.ones(1).index_add(0, torch.zeros(n, dtype=torch.int64), torch.tensor(1.0))


@pytest.mark.parametrize(("alpha", "expected"), [(10, True), (-1, True), (0, False), (0.5, True)])
def test_truth_values_are_added_as_often_as_alpha_says(alpha, expected):
    x = torch.zeros(2, 3, dtype=torch.bool)
    y = x.index_add(1, torch.tensor([1, 1]), torch.ones(2, 2, dtype=torch.bool), alpha=alpha)
    assert y.tolist() == [[False, expected, False]] * 2
