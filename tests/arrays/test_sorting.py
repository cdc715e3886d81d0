"""Orders, ranks and sums of large arrays: what NumPy's slower ways give."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import namespace as xp


def numbers(dtype, shape, seed=0):
    """Numbers with many ties; nan of both signs, zeros of both signs, infinities among floats."""
    x = np.random.default_rng(seed).standard_normal(shape) * 50
    if np.dtype(dtype).kind == "f":
        flat = np.round(x.reshape(-1))
        for step, value in ((17, np.nan), (19, -np.nan), (23, -0.0), (29, 0.0), (31, np.inf)):
            flat[::step] = value
        x = flat.reshape(shape)
    return (np.abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16", "int64", "uint8"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((6000,), 0), ((90, 50), 0), ((3, 5000), 1), ((40, 2, 70), 1)]
)
def test_orders_are_stable(dtype, shape, axis):
    x = numbers(dtype, shape)
    want = np.argsort(x, axis=axis, kind="stable")
    np.testing.assert_array_equal(xp.argsort(x, axis=axis), want)
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    want = np.flip(x.shape[axis] - 1 - backwards, axis)
    np.testing.assert_array_equal(xp.argsort(x, axis=axis, descending=True), want)


@pytest.mark.parametrize("largest", [False, True])
def test_the_top_of_a_long_row(largest):
    x = numbers("float32", (2, 20_000))
    order = xp.argsort(x, axis=1, descending=largest)
    for k in (1, 7, 3000):
        np.testing.assert_array_equal(xp.top_indices(x, k, 1, largest), order[:, :k])


def test_the_median_of_a_long_row():
    x = np.round(np.random.default_rng(0).standard_normal((3, 20_001)) * 10)
    order = np.argsort(x, axis=1, kind="stable")
    np.testing.assert_array_equal(xp.median_index(x, 1, False), order[:, 10_000:10_001])
    np.testing.assert_array_equal(xp.kth_index(x, 77, 1), order[:, 77:78])


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
