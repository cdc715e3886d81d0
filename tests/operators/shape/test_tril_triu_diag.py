"""Diagonals that lie far beside the matrix, of which NumPy cannot count the number."""

import pytest

import tapegrad as torch

FAR = [2**31, 2**40, 2**63 - 1, -(2**31), -(2**63)]


@pytest.mark.parametrize("offset", FAR)
def test_a_diagonal_beside_the_matrix_is_empty(offset):
    x = torch.ones(2, 3, requires_grad=True)
    for y in (torch.diag(x, offset), x.diagonal(offset), torch.linalg.diagonal(x, offset=offset)):
        assert y.shape == (0,)
    (x.diagonal(offset).sum() + x.sum()).backward()
    assert x.grad.tolist() == [[1] * 3] * 2


@pytest.mark.parametrize("offset", FAR)
def test_triangles_of_such_a_diagonal_are_all_or_nothing(offset):
    x = torch.ones(2, 3)
    all_, nothing = [[1.0] * 3] * 2, [[0.0] * 3] * 2
    assert torch.tril(x, offset).tolist() == (all_ if offset > 0 else nothing)
    assert torch.triu(x, offset).tolist() == (nothing if offset > 0 else all_)
    assert torch.tril_indices(2, 3, offset).shape[1] == (6 if offset > 0 else 0)
    assert torch.triu_indices(2, 3, offset).shape[1] == (0 if offset > 0 else 6)
