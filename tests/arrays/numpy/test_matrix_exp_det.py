"""Exponentials of many matrices at once: what each gives alone."""

import numpy as np
import pytest

from tapegrad.arrays.numpy.matrix_exp_det import matrix_exponential

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 5.0, 30.0])
def test_exponentials_are_scipys_and_those_of_each(size, scale):
    from scipy.linalg import expm

    a = scale * RNG.standard_normal((20, size, size))
    many = matrix_exponential(a)
    for x, y in zip(a, many, strict=True):
        size_of_result = np.abs(y).max()
        np.testing.assert_allclose(y, expm(x), atol=1e-11 * size_of_result)
        np.testing.assert_allclose(matrix_exponential(x), y, atol=1e-12 * size_of_result)
