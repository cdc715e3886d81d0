"""What all convolutions share: options, their checks, parameters and how these begin."""

from __future__ import annotations

import math
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.nn import init
from tapegrad.nn.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.zeros_eye import empty

_MODES = ("zeros", "circular", "reflect", "replicate")


class _ConvNd(Module):
    """What convolutions over any number of axes have in common."""

    __constants__ = (
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    )

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _border(padding, kernel_size, dilation)
        if transposed:
            shape = (in_channels, out_channels // groups, *kernel_size)
        else:
            shape = (out_channels, in_channels // groups, *kernel_size)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform on +-1/sqrt(fan_in), weight and bias; fan_in is channels per group x window.

        Source: LeCun et al., Efficient BackProp, 1998, as PyTorch has it: `kaiming_uniform_` with
        `a=sqrt(5)` is that bound.
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        fan_in = math.prod(self.weight.shape[1:])
        if self.bias is not None and fan_in:
            bound = 1 / math.sqrt(fan_in)
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        none = (0,) * len(self.kernel_size)
        parts = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        if self.padding != none:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * len(self.kernel_size):
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != none:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


def _check(
    in_channels: int, out_channels: int, stride: Any, padding: Any, groups: int, padding_mode: str
) -> None:
    if groups <= 0:
        raise value_error("groups must be a positive integer", "groups=1 connects all channels.")
    for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        if channels % groups:
            raise value_error(
                f"{name} must be divisible by groups",
                f"{channels} channels do not fall into {groups} groups.",
            )
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise value_error(
                f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}",
                "Or give a width, or a width for each axis.",
            )
        if padding == "same" and any(step != 1 for step in stride):
            raise value_error(
                "padding='same' is not supported for strided convolutions",
                "Give the widths of the border as numbers.",
            )
    if padding_mode not in _MODES:
        raise value_error(
            "padding_mode must be one of {'zeros', 'circular', 'reflect', 'replicate'}, "
            f"but got padding_mode='{padding_mode}'",
            "It says what the border is filled with; how wide it is says padding.",
        )


def _border(padding: Any, kernel: tuple, dilation: tuple) -> tuple | list[int]:
    """The widths of the border as `F.pad` takes them: the last axis first, before and after."""
    if padding == "valid":
        return [0] * (2 * len(kernel))
    if padding != "same":
        return tuple(width for width in reversed(padding) for _ in range(2))
    widths = []
    for size, gap in zip(reversed(kernel), reversed(dilation), strict=False):
        total = gap * (size - 1)
        widths += [total // 2, total - total // 2]
    return widths
