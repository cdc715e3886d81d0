"""Adding, copying and filling slices."""

import pytest

import tapegrad as torch
from tapegrad.arrays.numpy import getitem_setitem as index_kernels


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
