"""Cholesky factors, and what is computed from them."""

import numpy as np
import pytest

import tapegrad

A = [[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 5.0]]


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_one_triangle_is_read():
    lower = tapegrad.linalg.cholesky(tapegrad.tensor([[4.0, 100.0], [2.0, 5.0]]))
    upper = tapegrad.linalg.cholesky(tapegrad.tensor([[4.0, 2.0], [100.0, 5.0]]), upper=True)
    assert lower.tolist() == [[2.0, 0.0], [1.0, 2.0]]
    assert upper.tolist() == [[2.0, 1.0], [0.0, 2.0]]


def test_the_gradient_is_that_of_a_symmetric_matrix():
    x = tensor(A, requires_grad=True)
    tapegrad.linalg.cholesky(x)[2, 0].backward()
    want = [[-0.125, 0.0, 0.25], [0.0, 0.0, 0.0], [0.25, 0.0, 0.0]]
    np.testing.assert_allclose(x.grad.numpy(), want, atol=1e-16)


def test_complex_matrices_are_hermitian():
    a = tapegrad.tensor([[2, 1j], [-1j, 3]], dtype=tapegrad.complex128)
    factor = tapegrad.linalg.cholesky(a)
    np.testing.assert_allclose((factor @ factor.mH).numpy(), a.numpy(), atol=1e-15)


@pytest.mark.parametrize(
    ("matrix", "order"),
    [([[0.0, 0.0], [0.0, 0.0]], 1), ([[1.0, 2.0], [2.0, 1.0]], 2), ([[float("nan")] * 2] * 2, 1)],
)
def test_a_matrix_that_is_not_positive_definite_is_refused(matrix, order):
    with pytest.raises(tapegrad.linalg.LinAlgError) as caught:
        tapegrad.linalg.cholesky(tapegrad.tensor(matrix))
    assert str(caught.value) == (
        "linalg.cholesky: The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {order} is not positive-definite)."
    )
    assert tapegrad.linalg.cholesky_ex(tapegrad.tensor(matrix)).info.item() == order


def test_the_failing_matrix_of_a_batch_is_named():
    batch = tapegrad.stack([tapegrad.eye(2), -tapegrad.eye(2)])
    with pytest.raises(tapegrad.linalg.LinAlgError, match=r"^linalg.cholesky: \(Batch element 1\)"):
        tapegrad.linalg.cholesky(batch)
    assert tapegrad.linalg.cholesky_ex(batch).L[0].tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("upper", [False, True])
def test_systems_and_inverses_from_the_factor(upper):
    a = tensor(A)
    factor = tapegrad.linalg.cholesky(a, upper=upper)
    b = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    x = tapegrad.cholesky_solve(b, factor, upper)
    np.testing.assert_allclose((a @ x).numpy(), b.numpy(), atol=1e-14)
    inverse = tapegrad.cholesky_inverse(factor, upper)
    np.testing.assert_allclose((a @ inverse).numpy(), np.eye(3), atol=1e-14)


def test_a_zero_on_the_diagonal_of_the_factor_is_refused():
    with pytest.raises(tapegrad.linalg.LinAlgError, match="The diagonal element 2 is zero"):
        tapegrad.cholesky_inverse(tapegrad.diag(tapegrad.tensor([1.0, 0.0])))


def test_right_sides_that_do_not_fit_are_refused():
    with pytest.raises(RuntimeError) as caught:
        tapegrad.cholesky_solve(tapegrad.ones(3, 2), tapegrad.eye(2))
    assert str(caught.value) == (
        "Incompatible matrix sizes for cholesky_solve: each A matrix is 2 by 2 but each b matrix "
        "is 3 by 2"
    )
