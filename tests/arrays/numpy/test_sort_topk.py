"""Orders and ranks of large arrays, and which of equal elements PyTorch chooses."""

import numpy as np
import pytest

import tapegrad as torch
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


X = [3, 1, 2, 3, 1, 2, 3, 1, 2, 2]


@pytest.mark.parametrize(
    ("k", "largest", "places"),
    [
        (1, True, [3]),
        (1, False, [1]),
        (3, True, [3, 0, 6]),
        (3, False, [1, 4, 7]),
        (5, True, [3, 0, 6, 5, 8]),
        (5, False, [1, 4, 7, 8, 9]),
        (10, True, [3, 6, 0, 5, 9, 8, 2, 1, 4, 7]),
        (10, False, [1, 7, 4, 9, 8, 5, 2, 3, 0, 6]),
    ],
)
def test_topk_chooses_among_ties_as_pytorch(k, largest, places):
    assert torch.topk(torch.tensor(X), k, largest=largest).indices.tolist() == places


def test_topk_of_a_long_row_of_ties_takes_the_heap():
    x = (torch.arange(1000) * 7919) % 5
    assert torch.topk(x, 6).indices.tolist() == [11, 1, 21, 26, 16, 6]


@pytest.mark.parametrize(
    "nans, largest, places",
    [
        ("none", True, [19, 58, 71, 84, 32, 45, 6]),
        ("none", False, [13, 52, 65, 78, 0, 39, 26]),
        ("few", True, [990, 5, 500, 19, 58, 45, 71]),
        ("few", False, [13, 52, 65, 78, 26, 39, 0]),
        ("most", True, [3, 4, 1, 0, 5, 2, 6]),
        ("most", False, [995, 996, 997, 991, 998, 992, 999]),
    ],
)
def test_the_heap_passes_over_what_cannot_enter_nan_or_not(nans, largest, places):
    place = torch.arange(1000)
    x = (place * 7919 % 13).float()
    if nans == "few":
        x[[5, 500, 990]] = torch.nan
    elif nans == "most":
        x[:991] = torch.nan
    assert torch.topk(x, 7, largest=largest).indices.tolist() == places


@pytest.mark.parametrize("shape", [(2, 3), (3, 1), (1, 1), (4,)])
def test_indices_of_a_descending_order_are_laid_out_as_pytorchs(shape):
    x = torch.arange(float(np.prod(shape))).reshape(shape)
    values, indices = x.sort(-1, descending=True)
    assert indices.is_contiguous() and indices.stride() == values.stride() == x.stride()
    n = shape[-1]
    assert indices.view(-1).tolist() == [*range(n - 1, -1, -1)] * (x.numel() // n)
    assert x.argsort(descending=True).stride() == x.stride()
