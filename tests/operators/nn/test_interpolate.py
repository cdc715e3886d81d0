"""Interpolation: values of each mode, sizes and factors, bytes, what is refused."""

import warnings

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tests.messages import raises
from tests.tolerance import assert_near

X = torch.tensor([[[[1.0, 2.0, 4.0], [3.0, -1.0, 0.0]]]])
SMALL = {
    "nearest": [1, 1, 2, 4, 1, 1, 2, 4, 3, 3, -1, 0],
    "nearest-exact": [1, 2, 2, 4, 3, -1, -1, 0, 3, -1, -1, 0],
    "bilinear": [1, 1.625, 2.75, 4, 2, 1.0625, 1.0625, 2, 3, 0.5, -0.625, 0],
    "bicubic": [
        *(0.72345835, 1.51439953, 3.16994786, 4.49700832),
        *(2.10766602, 0.87573242, 0.87573242, 2.10766602),
        *(3.49187350, 0.23706590, -1.41848183, -0.28167468),
    ],
    "area": [1, 1.5, 3, 4, 2, 1.25, 1.25, 2, 3, 1, -0.5, 0],
}


@pytest.mark.parametrize("mode", sorted(SMALL))
def test_each_mode_gives_pytorchs_numbers(mode):
    y = F.interpolate(X, size=(3, 4), mode=mode)
    assert_near(y, torch.tensor(SMALL[mode], dtype=torch.float32).reshape(1, 1, 3, 4))


def test_aligned_corners_stay_where_they_are():
    y = F.interpolate(X, size=(3, 4), mode="bilinear", align_corners=True)
    want = [1, 5 / 3, 8 / 3, 4, 2, 1, 1, 2, 3, 1 / 3, -2 / 3, 0]
    assert_near(y, torch.tensor(want).reshape(1, 1, 3, 4))


def test_a_given_factor_is_computed_with_unless_it_is_recomputed():
    y = F.interpolate(X, scale_factor=1.7, mode="bilinear")
    assert_near(y[0, 0, 0], torch.tensor([1, 1.38235307, 1.97058833, 3.11764717, 4]))
    y = F.interpolate(X, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True)
    assert_near(y[0, 0, 0], torch.tensor([1, 1.4, 2, 3.2, 4]))


@pytest.mark.parametrize(
    ("mode", "want"),
    [
        ("bilinear", [18.014286, 27.071430, 38.928574, 97.214287, 121.357140, 148.300003]),
        ("bicubic", [10.619987, 19.053408, 30.779886, 101.064598, 128.640182, 159.508835]),
        ("lanczos", [7.178348, 15.174330, 26.764668, 101.971191, 130.599075, 162.821320]),
    ],
)
def test_antialiasing_takes_all_that_a_pixel_covers(mode, want):
    x = torch.arange(16.0).reshape(1, 1, 4, 4) ** 2
    y = F.interpolate(x, size=(2, 3), mode=mode, antialias=True)
    assert_near(y, torch.tensor(want).reshape(1, 1, 2, 3))


@pytest.mark.parametrize(
    ("mode", "want"),
    [
        ("nearest", [0, 0, 10, 200, 0, 0, 10, 200, 255, 255, 7, 90]),
        ("bilinear", [0, 6, 81, 200, 128, 53, 60, 145, 255, 100, 38, 90]),
        ("bicubic", [0, 0, 86, 224, 128, 44, 45, 155, 255, 95, 4, 86]),
    ],
)
def test_bytes_are_interpolated_in_whole_numbers(mode, want):
    x = torch.tensor([[[[0, 10, 200], [255, 7, 90]]]], dtype=torch.uint8)
    y = F.interpolate(x, size=(3, 4), mode=mode)
    assert y.dtype is torch.uint8 and y.flatten().tolist() == want


def test_an_infinite_pixel_reaches_its_neighbours_only():
    x = torch.ones(1, 1, 8)
    x[0, 0, 0] = float("inf")
    y = F.interpolate(x, scale_factor=2, mode="nearest")
    assert y.isinf().sum() == 2 and y.isnan().sum() == 0


def test_the_same_size_is_a_copy():
    x = torch.rand(1, 1, 3, 3)
    for mode in ("nearest", "bilinear"):
        y = F.interpolate(x, size=3, mode=mode)
        assert (y == x).all() and y.data_ptr() != x.data_ptr()


def test_nodes_are_named_as_in_pytorch():
    x = torch.rand(1, 1, 3, 3, requires_grad=True)
    y = F.interpolate(x, scale_factor=0.5, mode="bicubic", antialias=True)
    assert type(y.grad_fn).__name__ == "UpsampleBicubic2DAaBackward0"
    y = F.interpolate(x, scale_factor=2, mode="nearest-exact")
    assert type(y.grad_fn).__name__ == "UpsampleNearestExact2DBackward0"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "either size or scale_factor should be defined"),
        (
            {"size": 2, "scale_factor": 2},
            ValueError,
            "only one of size or scale_factor should be defined",
        ),
        (
            {"size": 2, "mode": "linear"},
            NotImplementedError,
            "Got 4D input, but linear mode needs 3D input",
        ),
        (
            {"size": 0},
            RuntimeError,
            "Input and output sizes should be greater than 0, but got input (H: 2, W: 3) output "
            "(H: 0, W: 0)",
        ),
        (
            {"size": 2, "align_corners": True},
            ValueError,
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear",
        ),
        ({"size": 2, "mode": "lanczos"}, ValueError, "Lanczos mode requires antialias=True"),
    ],
)
def test_what_makes_no_image_is_refused_in_pytorchs_words(options, error, message):
    with raises(error, message):
        F.interpolate(X, **options)


def test_the_older_names_warn_and_work():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = F.upsample_bilinear(X, size=(3, 4))
    assert [str(each.message) for each in caught] == [
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead."
    ]
    assert_near(y, F.interpolate(X, size=(3, 4), mode="bilinear", align_corners=True))
