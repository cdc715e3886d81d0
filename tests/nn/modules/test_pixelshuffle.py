"""Channels as pixels."""

import tapegrad as torch
from tapegrad import nn


def test_channels_become_pixels_and_back():
    x = torch.arange(8.0).reshape(1, 8, 1, 1)
    y = nn.PixelShuffle(2)(x)
    assert y.tolist() == [[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]]
    assert torch.equal(nn.PixelUnshuffle(2)(y), x)
