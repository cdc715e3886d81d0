"""Shuffles of pixels and channels."""

import pytest

import tapegrad as torch
from tests.messages import raises


def test_channels_become_squares_of_pixels_and_back():
    x = torch.arange(16).reshape(1, 8, 1, 2)
    y = torch.pixel_shuffle(x, 2)
    assert y.tolist() == [[[[0, 2, 1, 3], [4, 6, 5, 7]], [[8, 10, 9, 11], [12, 14, 13, 15]]]]
    assert (torch.pixel_unshuffle(y, 2) == x).all()


def test_groups_take_turns():
    x = torch.arange(12).reshape(1, 6, 2)
    assert torch.channel_shuffle(x, 3)[0, :, 0].tolist() == [0, 4, 8, 2, 6, 10]


@pytest.mark.parametrize("shuffle", [torch.pixel_shuffle, torch.pixel_unshuffle])
def test_a_shuffle_by_one_is_a_copy(shuffle):
    x = torch.rand(1, 2, 3, 3)
    y = shuffle(x, 1)
    y.zero_()
    assert x.any()


def test_what_does_not_divide_is_refused_in_pytorchs_words():
    with raises(
        RuntimeError,
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
        "upscale_factor, but input.size(-3)=3 is not divisible by 4",
    ):
        torch.pixel_shuffle(torch.ones(3, 4, 4), 2)
    with raises(
        RuntimeError,
        "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=3 "
        "is not divisible by 2",
    ):
        torch.pixel_unshuffle(torch.ones(3, 4, 3), 2)
    with raises(
        RuntimeError, "Number of channels must be divisible by groups. Got 3 channels and 2 groups."
    ):
        torch.channel_shuffle(torch.ones(1, 3, 4, 4), 2)
    with raises(
        TypeError, "pixel_shuffle(): argument 'upscale_factor' (position 2) must be int, not float"
    ):
        torch.pixel_shuffle(torch.ones(4, 4, 4), 2.0)
