"""Kernels of factors: what works on a whole batch at once gives what each matrix gives alone."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import cholesky_lu_solve

RNG = np.random.default_rng(0)


def batch(dtype, *shape):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(4, 50, 3, 3), (200, 2, 4), (200, 4, 2)])
def test_the_factors_of_many_matrices_are_those_of_each(dtype, shape):
    many = batch(dtype, *shape)
    tolerance = 1e-3 if dtype in ("float32", "complex64") else 1e-10
    packed, pivots, info = cholesky_lu_solve.lu_packed(many)
    assert packed.dtype == dtype and pivots.dtype == info.dtype == np.int32
    for index in np.ndindex(shape[:-2]):
        alone = cholesky_lu_solve.lu_packed(many[index])
        np.testing.assert_allclose(packed[index], alone[0], rtol=tolerance, atol=tolerance)
        np.testing.assert_array_equal(pivots[index], alone[1])


def test_a_zero_pivot_among_many_matrices_is_found():
    many = np.stack([np.eye(2)] * 50)
    many[7] = [[1.0, 2.0], [2.0, 4.0]]
    many[9] = 0.0
    info = cholesky_lu_solve.lu_packed(many)[2]
    assert info.nonzero()[0].tolist() == [7, 9]
    assert info[[7, 9]].tolist() == [2, 1]


@pytest.mark.parametrize("unitriangular", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_many_triangular_systems_have_the_solutions_of_each(upper, left, unitriangular):
    a = batch("complex128", 100, 3, 3) + 3 * np.eye(3)
    b = batch("complex128", 100, 3, 3)
    options = upper, left, unitriangular
    many = cholesky_lu_solve.triangular_solution(a, b, *options)
    alone = [
        cholesky_lu_solve.triangular_solution(x, y, *options) for x, y in zip(a, b, strict=True)
    ]
    np.testing.assert_allclose(many, alone, rtol=1e-9, atol=1e-9)
