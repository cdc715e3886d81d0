"""Bunch and Kaufman's factors."""

import numpy as np
import pytest

import tapegrad

A = [[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 5.0]]


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_bunch_and_kaufmans_factors_solve_indefinite_systems():
    a = tensor([[0.0, 3.0, 4.0], [3.0, 2.0, 0.0], [4.0, 0.0, 2.0]])
    packed, pivots = tapegrad.linalg.ldl_factor(a)
    assert pivots.tolist() == [-3, -3, 3]
    np.testing.assert_allclose(
        packed.numpy(), [[0, 0, 0], [4, 2, 0], [-0.375, 0.75, 3.125]], atol=1e-15
    )
    b = tensor([[1.0], [2.0], [3.0]])
    x = tapegrad.linalg.ldl_solve(packed, pivots, b)
    np.testing.assert_allclose((a @ x).numpy(), b.numpy(), atol=1e-14)


def test_bunch_and_kaufmans_factors_have_no_derivative():
    packed = tapegrad.linalg.ldl_factor(tensor(A, requires_grad=True)).LD
    with pytest.raises(RuntimeError, match=r"^derivative for aten::linalg_ldl_factor_ex is not"):
        packed.sum().backward()


@pytest.mark.parametrize(
    ("pivots", "reason"),
    [
        ([0, 1], r"\|pivot\| >= 1"),
        ([3, 2], r"\|pivot\| <= 2"),
        ([1, -(2**40)], r"\|pivot\| <= 2"),
        ([1, -2], "pivot > 0 but for pairs of rows"),
        ([-1, 2], "pivot > 0 but for pairs of rows"),
    ],
)
def test_pivots_that_lead_out_of_the_matrix_are_refused(pivots, reason):
    factors, b = tapegrad.tensor([[2.0, 1.0], [1.0, 3.0]]), tapegrad.ones(2, 1)
    expected = f"^Pivots given to ldl_solve must all satisfy {reason}. Did you properly pass"
    for many in (tapegrad.tensor(pivots), tapegrad.tensor([[1, 2], pivots])):
        with pytest.raises(RuntimeError, match=expected):
            tapegrad.linalg.ldl_solve(factors.expand(*many.shape, 2), many, b)
    pair = tapegrad.tensor([-2, -2], dtype=tapegrad.int32)
    assert tapegrad.linalg.ldl_solve(factors, pair, b).isfinite().all()


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (0, 2, 2)])
@pytest.mark.parametrize("columns", [0, 5])
def test_systems_without_elements_are_solved(shape, columns):
    factors, right = tapegrad.zeros(shape), tapegrad.zeros(*shape[:-1], columns)
    pivots = tapegrad.zeros(shape[:-1], dtype=tapegrad.int32)
    assert tapegrad.linalg.ldl_solve(factors, pivots, right).shape == right.shape
