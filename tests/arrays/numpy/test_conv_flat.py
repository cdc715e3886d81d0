"""Convolutions of one place as products: the numbers that columns give."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import blas_threads, blocks, conv, conv_flat
from tapegrad.core import threads

CASES = {
    "many places": ((3, 4, 9, 10), 6, (1, 1)),
    "few places": ((7, 4, 3, 2), 6, (1, 1)),
    "one place": ((9, 40, 1, 1), 50, (1, 1)),
    "one image": ((1, 4, 3, 2), 6, (1, 1)),
    "strided": ((3, 4, 19, 20), 6, (2, 1)),
    "strided, few places": ((7, 4, 5, 6), 6, (2, 3)),
    "one axis": ((3, 4, 90), 6, (4,)),
    "three axes": ((2, 4, 3, 5, 6), 6, (1, 2, 1)),
}


def _all(x, w, b, g, stride, size):
    n_axes = len(stride)
    steps = stride, (0,) * n_axes, (1,) * n_axes, 1
    return [
        conv.convolve(x, w, b[: len(w)], *steps, size),
        conv.convolve_transposed(g, w, b[: w.shape[1]], *steps, x.shape[2:]),
        conv.convolve_weights(x, g, *steps, w.shape[2:]),
    ]


@pytest.mark.parametrize("name", CASES)
def test_products_give_what_columns_give(name, monkeypatch, rng):
    monkeypatch.setattr(conv, "FEW", 0)
    shape, out, stride = CASES[name]
    size = tuple((n - 1) // s + 1 for n, s in zip(shape[2:], stride, strict=True))
    x, b = rng.standard_normal(shape), rng.standard_normal(60)
    w = rng.standard_normal((out, shape[1], *(1,) * len(size)))
    g = rng.standard_normal((shape[0], out, *size))
    found = _all(x, w, b, g, stride, size)
    monkeypatch.setattr(conv, "is_flat", lambda grid: False)
    for a, want in zip(found, _all(x, w, b, g, stride, size), strict=True):
        assert a.flags.c_contiguous
        np.testing.assert_allclose(a, want, atol=1e-12)


@pytest.mark.parametrize("image", [(3, 4), (5,), (2, 3, 2)])
def test_kernels_that_see_all_of_an_image(image, monkeypatch, rng):
    monkeypatch.setattr(conv, "FEW", 0)
    ones = (1,) * len(image)
    x, w = rng.standard_normal((6, 4, *image)), rng.standard_normal((7, 4, *image))
    g, b = rng.standard_normal((6, 7, *ones)), rng.standard_normal(60)
    found = _all(x, w, b, g, ones, ones)
    monkeypatch.setattr(conv, "sees_all", lambda grid, image: False)
    for a, want in zip(found, _all(x, w, b, g, ones, ones), strict=True):
        assert a.flags.c_contiguous
        np.testing.assert_allclose(a, want, atol=1e-12)


@pytest.mark.parametrize("image", [(20, 20), (3, 3)])
def test_any_number_of_threads_gives_the_same(image, monkeypatch, rng):
    x = rng.standard_normal((13, 24, *image), dtype=np.float32)
    g = rng.standard_normal((13, 40, *image), dtype=np.float32)
    w = rng.standard_normal((40, 24, 1, 1), dtype=np.float32)
    b = rng.standard_normal(60, dtype=np.float32)
    monkeypatch.setattr(blocks, "LARGE", 1)
    monkeypatch.setattr(blas_threads, "LARGE", 1)
    monkeypatch.setattr(blas_threads, "RUN", 1 << 8)
    found = []
    for count in (1, 2, 3, 5):
        monkeypatch.setattr(threads, "_chosen", count)
        with blas_threads.one_blas_thread():
            found.append(_all(x, w, b, g, (1, 1), image))
    for other in found[1:]:
        for one, another in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, another)


def test_padding_groups_and_larger_kernels_are_not_flat():
    def grid(kernel, padding, groups):
        return conv.Grid.of((kernel,), (1,), (padding,), (1,), groups, (4,))

    assert conv_flat.is_flat(grid(1, 0, 1))
    assert not any(map(conv_flat.is_flat, (grid(2, 0, 1), grid(1, 1, 1), grid(1, 0, 2))))
