"""Pooling as modules, and what layers that slide over their input print, as PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (
            nn.MaxPool2d((3, 2)),
            "MaxPool2d(kernel_size=(3, 2), stride=(3, 2), padding=0, dilation=1, ceil_mode=False)",
        ),
        (nn.AvgPool1d(3), "AvgPool1d(kernel_size=(3,), stride=(3,), padding=(0,))"),
        (nn.AvgPool2d((3, 2), stride=2), "AvgPool2d(kernel_size=(3, 2), stride=2, padding=0)"),
        (nn.MaxUnpool1d(2), "MaxUnpool1d(kernel_size=(2,), stride=(2,), padding=(0,))"),
        (nn.LPPool2d(2, 3), "LPPool2d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)"),
        (nn.AdaptiveAvgPool2d((5, None)), "AdaptiveAvgPool2d(output_size=(5, None))"),
        (nn.FractionalMaxPool2d(3, output_size=2), "FractionalMaxPool2d()"),
        (nn.ConstantPad1d(2, 3.5), "ConstantPad1d(padding=(2, 2), value=3.5)"),
        (nn.ReflectionPad2d(2), "ReflectionPad2d((2, 2, 2, 2))"),
        (nn.ZeroPad2d((1, 2, 3, 4)), "ZeroPad2d((1, 2, 3, 4))"),
        (nn.Unfold(3), "Unfold(kernel_size=3, dilation=1, padding=0, stride=1)"),
        (nn.Upsample(scale_factor=2), "Upsample(scale_factor=2.0, mode='nearest')"),
        (nn.UpsamplingBilinear2d(3), "UpsamplingBilinear2d(size=3, mode='bilinear')"),
        (nn.PixelShuffle(2), "PixelShuffle(upscale_factor=2)"),
    ],
)
def test_layers_print_their_options(layer, text):
    assert repr(layer) == text
    assert layer.state_dict() == {}


def test_pooling_gives_the_largest_and_the_mean():
    x = torch.tensor([[1.0, 3.0, 2.0, 4.0]])
    assert nn.MaxPool1d(2)(x).tolist() == [[3.0, 4.0]]
    assert nn.MaxPool1d(2, stride=1)(x).tolist() == [[3.0, 3.0, 4.0]]
    assert nn.AvgPool1d(2)(x).tolist() == [[2.0, 3.0]]
    assert nn.AdaptiveMaxPool1d(1)(x).tolist() == [[4.0]]
    y, indices = nn.MaxPool1d(2, return_indices=True)(x)
    assert nn.MaxUnpool1d(2)(y, indices).tolist() == [[0.0, 3.0, 0.0, 4.0]]
    assert nn.MaxUnpool1d(2)(y, indices, output_size=[5]).shape == (1, 5)


def test_fractional_pooling_lays_its_windows_by_the_seed():
    torch.manual_seed(0)
    layer = nn.FractionalMaxPool2d(2, output_size=2)
    y = layer(torch.arange(25.0).reshape(1, 5, 5))
    assert y.tolist() == [[[6.0, 9.0], [21.0, 24.0]]]
    message = "FractionalMaxPool2d requires specifying either an output size, or a pooling ratio"
    with raises(ValueError, message):
        nn.FractionalMaxPool2d(3)
    with raises(ValueError, "only one of output_size and output_ratio may be specified"):
        nn.FractionalMaxPool2d(3, 2, 0.5)
    with raises(ValueError, "output_ratio must be between 0 and 1 (got 1.5)"):
        nn.FractionalMaxPool3d(3, output_ratio=1.5)
