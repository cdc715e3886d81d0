"""A = P L U: factors and errors as PyTorch's."""

import numpy as np
import pytest

import tapegrad

N = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0]]


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_the_factors_have_pytorchs_values():
    p, lower, upper = tapegrad.linalg.lu(tensor(N))
    assert p.tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    np.testing.assert_allclose(lower.numpy(), [[1, 0, 0], [0, 1, 0], [1 / 3, 0.5, 1]])
    np.testing.assert_allclose(upper.numpy(), [[3, 0, 1], [0, 2, 1], [0, 0, -5 / 6]])


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (5, 2, 3), (0, 3), (2, 0, 0)])
def test_the_product_of_the_factors_is_the_matrix(shape):
    a = tapegrad.from_numpy(np.random.default_rng(0).standard_normal(shape))
    p, lower, upper = tapegrad.linalg.lu(a)
    np.testing.assert_allclose((p @ lower @ upper).numpy(), a.numpy(), atol=1e-14)
    for x, y in zip(
        tapegrad.lu_unpack(*tapegrad.linalg.lu_factor(a)), (p, lower, upper), strict=True
    ):
        np.testing.assert_array_equal(x.numpy(), y.numpy())


def test_pivots_count_rows_from_one():
    found = tapegrad.linalg.lu_factor(tensor(N))
    assert found.pivots.tolist() == [3, 3, 3]
    assert found.pivots.dtype is tapegrad.int32


def test_the_permutation_has_no_gradient():
    p, lower, upper = tapegrad.linalg.lu(tensor(N, requires_grad=True))
    assert not p.requires_grad
    assert [type(x.grad_fn).__name__ for x in (lower, upper)] == ["LinalgLuBackward0"] * 2


def test_a_zero_pivot_is_named():
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.lu_factor(tapegrad.zeros(2, 2))
    assert str(caught.value).startswith("torch.linalg.lu_factor: U[1,1] is zero and using it on")
    assert tapegrad.linalg.lu_factor_ex(tapegrad.zeros(2, 2)).info.item() == 1


def test_without_pivots_there_is_no_factorisation_on_the_cpu():
    with pytest.raises(RuntimeError, match="LU without pivoting is not implemented on the CPU"):
        tapegrad.linalg.lu(tapegrad.eye(2), pivot=False)


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0, 0), (3, 0, 2), (0, 3, 3)])
def test_a_matrix_without_elements_has_factors_without_pivoting(shape):
    a = tapegrad.zeros(shape, requires_grad=True)
    packed, pivots = tapegrad.linalg.lu_factor(a, pivot=False)
    assert packed.shape == a.shape and packed.stride() == tapegrad.linalg.lu_factor(a)[0].stride()
    assert pivots.shape == (*shape[:-2], min(shape[-2:])) and packed.requires_grad
    assert tapegrad.linalg.lu_factor_ex(a, pivot=False).info.shape == shape[:-2]


def test_what_is_not_unpacked_is_empty():
    packed, pivots = tapegrad.linalg.lu_factor(tapegrad.eye(2))
    found = tapegrad.lu_unpack(packed, pivots, unpack_data=False)
    assert found.P.shape == (2, 2) and found.L.shape == found.U.shape == (0,)
    assert tapegrad.lu_unpack(packed, pivots, unpack_pivots=False).P.shape == (0,)


@pytest.mark.filterwarnings("ignore:torch.lu is deprecated")
def test_the_older_form_gives_a_pair_or_three():
    assert len(tapegrad.lu(tapegrad.eye(2))) == 2
    assert tapegrad.lu(tapegrad.eye(2), get_infos=True).info.item() == 0
    assert type(tapegrad.eye(2).lu(get_infos=True)) is tuple
