"""Convolutions: every output is a weighted sum over a window of the input, the same everywhere."""

from __future__ import annotations

from typing import Any

from tapegrad.nn import functional as F
from tapegrad.nn.convolution_base import _ConvNd
from tapegrad.nn.window import of_each
from tapegrad.tensors.tensor import Tensor


class _Convolution(_ConvNd):
    """A convolution that is not transposed; a subclass says over how many axes, and which."""

    _n_axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        window = _arguments(self._n_axes, kernel_size, stride, padding, dilation)
        super().__init__(
            in_channels, out_channels, *window, groups, bias, padding_mode, device, dtype
        )

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * len(self.kernel_size)
        return self._function(input, weight, bias, self.stride, padding, self.dilation, self.groups)


def _arguments(
    n: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> tuple[tuple, tuple, Any, tuple, bool, tuple]:
    """What `_ConvNd` takes from kernel_size to output_padding, from what users give."""
    return (
        of_each(kernel_size, n),
        of_each(stride, n),
        padding if isinstance(padding, str) else of_each(padding, n),
        of_each(dilation, n),
        False,
        (0,) * n,
    )


class Conv1d(_Convolution):
    """Convolution along one axis: `y[n, o] = bias[o] + sum over c of weight[o, c] * x[n, c]`.

    Here `*` slides the kernel over the input, without turning it round (cross-correlation).

    Args:
        in_channels, out_channels: number of channels of input and output
        kernel_size: length of the window
        stride: steps of the window
        padding: width of the border at both ends; "valid" is none, "same" keeps the length
        dilation: distance between the elements of the window
        groups: channels fall into so many groups, convolved each for itself
        bias: whether to add a bias
        padding_mode: border of "zeros", or as `F.pad` fills it: "reflect", "replicate", "circular"

    Shape: `x: (N, in_channels, L)` or `(in_channels, L)` to `y: (N, out_channels, L')`, where
    `L' = (L + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1`;
    `weight: (out_channels, in_channels / groups, kernel_size)`, `bias: (out_channels,)`.

    >>> layer = torch.nn.Conv1d(16, 33, 3, stride=2)
    >>> layer
    Conv1d(16, 33, kernel_size=(3,), stride=(2,))
    >>> layer(torch.ones(20, 16, 50)).shape
    torch.Size([20, 33, 24])
    """

    _n_axes = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_Convolution):
    """Convolution of images; see `Conv1d`, each option for both axes or a pair of them.

    Shape: `x: (N, in_channels, H, W)` or `(in_channels, H, W)` to `y: (N, out_channels, H', W')`;
    `weight: (out_channels, in_channels / groups, KH, KW)`, `bias: (out_channels,)`.

    Source: LeCun et al., Gradient-based learning applied to document recognition, 1998.

    >>> layer = torch.nn.Conv2d(3, 8, (3, 5), padding=(1, 2))
    >>> layer
    Conv2d(3, 8, kernel_size=(3, 5), stride=(1, 1), padding=(1, 2))
    >>> layer(torch.ones(2, 3, 10, 12)).shape
    torch.Size([2, 8, 10, 12])
    """

    _n_axes = 2
    _function = staticmethod(F.conv2d)


class Conv3d(_Convolution):
    """Convolution of volumes; see `Conv1d`, each option for all axes or a triple of them.

    Shape: `x: (N, in_channels, D, H, W)` or `(in_channels, D, H, W)` to
    `y: (N, out_channels, D', H', W')`; `weight: (out_channels, in_channels / groups, KD, KH, KW)`.

    >>> torch.nn.Conv3d(2, 4, 3, stride=2)(torch.ones(1, 2, 5, 7, 9)).shape
    torch.Size([1, 4, 2, 3, 4])
    """

    _n_axes = 3
    _function = staticmethod(F.conv3d)
