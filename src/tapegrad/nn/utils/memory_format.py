"""Weights of convolutions in another order in memory."""

from typing import Any, TypeVar

from tapegrad.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

M = TypeVar("M")


def convert_conv2d_weight_memory_format(module: M, memory_format: Any) -> M:
    """Put the weights of every two-dimensional convolution in `module` in an order; returns it.

    >>> model = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3))
    >>> _ = torch.nn.utils.convert_conv2d_weight_memory_format(model, torch.channels_last)
    >>> model[0].weight.stride()
    (18, 1, 6, 2)
    """
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: M, memory_format: Any) -> M:
    """Put the weights of every three-dimensional convolution in `module` in an order; returns it.

    >>> layer = torch.nn.Conv3d(2, 3, 2)
    >>> _ = torch.nn.utils.convert_conv3d_weight_memory_format(layer, torch.channels_last_3d)
    >>> layer.weight.stride()
    (16, 1, 8, 4, 2)
    """
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))


def _convert(module, memory_format, kinds):
    for layer in module.modules():
        if isinstance(layer, kinds):
            weight = layer.weight.detach().clone()
            layer.weight.data = weight.contiguous(memory_format=memory_format)
    return module
