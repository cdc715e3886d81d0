"""Pseudo-inverses and ranks: gradients and tolerances."""

import pytest

import tapegrad as torch
from tests.operators.matrix import close, matrix

A = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_the_gradient_of_a_pseudo_inverse_is_that_of_pytorch():
    x = matrix(A).requires_grad_()
    y = torch.linalg.pinv(x)
    close(y, [[-4 / 3, -1 / 3, 2 / 3], [13 / 12, 1 / 3, -5 / 12]])
    y.square().sum().backward()
    close(
        x.grad,
        [
            [10.194444444444443, -8.048611111111109],
            [2.7777777777777692, -2.194444444444435],
            [-4.638888888888916, 3.6597222222222388],
        ],
    )


def test_tolerances_say_which_values_count_as_zero():
    x = torch.diag(torch.tensor([1.0, 0.25, 1e-8]))
    inverse = torch.linalg.pinv
    close(inverse(x).diag(), [1.0, 4.0, 0.0])
    close(inverse(x, atol=1e-9).diag(), [1.0, 4.0, 1e8])
    close(inverse(x, rtol=0.5).diag(), [1.0, 0.0, 0.0])
    close(torch.pinverse(x).diag(), [1.0, 4.0, 1e8])
    ranks = [{}, {"atol": 1e-9}, {"rtol": 0.5}, {"tol": 0.1}, {"hermitian": True}]
    assert [int(torch.linalg.matrix_rank(x, **given)) for given in ranks] == [2, 3, 1, 2, 2]
    limits = torch.tensor([0.1, 0.5])
    close(torch.linalg.matrix_rank(x.expand(2, 3, 3), atol=limits), [2, 1])
    with pytest.raises(TypeError, match=r"^linalg_matrix_rank\(\) received an invalid combination"):
        torch.linalg.matrix_rank(x, atol=limits, rtol=0.1)


def test_tolerances_that_do_not_go_with_the_matrices_are_refused():
    x = torch.eye(2).expand(2, 2, 2)
    for function in (torch.linalg.matrix_rank, torch.linalg.pinv):
        with pytest.raises(RuntimeError, match=r"The size of tensor a \(0\) must match"):
            function(x, atol=torch.tensor([]))
