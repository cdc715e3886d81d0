"""Exponentials and powers of matrices."""

import numpy as np
import pytest

import tapegrad

N = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0]]


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_the_exponential_and_its_gradient_have_pytorchs_values():
    x = tensor(N, requires_grad=True)
    y = tapegrad.matrix_exp(x / 4)
    y.sum().backward()
    slope = [[0.5660, 0.5103, 0.6293], [0.5319, 0.4790, 0.5921], [0.4724, 0.4238, 0.5278]]
    np.testing.assert_allclose(x.grad.numpy(), slope, atol=5e-5)
    whole = tapegrad.linalg.matrix_exp(tensor(N))
    assert whole[0].tolist() == pytest.approx([6.47387232830, 7.04200282311, 3.52100141155])


def test_a_matrix_with_nan_spoils_no_other_of_its_batch():
    batch = tapegrad.stack([tapegrad.zeros(2, 2), tapegrad.full((2, 2), float("nan"))])
    first, second = tapegrad.matrix_exp(batch)
    assert first.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert second.isnan().all()


def test_powers_are_products():
    a = tensor(N)
    np.testing.assert_allclose(a.matrix_power(5).numpy(), np.linalg.matrix_power(N, 5))
    np.testing.assert_allclose(a.matrix_power(-2).numpy(), np.linalg.matrix_power(N, -2))
    assert a.matrix_power(0).tolist() == np.eye(3).tolist()
    assert tapegrad.tensor([[1, 1], [0, 1]]).matrix_power(3).tolist() == [[1, 3], [0, 1]]


def test_the_zeroth_power_has_a_gradient_of_zeros():
    x = tensor(N, requires_grad=True)
    tapegrad.matrix_power(x, 0).sum().backward()
    assert not x.grad.any()


def test_a_power_that_is_not_whole_is_refused():
    with pytest.raises(TypeError) as caught:
        tapegrad.linalg.matrix_power(tapegrad.eye(2), 1.5)
    assert str(caught.value) == (
        "linalg_matrix_power(): argument 'n' (position 2) must be int, not float"
    )
