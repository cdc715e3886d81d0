"""Convolutions that take the number of channels from their first input."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.nn.convolution import Conv1d, Conv2d, Conv3d
from tapegrad.nn.lazy import LazyModuleMixin
from tapegrad.nn.transposed_convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from tapegrad.nn.uninitialized import UninitializedParameter
from tapegrad.tensors.tensor import Tensor


class _LazyConvNd(LazyModuleMixin):
    """What lazy convolutions have in common: the channels come from the input."""

    def _wait(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        layer: Any = self
        layer.out_channels = out_channels
        layer.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            layer.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """As in the convolution, once the parameters have shapes."""
        layer: Any = self
        if not self.has_uninitialized_params() and layer.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Make the parameters for inputs like this one."""
        layer: Any = self
        inner = 0 if layer.transposed else 1
        if not self.has_uninitialized_params():
            if not layer.in_channels:
                layer.in_channels = layer.weight.shape[inner] * (layer.groups if inner else 1)
            return
        n_channels = self._channels_of(input)
        if n_channels % layer.groups:
            raise value_error(
                "in_channels must be divisible by groups",
                f"{n_channels} channels do not fall into {layer.groups} groups.",
            )
        layer.in_channels = n_channels
        outer, per_group = layer.out_channels, n_channels // layer.groups
        if layer.transposed:
            outer, per_group = n_channels, layer.out_channels // layer.groups
        with no_grad():
            layer.weight.materialize((outer, per_group, *layer.kernel_size))
            if layer.bias is not None:
                layer.bias.materialize((layer.out_channels,))
            self.reset_parameters()

    def _channels_of(self, input: Tensor) -> int:
        n = len(self.kernel_size)  # type: ignore[attr-defined]
        if input.ndim not in (n + 1, n + 2):
            raise runtime_error(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}",
                "The input has shape (N, C, ...) or (C, ...).",
            )
        return input.shape[-n - 1]


class _LazyConvolution(_LazyConvNd):
    """The constructor of lazy convolutions; the next class in line is the convolution itself."""

    def __init__(
        self,
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
        options = (kernel_size, stride, padding, dilation, groups, False, padding_mode)
        super().__init__(0, 0, *options)  # type: ignore[call-arg]
        self._wait(out_channels, bias, device, dtype)


class _LazyTransposedConvolution(_LazyConvNd):
    """The constructor of lazy transposed convolutions."""

    def __init__(
        self,
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
        super().__init__(  # type: ignore[call-arg]
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
        )
        self._wait(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConvolution, Conv1d):
    """A `Conv1d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConv1d(3, 2)(torch.ones(1, 4, 5)).shape
    torch.Size([1, 3, 4])
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvolution, Conv2d):
    """A `Conv2d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConv2d(3, 2)(torch.ones(1, 4, 5, 5)).shape
    torch.Size([1, 3, 4, 4])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvolution, Conv3d):
    """A `Conv3d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConv3d(3, 2)(torch.ones(1, 4, 5, 5, 5)).shape
    torch.Size([1, 3, 4, 4, 4])
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTransposedConvolution, ConvTranspose1d):
    """A `ConvTranspose1d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConvTranspose1d(3, 2)(torch.ones(1, 4, 5)).shape
    torch.Size([1, 3, 6])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposedConvolution, ConvTranspose2d):
    """A `ConvTranspose2d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConvTranspose2d(3, 2)(torch.ones(1, 4, 5, 5)).shape
    torch.Size([1, 3, 6, 6])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposedConvolution, ConvTranspose3d):
    """A `ConvTranspose3d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConvTranspose3d(3, 2)(torch.ones(1, 4, 5, 5, 5)).shape
    torch.Size([1, 3, 6, 6, 6])
    """

    cls_to_become = ConvTranspose3d
