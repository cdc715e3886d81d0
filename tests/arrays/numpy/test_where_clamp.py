"""where: large arrays by their bits give what NumPy's own gives."""

import math

import numpy as np
import pytest

from tapegrad.arrays.numpy.where_clamp import maximum, minimum, where


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
@pytest.mark.parametrize("zero", [0, 0.0, -0.0, 1.0])
def test_a_number_on_either_side(rng, dtype, zero):
    x = (10 * rng.standard_normal((80, 90))).astype(dtype)
    mask = rng.integers(0, 2, x.shape).astype(bool)
    for array, choice in ((x, mask), (x.T, mask.T), (x[::2, ::3], mask[::2, ::3]), (x, mask[:1])):
        for got, want in (
            (where(choice, array, zero), np.where(choice, array, zero)),
            (where(choice, zero, array), np.where(choice, zero, array)),
        ):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
            if want.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def test_what_is_not_chosen_leaves_no_trace():
    x = np.full(10_000, math.nan, np.float32)
    x[::2] = math.inf
    assert not where(np.zeros(10_000, bool), x, 0.0).any()
    np.testing.assert_array_equal(where(np.ones(10_000, bool), x, 0), x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
def test_two_arrays_or_numbers(rng, dtype):
    x, y = ((10 * rng.standard_normal((80, 90))).astype(dtype) for _ in range(2))
    if x.dtype.kind == "f":
        x[0, :2], y[1, :2] = math.nan, -math.inf
    mask = rng.integers(0, 2, x.shape).astype(bool)
    for a, b in ((x, y), (x, 2.5), (-3, y), (x, y[:1]), (x, y.astype(np.float64))):
        for choice, first, second in ((mask, a, b), (mask.T, _turned(a), _turned(b))):
            if np.ndim(first) and np.ndim(second) and first.shape != second.shape:
                continue
            got, want = where(choice, first, second), np.where(choice, first, second)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masks_that_are_broadcast(rng, dtype):
    x, y = ((10 * rng.standard_normal((6, 40, 50))).astype(dtype) for _ in range(2))
    x[0, 0, :2] = math.nan, -math.inf
    mask = rng.integers(0, 2, x.shape).astype(bool)
    choices = (mask[0], mask[:, :1], mask[:1, :, :1], mask[0, 0], np.array(True), mask[None])
    for choice in choices:
        for a, b in ((x, y), (x, 0.0), (0.0, x), (-math.inf, x), (x[..., ::-1], y), (x, y[:1])):
            got, want = where(choice, a, b), np.where(choice, a, b)
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_array_equal(got, want)
    for a, b in ((x.mT, y.mT), (x.mT, 0.0), (2.5, x.mT)):
        np.testing.assert_array_equal(where(mask[0].T, a, b), np.where(mask[0].T, a, b))


def _turned(x):
    return x.T if np.ndim(x) else x


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
@pytest.mark.parametrize("limit", [0, -1.5, 2, math.inf, -math.inf, math.nan])
def test_limits_of_large_arrays(rng, dtype, limit):
    x = (2 * rng.standard_normal(20_000)).astype(dtype)
    if x.dtype.kind == "f":
        x[:4] = math.nan, math.inf, -math.inf, -0.0
    for ours, numpys in ((maximum, np.maximum), (minimum, np.minimum)):
        got, want = ours(x, limit), numpys(x, limit)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
