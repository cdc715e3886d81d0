"""Convolutions as modules. The numbers, forms and messages are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def summing(layer):
    """`layer` with all weights 1."""
    nn.init.ones_(layer.weight)
    return layer


def test_convolutions_print_what_is_not_usual():
    assert repr(nn.Conv1d(2, 4, 3)) == "Conv1d(2, 4, kernel_size=(3,), stride=(1,))"
    layer = nn.Conv2d(2, 4, (3, 2), 2, padding="valid", dilation=2, groups=2, bias=False)
    assert repr(layer) == (
        "Conv2d(2, 4, kernel_size=(3, 2), stride=(2, 2), padding=valid, dilation=(2, 2), "
        "groups=2, bias=False)"
    )
    layer = nn.ConvTranspose2d(2, 4, 3, output_padding=1, stride=2)
    assert repr(layer) == (
        "ConvTranspose2d(2, 4, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))"
    )


def test_weights_begin_as_in_pytorch():
    torch.manual_seed(0)
    layer = nn.Conv2d(2, 2, 2)
    start = [-0.0026469905860722065, 0.18966144323349, -0.2909903824329376]
    assert layer.weight.flatten()[:3].tolist() == pytest.approx(start)
    assert layer.bias.tolist() == pytest.approx([0.13977210223674774, 0.21214008331298828])
    torch.manual_seed(0)
    layer = nn.ConvTranspose1d(2, 3, 2)
    assert layer.weight.shape == (2, 3, 2)
    assert layer.weight[0, 0].tolist() == pytest.approx([-0.00305648171342, 0.21900218725204])


def test_borders_are_filled_by_padding_mode():
    x = torch.tensor([[1.0, 2.0, 4.0]])
    for mode, sums in {
        "zeros": [3.0, 7.0, 6.0],
        "circular": [7.0, 7.0, 7.0],
        "replicate": [4.0, 7.0, 10.0],
        "reflect": [5.0, 7.0, 8.0],
    }.items():
        layer = summing(nn.Conv1d(1, 1, 3, padding=1, padding_mode=mode, bias=False))
        assert layer(x).tolist() == [sums]
    layer = summing(nn.Conv1d(1, 1, 2, padding="same", padding_mode="circular", bias=False))
    assert layer(x).tolist() == [[3.0, 6.0, 5.0]]


def test_a_transposed_convolution_gives_the_size_that_is_asked_for():
    layer = nn.ConvTranspose2d(4, 2, 3, stride=2)
    x = torch.ones(1, 4, 5, 5)
    assert layer(x).shape == (1, 2, 11, 11)
    assert layer(x, output_size=(12, 11)).shape == (1, 2, 12, 11)
    assert layer(x, output_size=torch.Size([1, 2, 12, 12])).shape == (1, 2, 12, 12)
    assert layer(x[0], output_size=(12, 12)).shape == (2, 12, 12)
    message = "ConvTranspose2D: for 4D input, output_size must have 2 or 4 elements (got 1)"
    with raises(ValueError, message):
        layer(x, output_size=[12])
    message = (
        "requested an output size of [3, 3], but valid sizes range from [11, 11] to [12, 12] "
        "(for an input of torch.Size([5, 5]))"
    )
    with raises(ValueError, message):
        layer(x, output_size=[3, 3])


def test_what_does_not_fit_is_named():
    with raises(ValueError, "in_channels must be divisible by groups"):
        nn.Conv2d(2, 4, 3, groups=3)
    with raises(ValueError, "out_channels must be divisible by groups"):
        nn.Conv2d(2, 5, 3, groups=2)
    with raises(ValueError, "groups must be a positive integer"):
        nn.Conv2d(2, 4, 3, groups=0)
    with raises(ValueError, "Invalid padding string 'x', should be one of {'same', 'valid'}"):
        nn.Conv2d(2, 4, 3, padding="x")
    with raises(ValueError, "padding='same' is not supported for strided convolutions"):
        nn.Conv2d(2, 4, 3, padding="same", stride=2)
    with raises(ValueError, 'Only "zeros" padding mode is supported for ConvTranspose2d'):
        nn.ConvTranspose2d(2, 4, 3, padding_mode="circular")
    message = (
        "Given groups=1, weight of size [4, 2, 3, 3], expected input[1, 3, 9, 9] to have 2 "
        "channels, but got 3 channels instead"
    )
    with raises(RuntimeError, message):
        nn.Conv2d(2, 4, 3)(torch.ones(1, 3, 9, 9))


def test_a_convolution_learns():
    layer = nn.Conv2d(1, 1, 2, bias=False)
    layer(torch.arange(9.0).reshape(1, 1, 3, 3)).sum().backward()
    assert layer.weight.grad.tolist() == [[[[8.0, 12.0], [20.0, 24.0]]]]
