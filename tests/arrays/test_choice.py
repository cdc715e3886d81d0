"""where: large arrays by their bits give what NumPy's own gives."""

import math

import numpy as np
import pytest

from tapegrad.arrays.choice import where


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
