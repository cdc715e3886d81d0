"""Determinants and their logarithms: values and gradients as PyTorch's, singular matrices, too."""

import numpy as np
import pytest

import tapegrad

N = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0]]


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_the_determinant_and_its_gradient_have_pytorchs_values():
    x = tensor(N, requires_grad=True)
    y = tapegrad.linalg.det(x)
    y.backward()
    assert y.item() == -5.0
    np.testing.assert_allclose(x.grad.numpy(), [[1, -1, -3], [-2, -3, 6], [-1, 1, -2]], atol=1e-14)
    assert type(y.grad_fn).__name__ == "LinalgDetBackward0"


def test_small_determinants_are_exact():
    assert tapegrad.det(tapegrad.tensor([[1.0, 2.0], [3.0, 4.0]])).item() == -2.0


def test_many_matrices_have_the_determinants_of_few():
    batch = np.random.default_rng(0).standard_normal((100, 3, 3))
    many = tapegrad.det(tapegrad.from_numpy(batch))
    one = [tapegrad.det(tapegrad.from_numpy(x)).item() for x in batch]
    np.testing.assert_allclose(many.numpy(), one, rtol=1e-10)


@pytest.mark.parametrize(
    ("matrix", "cofactors"),
    [
        ([[1.0, 2.0], [2.0, 4.0]], [[4.0, -2.0], [-2.0, 1.0]]),
        (np.diag([2.0, 3.0, 0.0]).tolist(), np.diag([0.0, 0.0, 6.0]).tolist()),
        (np.diag([2.0, 0.0, 0.0]).tolist(), np.zeros((3, 3)).tolist()),
    ],
)
def test_the_gradient_of_a_singular_matrix_is_its_cofactors(matrix, cofactors):
    x = tensor(matrix, requires_grad=True)
    tapegrad.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), cofactors, atol=1e-14)


def test_second_derivatives_at_a_singular_matrix_are_exact():
    x = tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    (slope,) = tapegrad.autograd.grad(tapegrad.det(x), x, create_graph=True)
    (second,) = tapegrad.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(second.numpy(), [[1.0, -1.0], [-1.0, 1.0]], atol=1e-14)


def test_a_batch_of_regular_and_singular_matrices():
    x = tensor([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 0.0], [0.0, 3.0]]], requires_grad=True)
    tapegrad.det(x).sum().backward()
    want = [[[4.0, -2.0], [-2.0, 1.0]], [[3.0, 0.0], [0.0, 2.0]]]
    np.testing.assert_allclose(x.grad.numpy(), want, atol=1e-14)


def test_slogdet_gives_the_sign_and_the_logarithm():
    found = tapegrad.linalg.slogdet(tensor(N))
    assert found.sign.item() == -1.0
    assert found.logabsdet.item() == pytest.approx(1.6094379124341003)
    phase = tapegrad.slogdet(tapegrad.tensor([[1j, 0], [2, 3]]))
    assert phase.sign.item() == pytest.approx(1j)


def test_logdet_is_nan_for_negative_and_minus_infinity_for_zero_determinants():
    x = tensor([N, np.zeros((3, 3)).tolist(), np.eye(3).tolist()])
    first, second, third = tapegrad.logdet(x).tolist()
    assert first != first and second == -float("inf") and third == 0.0


def test_the_logarithm_of_a_singular_determinant_has_an_infinite_gradient():
    x = tapegrad.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    tapegrad.linalg.slogdet(x).logabsdet.backward()
    inf = float("inf")
    assert x.grad.tolist() == [[-inf, inf], [inf, -inf]]
