"""The kernels of convolutions: every way through a batch gives the sums of the definition."""

import tracemalloc

import numpy as np
import pytest

from tapegrad.arrays.numpy import blas_threads, blocks, conv, conv_columns
from tapegrad.core import threads

WAYS = {
    "all at once": (1 << 20, 1, 1, 1 << 20),
    "whole images": (1 << 20, 1, 1, 0),
    "rows of an image": (8 * 100, 1, 1, 0),
    "a channel at a time": (8, 1, 1, 0),
    "the batch as the last axis": (1 << 20, 1, 1 << 20, 0),
    "the batch as the last axis, a channel at a time": (8, 1, 1 << 20, 0),
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """How the work is cut, for the numbers that decide it."""
    limit, places, short, few = WAYS[request.param]
    monkeypatch.setattr(conv_columns, "LIMIT", limit)
    monkeypatch.setattr(conv_columns, "PLACES", places)
    monkeypatch.setattr(conv, "FEW", few)
    for name, value in (("IMAGES", 2), ("SMALL", short), ("SHORT", short)):
        monkeypatch.setattr(conv, name, value)


def by_definition(x, w, y, stride, padding, dilation, groups):
    """The three gradients of sum y[n, o, p] w[o, c, k] x[n, c, p * stride + k * dilation - pad]."""
    n, out, channels = len(x), len(w), w.shape[1]
    border = [(0, 0), (0, 0), *[(p, p + 9) for p in padding]]
    padded = np.pad(x, border)
    of_x, of_w, of_y = np.zeros_like(padded), np.zeros_like(w), np.zeros_like(y)
    for place in np.ndindex(*y.shape[2:]):
        for k in np.ndindex(*w.shape[2:]):
            steps = zip(place, stride, k, dilation, strict=True)
            pixel = tuple(p * s + i * d for p, s, i, d in steps)
            for o in range(out):
                first = o // (out // groups) * channels
                c = slice(first, first + channels)
                at = (slice(None), c, *pixel)
                of_y[(slice(None), o, *place)] += padded[at] @ w[(o, slice(None), *k)]
                numbers = y[(slice(None), o, *place)]
                of_w[(o, slice(None), *k)] += numbers @ padded[at]
                of_x[at] += np.outer(numbers, w[(o, slice(None), *k)])
    inner = [slice(p, p + length) for p, length in zip(padding, x.shape[2:], strict=True)]
    assert n == len(y)
    return of_x[(..., *inner)], of_w, of_y


CASES = [
    # image, kernel, stride, padding, dilation, groups
    ((7,), (3,), (1,), (1,), (1,), 1),
    ((9,), (2,), (3,), (0,), (2,), 2),
    ((8,), (3,), (3,), (1,), (2,), 2),  # as many pixels as are covered, but others
    ((5, 6), (3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((5, 6), (3, 2), (1, 1), (2, 1), (1, 2), 2),
    ((6, 7), (2, 3), (2, 3), (1, 0), (2, 1), 1),
    ((4, 4), (1, 1), (2, 1), (0, 0), (1, 1), 1),
    ((3, 4, 4), (2, 1, 3), (1, 2, 1), (1, 0, 1), (1, 1, 1), 1),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_way_gives_the_sums_of_the_definition(way, case, rng):
    image, kernel, stride, padding, dilation, groups = case
    steps = (stride, padding, dilation, groups)
    sizes = zip(image, kernel, stride, padding, dilation, strict=True)
    size = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes)
    x = rng.standard_normal((3, 2 * groups, *image))
    w = rng.standard_normal((3 * groups, 2, *kernel))
    y = rng.standard_normal((3, 3 * groups, *size))
    b = rng.standard_normal(3 * groups)
    of_x, of_w, of_y = by_definition(x, w, y, *steps)
    got = conv.convolve(x, w, b, *steps, size)
    np.testing.assert_allclose(got, of_y + b.reshape(-1, *[1] * len(image)), atol=1e-12)
    np.testing.assert_allclose(
        conv.convolve_transposed(y, w, None, *steps, image), of_x, atol=1e-12
    )
    np.testing.assert_allclose(conv.convolve_weights(x, y, *steps, kernel), of_w, atol=1e-12)


@pytest.mark.parametrize("gathers", [True, False])
@pytest.mark.parametrize(
    ("stride", "image"), [((1, 1), (7, 5)), ((2, 3), (12, 12)), ((2, 1), (13, 5))]
)
def test_gathering_and_scattering_give_the_same_images(gathers, stride, image, monkeypatch, rng):
    monkeypatch.setattr(conv, "_gathers", lambda *arguments: gathers)
    monkeypatch.setattr(conv, "FEW", 0)
    y, w, b = (rng.standard_normal(shape) for shape in ((2, 4, 5, 4), (4, 3, 3, 2), (6,)))
    steps = (stride, (1, 0), (2, 1), 2)
    of_x, _, _ = by_definition(np.zeros((2, 6, *image)), w, y, *steps)
    got = conv.convolve_transposed(y, w, b, *steps, image)
    np.testing.assert_allclose(got, of_x + b.reshape(-1, 1, 1), atol=1e-12)


@pytest.mark.parametrize("groups", [1, 2])
def test_columns_whole_and_row_by_row_give_the_same(groups, monkeypatch, rng):
    x, w, b = (rng.standard_normal(s) for s in ((2, 4, 9, 8), (6, 4 // groups, 3, 2), (6,)))
    steps = ((1, 2), (1, 0), (2, 1), groups)
    monkeypatch.setattr(conv_columns, "LIMIT", 8 * 64)
    monkeypatch.setattr(conv, "FEW", 0)
    found = []
    for cost in (0, 1e9):
        monkeypatch.setattr(conv, "SUM", cost)
        found.append(conv.convolve(x, w, b, *steps, (7, 4)))
    np.testing.assert_allclose(*found, atol=1e-12)


def test_many_weights_are_summed_the_other_way_around(monkeypatch, rng):
    x, y = rng.standard_normal((2, 3, 5, 5)), rng.standard_normal((2, 4, 4, 4))
    steps = ((1, 1), (0, 0), (1, 1), 1, (2, 2))
    monkeypatch.setattr(conv, "FEW", 0)
    want = conv.convolve_weights(x, y, *steps)
    monkeypatch.setattr(conv, "LARGE", 0)
    np.testing.assert_allclose(conv.convolve_weights(x, y, *steps), want, atol=1e-12)


@pytest.mark.parametrize("n, image, kernel", [(7, 20, 3), (1, 64, 3), (19, 5, 2)])
def test_any_number_of_threads_gives_the_same(monkeypatch, rng, n, image, kernel):
    x = rng.standard_normal((n, 24, image, image), dtype=np.float32)
    w = rng.standard_normal((40, 24, kernel, kernel), dtype=np.float32)
    steps = ((1, 1), (1, 1), (1, 1), 1)
    place = image + 3 - kernel
    monkeypatch.setattr(blocks, "LARGE", 1)
    monkeypatch.setattr(blas_threads, "LARGE", 1)
    monkeypatch.setattr(conv_columns, "PART", 1 << 16)
    found = []
    for count in (1, 2, 3, 5):
        monkeypatch.setattr(threads, "_chosen", count)
        with blas_threads.one_blas_thread():
            y = conv.convolve(x, w, None, *steps, (place, place))
            back = conv.convolve_transposed(y, w, None, *steps, (image, image))
            found.append([y, back, conv.convolve_weights(x, y, *steps, (kernel, kernel))])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_columns_of_the_batch_are_never_held_at_once(rng):
    x = rng.standard_normal((16, 16, 32, 32), dtype=np.float32)
    w = rng.standard_normal((16, 16, 3, 3), dtype=np.float32)
    steps = ((1, 1), (1, 1), (1, 1), 1)
    y = conv.convolve(x, w, None, *steps, (32, 32))
    columns_bytes = x.nbytes * 9
    for work in (
        lambda: conv.convolve(x, w, None, *steps, (32, 32)),
        lambda: conv.convolve_transposed(y, w, None, *steps, (32, 32)),
        lambda: conv.convolve_weights(x, y, *steps, (3, 3)),
    ):
        tracemalloc.start()
        work()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < y.nbytes + columns_bytes / 3


def test_sums_of_single_precision_are_as_close_as_a_product_of_matrices(rng):
    x = rng.standard_normal((2, 64, 16, 16), dtype=np.float32)
    w = rng.standard_normal((32, 64, 3, 3), dtype=np.float32)
    steps = ((1, 1), (1, 1), (1, 1), 1)
    got = conv.convolve(x, w, None, *steps, (16, 16))
    want = conv.convolve(x.astype(float), w.astype(float), None, *steps, (16, 16))
    assert np.abs(got - want).max() < 2e-6 * np.abs(want).max()


def test_halves_are_summed_in_single_precision(rng):
    x = rng.standard_normal((1, 8, 6, 6)).astype(np.float16)
    w = rng.standard_normal((2, 8, 3, 3)).astype(np.float16)
    steps = ((1, 1), (0, 0), (1, 1), 1)
    got = conv.convolve(x, w, None, *steps, (4, 4))
    want = conv.convolve(x.astype(float), w.astype(float), None, *steps, (4, 4))
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, want, rtol=2e-3, atol=1e-2)
