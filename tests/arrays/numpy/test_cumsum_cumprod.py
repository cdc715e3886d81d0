"""Running sums of float32: in double precision, whatever way the work is cut."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import cumsum_cumprod


@pytest.mark.parametrize("shape", [(1, 300), (5, 64), (3, 7, 129), (40, 1000)])
@pytest.mark.parametrize("piece", [1 << 7, 1 << 16])
def test_rows_cut_into_lanes_have_the_sums_of_double_precision(shape, piece, monkeypatch, rng):
    monkeypatch.setattr(cumsum_cumprod, "_PIECE", piece)
    monkeypatch.setattr(cumsum_cumprod, "_WIDE", 16)
    x = rng.standard_normal(shape).astype(np.float32)
    want = np.cumsum(x.astype(np.float64), -1).astype(np.float32)
    np.testing.assert_array_equal(cumsum_cumprod.accumulated(np.add, x, len(shape) - 1), want)
    np.testing.assert_array_equal(cumsum_cumprod.accumulated(np.add, x.T, 0), want.T)


def test_what_is_not_finite_stays_in_its_row(rng):
    x = rng.standard_normal((4, 400)).astype(np.float32)
    x[1, 50], x[2, 60], x[3, 20], x[3, 90] = np.inf, np.nan, np.inf, -np.inf
    found = cumsum_cumprod.accumulated(np.add, x, 1)
    assert np.isfinite(found[0]).all()
    assert (found[1, 50:] == np.inf).all()
    assert np.isnan(found[2, 60:]).all()
    assert np.isnan(found[3, 90:]).all()


def test_products_are_taken_one_after_the_other():
    x = np.full((2, 2000), 1e30, np.float32)
    x[:, 0] = 0
    assert (cumsum_cumprod.accumulated(np.multiply, x, 1) == 0).all()
