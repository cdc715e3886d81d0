"""Compressed matrices made of their parts."""

import pytest

import tapegrad as torch
from tests.messages import raises

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch warns once in a process


def test_sizes_are_found_where_they_are_not_given():
    x = torch.sparse_csr_tensor([0, 1, 3], [1, 0, 2], [1, 2, 3])
    y = torch.sparse_csc_tensor([0, 1, 3], [1, 0, 2], [1, 2, 3])
    assert x.to_dense().tolist() == [[0, 1, 0], [2, 0, 3]]
    assert y.to_dense().tolist() == [[0, 2], [1, 0], [0, 3]]


def test_indices_keep_their_dtype():
    starts, along = torch.tensor([0, 1, 3]).int(), torch.tensor([1, 0, 2]).int()
    x = torch.sparse_csr_tensor(starts, along, torch.ones(3))
    assert x.crow_indices().dtype == x.col_indices().dtype == torch.int32


def test_zeros_of_a_compressed_layout():
    x = torch.zeros(2, 3, layout=torch.sparse_csr)
    assert (x.layout, x._nnz(), x.shape) == (torch.sparse_csr, 0, (2, 3))


@pytest.mark.parametrize(
    ("starts", "along", "values", "size", "error"),
    [
        ([0, 1, 3], [1, 0], [1, 2, 3], (2, 3), "The size of tensor a .2. must match"),
        ([0, 1, 3], [1, 0, 2], [1, 2, 3], (3, 3), "must be equal to the number of rows . 1"),
        ([0, 1, 2], [1, 0, 2], [1, 2, 3], (2, 3), "crow_indices"),
        ([0, 1, 3], [1, 0, 3], [1, 2, 3], (2, 3), "0 <= col_indices < ncols"),
    ],
)
def test_parts_that_do_not_fit_are_refused(starts, along, values, size, error):
    with pytest.raises(RuntimeError, match=error):
        torch.sparse_csr_tensor(starts, along, values, size)


def test_order_is_checked_where_that_is_asked_for():
    parts = [0, 1, 3], [1, 2, 0], [1.0, 2.0, 3.0], (2, 3)
    assert torch.sparse_csr_tensor(*parts).to_dense().tolist() == [[0, 1, 0], [3, 0, 2]]
    with pytest.raises(RuntimeError, match="are sorted and distinct"):
        torch.sparse_csr_tensor(*parts, check_invariants=True)


def test_other_layouts_are_refused():
    with pytest.raises(RuntimeError, match="compressed sparse tensor layout expected"):
        torch.sparse_compressed_tensor([0, 1], [0], [1.0], layout=torch.sparse_coo)
    with pytest.raises(NotImplementedError, match="matrices of elements alone are there"):
        torch.ones(2, 3, 4).to_sparse_csr()


def test_a_value_may_have_dimensions_of_its_own():
    x = torch.arange(12.0).reshape(2, 3, 2).to_sparse_csr(dense_dim=1)
    assert (x.shape, x.dense_dim(), x.values().shape) == ((2, 3, 2), 1, (6, 2))
    y = torch.sparse_csr_tensor([0, 1, 2], [1, 0], torch.ones(2, 2))
    assert y.shape == (2, 2, 2)
    assert y.to_dense().tolist() == [[[0, 0], [1, 1]], [[1, 1], [0, 0]]]
    assert y.transpose(0, 1).layout == torch.sparse_csc
    with pytest.raises(RuntimeError, match="expects a tensor with <= 2 dimensions"):
        y.t()


def test_options_are_checked_by_their_names():
    parts = [0, 1], [0], [1.0]
    for name in ("csr", "csc"):
        make = getattr(torch, f"sparse_{name}_tensor")
        assert make(*parts, dtype=torch.float64, requires_grad=True).requires_grad
        with raises(
            TypeError, f"sparse_{name}_tensor() got an unexpected keyword argument 'size_'"
        ):
            make(*parts, size_=(1, 1))
        with raises(RuntimeError, "Cannot access accelerator device when none is available."):
            make(*parts, pin_memory=True)
