"""Condition numbers of every order."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.operators.matrix import close, matrix

A = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


S = [[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]]


CONDITIONS = {
    None: 3.732050807568877,
    "fro": 5.066228051190222,
    "nuc": 12.0,
    1: 4.444444444444445,
    -1: 4 / 3,
    -2: 0.2679491924311227,
    math.inf: 4.444444444444445,
}


@pytest.mark.parametrize("order", CONDITIONS)
def test_condition_numbers_are_those_of_pytorch(order):
    close(torch.linalg.cond(matrix(S), order), CONDITIONS[order])
    singular = torch.linalg.cond(torch.zeros(2, 2), order)
    assert singular.isnan() if order in (None, -2) else singular.isinf()


def test_a_condition_number_of_a_matrix_that_is_not_square_has_order_2():
    close(torch.linalg.cond(matrix(A)), 18.521305341258138)
    with raises(
        RuntimeError,
        "linalg.cond(ord=1): A must be batches of square matrices, but they are 3 by 2 matrices",
    ):
        torch.linalg.cond(matrix(A), 1)
