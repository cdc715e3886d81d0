"""Functions of matrices, products of several, Vandermonde matrices, vector products."""

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


def test_several_matrices_with_vectors_at_the_ends():
    v, a = tensor([1.0, 2.0, 3.0]), tensor(N)
    assert tapegrad.linalg.multi_dot([v, a, v]).item() == (v @ a @ v).item()
    assert tapegrad.linalg.multi_dot([v, a]).shape == (3,)
    assert tapegrad.linalg.multi_dot([a, a, v]).shape == (3,)


def test_matrices_that_do_not_fit_are_named():
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.multi_dot([tapegrad.ones(2, 2), tapegrad.ones(2, 3), tapegrad.ones(2, 3)])
    assert str(caught.value) == (
        "multi_dot(): tensors 1 and 2 with shapes [2, 3] and [2, 3] cannot be multiplied"
    )


def test_vandermonde_matrices_rise_in_linalg_and_fall_at_the_top_level():
    x = tapegrad.tensor([2, 3], dtype=tapegrad.int8)
    assert tapegrad.linalg.vander(x, N=4).tolist() == [[1, 2, 4, 8], [1, 3, 9, 27]]
    assert tapegrad.vander(x, 4).tolist() == [[8, 4, 2, 1], [27, 9, 3, 1]]
    assert tapegrad.vander(x, 4).dtype is tapegrad.int64
    assert tapegrad.vander(x, 0).shape == (2, 0)
    assert tapegrad.linalg.vander(tapegrad.ones(4, 2)).shape == (4, 2, 2)


def test_vector_products_broadcast():
    a, b = tensor([[1.0, 2.0, 3.0]]), tensor([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    assert tapegrad.linalg.cross(a, b).tolist() == [[-3.0, 6.0, -3.0], [-6.0, 12.0, -6.0]]
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.cross(a, tapegrad.ones(2, 2).double())
    assert str(caught.value) == (
        "linalg.cross: inputs dimension -1 must have length 3. Got 3 and 2"
    )


def test_vecdot_conjugates_the_first():
    x = tapegrad.tensor([1j, 2.0])
    assert tapegrad.linalg.vecdot(x, x).item() == 5
    with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor"):
        tapegrad.linalg.vecdot(tapegrad.ones(2).long(), tapegrad.ones(2).long())
