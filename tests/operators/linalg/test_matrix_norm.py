"""Norms of matrices: every order, dimensions, empty matrices, errors."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.operators.matrix import close, matrix

A = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


NORMS = {
    "fro": 9.539392014169456,
    "nuc": 10.03981867222375,
    1: 12.0,
    -1: 9.0,
    2: 9.525518091565107,
    -2: 0.5143005806586441,
    math.inf: 11.0,
    -math.inf: 3.0,
}


@pytest.mark.parametrize("order", NORMS)
def test_norms_are_those_of_pytorch(order):
    x = matrix(A)
    close(torch.linalg.matrix_norm(x, order), NORMS[order])
    close(torch.linalg.norm(x, order), NORMS[order])
    turned = x.T.reshape(2, 1, 3)
    across = torch.linalg.matrix_norm(turned, order, dim=(2, 0), keepdim=True)
    close(across, [[[NORMS[order]]]])


@pytest.mark.filterwarnings("ignore:at..nuclear_norm")
def test_the_nuclear_norm_has_its_older_names():
    for found in (
        torch.norm(matrix(A), "nuc"),
        matrix(A).norm(p="nuc"),
        torch.nuclear_norm(matrix(A)),
    ):
        close(found, NORMS["nuc"])
    with raises(RuntimeError, "linalg.matrix_norm: dim must be a 2-tuple. Got 0 1 2"):
        torch.norm(torch.ones(2, 2, 2), "nuc")


def test_norms_of_empty_matrices_are_zero_where_pytorchs_are():
    for order in ("fro", "nuc", 1, 2, math.inf):
        assert torch.linalg.matrix_norm(torch.ones(3, 0), order) == 0
    with raises(IndexError, "amin(): Expected reduction dim -1 to have non-zero size."):
        torch.linalg.matrix_norm(torch.ones(3, 0), -2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: torch.linalg.matrix_norm(x, 3), "linalg.matrix_norm: Order 3 not supported."),
        (
            lambda x: torch.linalg.matrix_norm(x, "foo"),
            "linalg.matrix_norm: Order foo not supported.",
        ),
        (
            lambda x: torch.linalg.matrix_norm(x, 2, (0, -2)),
            "linalg.matrix_norm: dims must be different. Got (0, 0)",
        ),
        (
            lambda x: torch.linalg.norm(x[None], 2),
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got 3D.",
        ),
        (
            lambda x: torch.linalg.norm(x, 2, dim=()),
            "linalg.norm: If dim is specified, it must be of length 1 or 2. Got []",
        ),
        (
            lambda x: torch.linalg.vector_norm(x, dtype=torch.float32),
            "linalg.vector_norm: the dtype of the input (Double) should be convertible without "
            "narrowing to the specified dtype (Float)",
        ),
        (lambda x: torch.linalg.cond(x, 3), "linalg.cond got an invalid norm type: 3"),
    ],
)
def test_norms_that_there_are_not_are_refused(call, message):
    with raises(RuntimeError, message):
        call(matrix(A))
