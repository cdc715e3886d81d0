"""Triangular systems."""

import pytest

import tapegrad


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_a_triangular_solver_reads_one_triangle():
    a = tensor([[2.0, 99.0], [1.0, 4.0]], requires_grad=True)
    x = tapegrad.linalg.solve_triangular(a, tensor([[2.0], [5.0]]), upper=False)
    x.sum().backward()
    assert x.tolist() == [[1.0], [1.0]]
    assert a.grad.tolist() == [[-0.375, 0.0], [-0.25, -0.25]]


def test_a_unit_diagonal_is_not_read():
    a = tensor([[7.0, 2.0], [0.0, 7.0]])
    x = tapegrad.linalg.solve_triangular(a, tensor([[5.0], [2.0]]), upper=True, unitriangular=True)
    assert x.tolist() == [[1.0], [2.0]]


def test_triangular_solve_warns_and_gives_the_matrix_back():
    a, b = tensor([[2.0, 1.0], [0.0, 4.0]]), tensor([[4.0], [8.0]])
    with pytest.warns(UserWarning, match=r"^torch.triangular_solve is deprecated"):
        found = tapegrad.triangular_solve(b, a)
        turned = b.triangular_solve(a, transpose=True)
    assert found.solution.tolist() == [[1.0], [2.0]]
    assert found.cloned_coefficient.tolist() == a.tolist()
    assert turned.solution.tolist() == [[2.0], [1.5]]
