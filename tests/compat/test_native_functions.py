"""Functions with an underscore are the public ones."""

import pytest

import tapegrad as torch


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_gradients_of_outputs(name):
    x = torch.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    g = torch.tensor([[1.0, 2.0, -1.0]])
    y = getattr(torch, f"_{name}")(x, 1, False)
    y.backward(g)
    found = getattr(torch, f"_{name}_backward_data")(g, y.detach(), 1, torch.float32)
    assert torch.allclose(found, x.grad)
    assert getattr(torch, f"_{name}")(x.half(), 1, True).dtype is torch.float32


def test_the_others():
    assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]
    assert torch._conj_physical(torch.tensor([1j])).tolist() == [-1j]
    assert torch.compiled_with_cxx11_abi() is True


def test_rows_of_sparse_matrices():
    rows = torch.tensor([0, 0, 2])
    starts = torch._convert_indices_from_coo_to_csr(rows, 4, out_int32=True)
    assert starts.tolist() == [0, 2, 2, 3, 3] and starts.dtype is torch.int32
    columns = torch.tensor([1, 3, 0])
    pairs = torch._convert_indices_from_csr_to_coo(starts.long(), columns)
    assert pairs.tolist() == [[0, 0, 2], [1, 3, 0]] and pairs.dtype is torch.int64
    turned = torch._convert_indices_from_csr_to_coo(
        starts.long(), columns, out_int32=True, transpose=True
    )
    assert turned.tolist() == [[1, 3, 0], [0, 0, 2]] and turned.dtype is torch.int32
    none = torch._convert_indices_from_coo_to_csr(rows[:0], 2)
    assert none.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "rows, error, words",
    [
        ([[0, 1]], RuntimeError, "supposed to be a vector"),
        ([0.0, 1.0], NotImplementedError, "not implemented for 'Float'"),
        ([0, 7], IndexError, "rows go from 0 to 3"),
    ],
)
def test_rows_that_are_none(rows, error, words):
    with pytest.raises(error, match=words):
        torch._convert_indices_from_coo_to_csr(torch.tensor(rows), 4)
