"""Regions of images pooled to one size. The numbers are torchvision's."""

import pytest

import tapegrad as torch
from tapegrad.compat.torchvision import regions
from tests.messages import raises

ROIS = torch.tensor(
    [[0.0, -2.0, 1.0, 5.5, 6.0], [1.0, 3.0, 2.0, 9.0, 9.0], [1.0, 0.5, 0.5, 0.5, 0.5]]
)
IMAGES = (torch.arange(2 * 4 * 6 * 7) % 11).float().reshape(2, 4, 6, 7)
SIZE = (2, 4, 6, 7)


def gradient(name, extra, options, pooled):
    """What the operator of a backward pass gives for weights of the results."""
    g = (torch.arange(pooled.numel()) % 5).float().reshape(pooled.shape)
    function = regions.KERNELS[f"_{name}_backward"]
    places = [] if extra is None else [extra]
    return g, function(g, ROIS, *places, *options)


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("ratio", [-1, 2])
def test_roi_align_and_its_gradient_are_adjoint(aligned, ratio):
    y = regions.roi_align(IMAGES, ROIS, 0.8, 2, 3, ratio, aligned)
    g, back = gradient("roi_align", None, (0.8, 2, 3, *SIZE, ratio, aligned), y)
    torch.testing.assert_close((y * g).sum(), (IMAGES * back).sum())


@pytest.mark.parametrize("ratio", [-1, 2])
def test_ps_roi_align_and_its_gradient_are_adjoint(ratio):
    y, places = regions.ps_roi_align(IMAGES, ROIS, 0.8, 2, 2, ratio)
    assert y.shape == (3, 1, 2, 2) and places[2, 0].tolist() == [[0, 1], [2, 3]]
    g, back = gradient("ps_roi_align", places, (0.8, 2, 2, ratio, *SIZE), y)
    torch.testing.assert_close((y * g).sum(), (IMAGES * back).sum())


def test_roi_pool_and_its_gradient_are_adjoint():
    y, places = regions.roi_pool(IMAGES, ROIS, 0.8, 2, 3)
    assert places.dtype == torch.int32
    g, back = gradient("roi_pool", places, (0.8, 2, 3, *SIZE), y)
    torch.testing.assert_close((y * g).sum(), (IMAGES * back).sum())


FIRST_CHANNEL = {
    "aligned": [3.2667, 6.3667, 4.5333, 4.6, 5.5111, 4.2911, 3.9222, 2.95, 0, 0, 0, 0],
    "not aligned": [
        3.4383, 5.545, 3.6783, 5.85, 5.1437, 4.3111, 5.4222, 1.8252, 3.5525, 1.55, 3.9725, 1.2,
    ],
    "ps_roi_align": [2.425, 5.2925, 2.3925, 4.65, 6, 6.35, 4.9, 5.25, 3, 1, 10, 8],
    "ps_roi_pool": [5, 5, 4, 4, 5, 4.5, 8, 7.5, 3, 1, 10, 8],
    "roi_pool": [10, 10, 10, 10, 10, 8, 9, 10, 3, 3, 3, 3],
    "places": [21, 10, 21, 32, 18, 27, 39, 40, 0, 0, 0, 0],
}  # fmt: skip


def test_values_are_torchvisions():
    largest, places = regions.roi_pool(IMAGES, ROIS, 0.8, 2, 2)
    found = {
        "aligned": regions.roi_align(IMAGES, ROIS, 0.8, 2, 2, -1, True),
        "not aligned": regions.roi_align(IMAGES, ROIS, 0.8, 2, 2, -1, False),
        "ps_roi_align": regions.ps_roi_align(IMAGES, ROIS, 0.8, 2, 2, 2)[0],
        "ps_roi_pool": regions.ps_roi_pool(IMAGES, ROIS, 0.8, 2, 2)[0],
        "roi_pool": largest,
        "places": places,
    }
    for name, expected in FIRST_CHANNEL.items():
        assert found[name][:, 0].flatten().tolist() == pytest.approx(expected, abs=1e-4), name


def test_each_average_is_spread_in_full():
    y, places = regions.ps_roi_pool(IMAGES, ROIS, 0.8, 2, 2)
    back = regions.ps_roi_pool_backward(torch.ones_like(y), ROIS, places, 0.8, 2, 2, *SIZE)
    assert back.sum((2, 3)).flatten().tolist() == pytest.approx([1, 1, 1, 1, 2, 2, 2, 2])


def test_bins_without_pixels_are_zeros_of_no_place():
    outside = torch.tensor([[0.0, 20.0, 20.0, 30.0, 30.0]])
    y, places = regions.roi_pool(IMAGES, outside, 1.0, 1, 1)
    assert y.unique().tolist() == [0] and places.unique().tolist() == [-1]


def test_other_arguments_are_errors():
    with raises(RuntimeError, "rois must have shape as Tensor[K, 5]"):
        regions.roi_align(IMAGES, ROIS[:, :4], 1.0, 2, 2, 2, True)
    with raises(
        RuntimeError, "input channels must be a multiple of pooling height * pooling width"
    ):
        regions.ps_roi_pool(IMAGES, ROIS, 1.0, 3, 3)
    with raises(
        RuntimeError,
        "Expected tensor for argument #1 'input' to have the same type as tensor for argument #2 "
        "'rois'; but type torch.DoubleTensor does not equal torch.FloatTensor "
        "(while checking arguments for roi_align_forward_kernel)",
    ):
        regions.roi_align(IMAGES.double(), ROIS, 1.0, 2, 2, 2, True)
