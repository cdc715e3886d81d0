"""Sums of large arrays: as precise as NumPy's slower ways."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import namespace as xp


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((20_000,), None),
        ((3_000_001,), (0,)),
        ((200, 100), None),
        ((20, 5000), (1,)),
        ((20, 4096), (1,)),
        ((50_000, 3), (0,)),
        ((50_000, 3), (1,)),
        ((30, 50, 20), (0, 1)),
        ((30, 50, 20), (1, 2)),
        ((30, 50, 20), (1,)),
    ],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_are_precise(shape, axis, keepdims):
    x = np.random.default_rng(0).random(shape, np.float32)
    for y in (x, x.T):
        axes = axis if y is x or axis is None else tuple(y.ndim - 1 - a for a in axis)
        got = xp.sum(y, axis=axes, keepdims=keepdims)
        want = np.sum(y, axis=axes, keepdims=keepdims, dtype=np.float64)
        assert got.dtype == np.float32 and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-6)


def test_products_of_many_elements():
    x = 1 + np.random.default_rng(0).standard_normal(50_000).astype(np.float32) * 1e-3
    np.testing.assert_allclose(xp.prod(x), np.prod(x, dtype=np.float64), rtol=1e-4)


def test_inner_products_of_long_vectors():
    a, b = np.random.default_rng(0).random((2, 50_001), np.float32)
    want = np.dot(a.astype(np.float64), b)
    np.testing.assert_allclose(xp.vecdot(a, b), want, rtol=1e-6)
