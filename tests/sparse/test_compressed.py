"""Sparse matrices compressed by rows and by columns."""

import copy
import io

import pytest

import tapegrad as torch

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch warns once in a process

DENSE = [[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]]


def rows():
    return torch.tensor(DENSE).to_sparse_csr()


def columns():
    return torch.tensor(DENSE).to_sparse_csc()


def test_a_matrix_prints_as_in_pytorch():
    assert repr(rows()) == (
        "tensor(crow_indices=tensor([0, 1, 3]),\n"
        "       col_indices=tensor([1, 0, 2]),\n"
        "       values=tensor([2., 3., 4.]), size=(2, 3), nnz=3,\n"
        "       layout=torch.sparse_csr)"
    )
    assert repr(columns()) == (
        "tensor(ccol_indices=tensor([0, 1, 2, 3]),\n"
        "       row_indices=tensor([1, 0, 1]),\n"
        "       values=tensor([3., 2., 4.]), size=(2, 3), nnz=3,\n"
        "       layout=torch.sparse_csc)"
    )


def test_it_says_what_it_is():
    x, y = rows(), columns()
    assert (x.layout, x.is_sparse, x.is_sparse_csr) == (torch.sparse_csr, False, True)
    assert (y.layout, y.is_sparse, y.is_sparse_csr) == (torch.sparse_csc, False, False)
    assert (x.shape, x.dim(), x.numel(), x._nnz(), len(x)) == ((2, 3), 2, 6, 3, 2)
    assert (x.sparse_dim(), x.dense_dim(), x.element_size()) == (2, 0, 4)
    with pytest.raises(RuntimeError, match="ccol_indices expected sparse column compressed tensor"):
        x.ccol_indices()
    with pytest.raises(RuntimeError, match="coalesce expected sparse coordinate tensor layout"):
        x.coalesce()


@pytest.mark.parametrize("make", [rows, columns])
def test_layouts_are_converted_into_each_other(make):
    x = make()
    for converted, layout in (
        (x.to_sparse_csr(), torch.sparse_csr),
        (x.to_sparse_csc(), torch.sparse_csc),
        (x.to_sparse_coo(), torch.sparse_coo),
        (x.to_sparse(layout=torch.sparse_csc), torch.sparse_csc),
        (x.clone(), x.layout),
        (x.double(), x.layout),
        (copy.deepcopy(x), x.layout),
    ):
        assert converted.layout == layout
        assert converted.to_dense().tolist() == DENSE
    assert x.t().layout != x.layout
    assert x.t().to_dense().tolist() == [[0.0, 3.0], [2.0, 0.0], [0.0, 4.0]]
    assert x[0].to_dense().tolist() == DENSE[0]
    assert x[0, 1].item() == 2.0


@pytest.mark.parametrize("make", [rows, columns])
def test_products(make):
    x = make()
    assert (x @ torch.ones(3, 2)).tolist() == [[2.0, 2.0], [7.0, 7.0]]
    assert (torch.ones(2, 2) @ x).tolist() == [[3.0, 2.0, 4.0], [3.0, 2.0, 4.0]]
    assert (x @ torch.ones(3)).tolist() == [2.0, 7.0]
    assert torch.addmm(torch.ones(2, 2), x, torch.ones(3, 2)).tolist() == [[3.0, 3.0], [8.0, 8.0]]
    squares = x @ x.t()
    assert squares.layout == torch.sparse_csr
    assert squares.to_dense().tolist() == [[4.0, 0.0], [0.0, 25.0]]


@pytest.mark.parametrize("make", [rows, columns])
def test_sums_products_with_numbers_and_functions_keep_the_layout(make):
    x = make()
    for found, want in (
        (x + x, [[0.0, 4.0, 0.0], [6.0, 0.0, 8.0]]),
        (2 * x, [[0.0, 4.0, 0.0], [6.0, 0.0, 8.0]]),
        (x * x, [[0.0, 4.0, 0.0], [9.0, 0.0, 16.0]]),
        (x * torch.tensor(DENSE), [[0.0, 4.0, 0.0], [9.0, 0.0, 16.0]]),
        (-x, [[0.0, -2.0, 0.0], [-3.0, 0.0, -4.0]]),
        (torch.relu(-x), [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        (torch.zeros_like(x), [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    ):
        assert found.layout == x.layout
        assert found.to_dense().tolist() == want
    assert (x + torch.ones(2, 3)).tolist() == [[1.0, 3.0, 1.0], [4.0, 1.0, 5.0]]
    assert x.sum().item() == 9.0


def test_what_is_not_there_raises_as_in_pytorch():
    x = rows()
    for call in (lambda: x / 2, lambda: x.exp(), lambda: x - x, lambda: x == x, lambda: x > 0):
        with pytest.raises(RuntimeError, match="unsupported tensor layout: SparseCsr"):
            call()
    for call in (x.max, x.mean, lambda: torch.equal(x, x)):
        with pytest.raises(NotImplementedError, match="'SparseCsrCPU' backend"):
            call()
    with pytest.raises(TypeError, match="can't convert SparseCsr layout tensor to numpy"):
        x.numpy()


@pytest.mark.parametrize(
    ("reduce", "want", "of_values", "of_dense"),
    [
        ("sum", [[4, 6], [16, 23]], [5, 1, 9], [[3, 3], [2, 2], [4, 4]]),
        ("mean", [[4, 6], [8, 11.5]], [5, 0.5, 4.5], [[1.5, 1.5], [2, 2], [2, 2]]),
        ("amax", [[4, 6], [16, 20]], [5, 0, 9], [[0, 0], [2, 2], [4, 4]]),
    ],
)
def test_rows_reduced_and_their_gradients(reduce, want, of_values, of_dense):
    values = torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
    x = torch.sparse_csr_tensor([0, 1, 3], [1, 0, 2], values, (2, 3))
    dense = torch.arange(6.0).reshape(3, 2).requires_grad_()
    found = torch.sparse.mm(x, dense, reduce)
    found.sum().backward()
    assert found.tolist() == want
    assert values.grad.tolist() == of_values
    assert dense.grad.tolist() == of_dense


def test_reduction_wants_rows():
    with pytest.raises(RuntimeError, match="expect self to be SparseCsr, got SparseCsc"):
        torch.sparse.mm(columns(), torch.ones(3, 2), "mean")
    with pytest.raises(RuntimeError, match="reduce type of prod has not been enabled"):
        torch.sparse.mm(rows(), torch.ones(3, 2), "prod")


def test_the_gradient_of_a_leaf_has_its_layout():
    x = rows().requires_grad_()
    (x.to_dense() * 5).sum().backward()
    assert x.grad.layout == torch.sparse_csr
    assert x.grad.to_dense().tolist() == [[0.0, 5.0, 0.0], [5.0, 0.0, 5.0]]


@pytest.mark.parametrize("make", [rows, columns])
def test_a_file_keeps_it(make):
    file = io.BytesIO()
    torch.save(make(), file)
    file.seek(0)
    found = torch.load(file)
    assert repr(found) == repr(make())


def test_assert_close_compares_the_parts():
    torch.testing.assert_close(rows(), rows())
    with pytest.raises(AssertionError, match="Sparse CSR values are not close!"):
        torch.testing.assert_close(rows(), rows() * 2)
