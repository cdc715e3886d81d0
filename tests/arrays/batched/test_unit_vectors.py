"""Unit vectors stay factors as long as they can, and are whole batches where they cannot."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.batched import namespace as xp
from tapegrad.arrays.batched.array import Batched, Level
from tapegrad.arrays.batched.unit_vectors import units


def batch(*factors):
    return units(Level(len(factors)), np.array(factors))


def test_a_product_with_the_same_array_for_all_scales_the_factors():
    product = batch(1.0, 2.0) * np.array([3.0, 4.0])
    assert product.factors.tolist() == [3.0, 8.0]
    assert product.value.tolist() == [[3.0, 0.0], [0.0, 8.0]]
    assert product.factors is None  # a whole batch from now on


def test_a_matrix_times_unit_vectors_is_its_columns_scaled():
    matrix = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    columns = xp.matmul(matrix, batch(1.0, 10.0))
    assert columns.value.tolist() == [[1.0, 3.0, 5.0], [20.0, 40.0, 60.0]]
    rows = xp.matmul(batch(1.0, 10.0, 100.0), matrix)
    assert rows.value.tolist() == [[1.0, 2.0], [30.0, 40.0], [500.0, 600.0]]


@pytest.mark.parametrize("operation", [xp.exp, abs, lambda x: x + 1, lambda x: x[0], xp.sum])
def test_other_operations_are_those_of_the_whole_batch(operation):
    level = Level(2)
    whole = Batched(level, np.diag([1.0, -2.0]))
    found = operation(units(level, np.array([1.0, -2.0])))
    assert found.value.tolist() == operation(whole).value.tolist()


def test_what_is_written_into_them_is_there():
    members = batch(1.0, 2.0)
    members += np.array([1.0, 1.0])
    assert members.value.tolist() == [[2.0, 1.0], [1.0, 3.0]]
    members = batch(1.0, 2.0)
    members[0] = np.array(7.0)
    assert members.value.tolist() == [[7.0, 0.0], [7.0, 2.0]]


def test_zero_times_infinity_is_nan_as_in_a_whole_batch():
    w, x = torch.tensor([1.0, float("inf")]), torch.ones(2)
    rows = torch.func.jacrev(lambda x: x * w)(x)
    assert rows.isnan().tolist() == [[False, True], [False, False]]
    columns = torch.func.jacfwd(lambda x: x * w)(x)
    assert columns.isnan().tolist() == [[False, False], [True, False]]


def test_a_jacobian_of_products_never_needs_the_whole_batch(monkeypatch):
    monkeypatch.setattr("tapegrad.arrays.batched.unit_vectors.all_members", None)
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for mode in (torch.func.jacrev, torch.func.jacfwd):
        assert mode(lambda x: 2 * (w @ x))(torch.ones(2)).tolist() == (2 * w).tolist()
