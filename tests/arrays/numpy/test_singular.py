"""Matrices that have no inverse where NumPy does not notice, as in a browser."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import singular


def silent(a):
    """What NumPy makes of a singular matrix without floating-point flags."""
    return np.full_like(a, np.nan)


def test_a_result_that_is_nan_is_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        singular.noticing(silent)(np.ones((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        singular.noticing(lambda a: (a, silent(a)))(np.ones((2, 2)))


def test_what_is_unknown_stays_unknown():
    assert np.isnan(singular.noticing(silent)(np.full((2, 2), np.nan))).all()


def test_regular_matrices_have_their_inverse():
    assert singular.noticing(np.linalg.inv)(np.diag([2.0, 4.0])).tolist() == [[0.5, 0], [0, 0.25]]
