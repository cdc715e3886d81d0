"""Transposed convolutions: from a window's result back to the window."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.nn import functional as F
from tapegrad.nn.convolution_base import _ConvNd
from tapegrad.nn.window import of_each
from tapegrad.tensors.tensor import Tensor


class _ConvTransposeNd(_ConvNd):
    """What transposed convolutions over any number of axes have in common."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise value_error(
                f'Only "zeros" padding mode is supported for {type(self).__name__}',
                "Leave padding_mode away: padding cuts off the output here.",
            )
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        return self._function(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._added(input, output_size),
            self.groups,
            self.dilation,
        )

    def _added(self, input: Tensor, output_size: Any) -> tuple[int, ...] | list[int]:
        """What is to be added to the output at its end for it to have size `output_size`."""
        if output_size is None:
            return self.output_padding
        n = len(self.kernel_size)
        n_outer = input.ndim - n
        sizes = list(output_size)
        if len(sizes) == n + n_outer:
            sizes = sizes[n_outer:]
        if len(sizes) != n:
            raise value_error(
                f"ConvTranspose{n}D: for {input.ndim}D input, output_size must have {n} or "
                f"{n + n_outer} elements (got {len(sizes)})",
                "Give the sizes of the axes that are convolved, or of all axes.",
            )
        least = [
            (size - 1) * self.stride[i]
            - 2 * self.padding[i]
            + self.dilation[i] * (self.kernel_size[i] - 1)
            + 1
            for i, size in enumerate(input.shape[n_outer:])
        ]
        most = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        if any(not low <= s <= high for low, s, high in zip(least, sizes, most, strict=True)):
            raise value_error(
                f"requested an output size of {output_size}, but valid sizes range from "
                f"{least} to {most} (for an input of {input.size()[2:]})",
                "A convolution with these options takes sizes in this range to the input's.",
            )
        return [size - low for size, low in zip(sizes, least, strict=True)]


def _arguments(
    n: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, output_padding: Any
) -> tuple[tuple, tuple, tuple, tuple, bool, tuple]:
    """What `_ConvNd` takes from kernel_size to output_padding, from what users give."""
    return (
        of_each(kernel_size, n),
        of_each(stride, n),
        of_each(padding, n),
        of_each(dilation, n),
        True,
        of_each(output_padding, n),
    )


class _TransposedConvolution(_ConvTransposeNd):
    """A transposed convolution as users make it; a subclass says over how many axes."""

    _n_axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        window = _arguments(self._n_axes, kernel_size, stride, padding, dilation, output_padding)
        super().__init__(
            in_channels, out_channels, *window, groups, bias, padding_mode, device, dtype
        )


class ConvTranspose1d(_TransposedConvolution):
    """The transposed convolution along one axis: what carries gradients back through `Conv1d`.

    Each input element adds its multiple of the kernel to the output, `stride` apart.

    Args:
        in_channels, out_channels: number of channels of input and output
        kernel_size: length of the window
        stride: steps of the window, in the output
        padding: so much is cut off the output at both ends
        output_padding: so much is added to the output at its end
        groups: channels fall into so many groups, convolved each for itself
        bias: whether to add a bias
        dilation: distance between the elements of the window

    `forward(input, output_size=None)`: of the lengths that a strided convolution takes to the
    input's, `output_size` chooses one.

    Shape: `x: (N, in_channels, L)` or `(in_channels, L)` to `y: (N, out_channels, L')`, where
    `L' = (L - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1`;
    `weight: (in_channels, out_channels / groups, kernel_size)`, `bias: (out_channels,)`.

    Source: Zeiler et al., Deconvolutional networks, 2010.

    >>> layer = torch.nn.ConvTranspose1d(4, 2, 3, stride=2)
    >>> layer(torch.ones(1, 4, 5)).shape
    torch.Size([1, 2, 11])
    >>> layer(torch.ones(1, 4, 5), output_size=[12]).shape
    torch.Size([1, 2, 12])
    """

    _n_axes = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_TransposedConvolution):
    """The transposed convolution of images; see `ConvTranspose1d`.

    Shape: `x: (N, in_channels, H, W)` or `(in_channels, H, W)` to `y: (N, out_channels, H', W')`;
    `weight: (in_channels, out_channels / groups, KH, KW)`, `bias: (out_channels,)`.

    >>> torch.nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1)(torch.ones(1, 4, 5, 6)).shape
    torch.Size([1, 2, 10, 12])
    """

    _n_axes = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_TransposedConvolution):
    """The transposed convolution of volumes; see `ConvTranspose1d`.

    Shape: `x: (N, in_channels, D, H, W)` or `(in_channels, D, H, W)` to
    `y: (N, out_channels, D', H', W')`; `weight: (in_channels, out_channels / groups, KD, KH, KW)`.

    >>> torch.nn.ConvTranspose3d(2, 1, 2, stride=2)(torch.ones(1, 2, 2, 3, 4)).shape
    torch.Size([1, 1, 4, 6, 8])
    """

    _n_axes = 3
    _function = staticmethod(F.conv_transpose3d)
