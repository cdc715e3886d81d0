"""Convolutions and their transposes: each output is a weighted sum over a window."""

import math

from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, Shape
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.core.missing import public_names
from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.modules.lazy import LazyLayer
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import ClassOptions, _reverse_repeat_tuple, of_each, unusual
from tapegrad.nn.parameter import Parameter, add_parameter
from tapegrad.tensors.tensor import Tensor

_MODES = ("zeros", "circular", "reflect", "replicate")


class _ConvNd(Module):
    """What convolutions over any number of axes have in common."""

    __constants__ = (
        "stride padding dilation groups padding_mode output_padding in_channels out_channels "
        "kernel_size"
    ).split()

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
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        if transposed and padding_mode != "zeros":
            raise value_error(
                f'Only "zeros" padding mode is supported for {type(self).__name__}',
                "Leave padding_mode away: padding cuts off the output here.",
            )
        super().__init__()
        _check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.dilation, self.transposed = dilation, transposed
        self.output_padding, self.groups = output_padding, groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _border(padding, kernel_size, dilation)
        if transposed:
            shape = (in_channels, out_channels // groups, *kernel_size)
        else:
            shape = (out_channels, in_channels // groups, *kernel_size)
        add_parameter(self, "weight", True, shape, device, dtype)
        add_parameter(self, "bias", bias, out_channels, device, dtype)
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
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}",
            f"stride={self.stride}",
            *unusual(self, padding=none, dilation=(1,) * len(none), output_padding=none, groups=1),
        ]
        if self.bias is None:
            parts.append("bias=False")
        return ", ".join([*parts, *unusual(self, padding_mode="zeros")])


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
        return _reverse_repeat_tuple(padding, 2)
    widths = []
    for size, gap in zip(reversed(kernel), reversed(dilation), strict=False):
        total = gap * (size - 1)
        widths += [total // 2, total - total // 2]
    return widths


class _Convolution(ClassOptions, _ConvNd):
    """A convolution that is not transposed; a subclass says over how many axes, and which."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Shape,
        stride: Shape = 1,
        padding: Shape = 0,
        dilation: Shape = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        window = _window(self._n_axes, kernel_size, stride, padding, dilation, False, 0)
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


def _window(
    n: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, added: Any
) -> tuple[tuple, tuple, Any, tuple, bool, tuple]:
    """What `_ConvNd` takes from kernel_size to output_padding, from what users give."""
    border = padding if isinstance(padding, str) and not transposed else of_each(padding, n)
    sizes = of_each(kernel_size, n), of_each(stride, n), border, of_each(dilation, n)
    return *sizes, transposed, of_each(added, n)


class Conv1d(_Convolution, n_axes=1, function=F.conv1d):
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


class Conv2d(_Convolution, n_axes=2, function=F.conv2d):
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


class Conv3d(_Convolution, n_axes=3, function=F.conv3d):
    """Convolution of volumes; see `Conv1d`, each option for all axes or a triple of them.

    Shape: `x: (N, in_channels, D, H, W)` or `(in_channels, D, H, W)` to
    `y: (N, out_channels, D', H', W')`; `weight: (out_channels, in_channels / groups, KD, KH, KW)`.

    >>> torch.nn.Conv3d(2, 4, 3, stride=2)(torch.ones(1, 2, 5, 7, 9)).shape
    torch.Size([1, 4, 2, 3, 4])
    """


class _ConvTransposeNd(_ConvNd):
    """What transposed convolutions over any number of axes have in common."""

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        options = self.stride, self.padding, self._added(input, output_size), self.groups
        return self._function(input, self.weight, self.bias, *options, self.dilation)

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
        padding: Any = self.padding  # numbers: its names are for convolutions the other way
        least = [
            (size - 1) * self.stride[i]
            - 2 * padding[i]
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


class _TransposedConvolution(ClassOptions, _ConvTransposeNd):
    """A transposed convolution as users make it; a subclass says over how many axes."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Shape,
        stride: Shape = 1,
        padding: Shape = 0,
        output_padding: Shape = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Shape = 1,
        padding_mode: str = "zeros",
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        window = _window(self._n_axes, kernel_size, stride, padding, dilation, True, output_padding)
        super().__init__(
            in_channels, out_channels, *window, groups, bias, padding_mode, device, dtype
        )


class ConvTranspose1d(_TransposedConvolution, n_axes=1, function=F.conv_transpose1d):
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


class ConvTranspose2d(_TransposedConvolution, n_axes=2, function=F.conv_transpose2d):
    """The transposed convolution of images; see `ConvTranspose1d`.

    Shape: `x: (N, in_channels, H, W)` or `(in_channels, H, W)` to `y: (N, out_channels, H', W')`;
    `weight: (in_channels, out_channels / groups, KH, KW)`, `bias: (out_channels,)`.

    >>> torch.nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1)(torch.ones(1, 4, 5, 6)).shape
    torch.Size([1, 2, 10, 12])
    """


class ConvTranspose3d(_TransposedConvolution, n_axes=3, function=F.conv_transpose3d):
    """The transposed convolution of volumes; see `ConvTranspose1d`.

    Shape: `x: (N, in_channels, D, H, W)` or `(in_channels, D, H, W)` to
    `y: (N, out_channels, D', H', W')`; `weight: (in_channels, out_channels / groups, KD, KH, KW)`.

    >>> torch.nn.ConvTranspose3d(2, 1, 2, stride=2)(torch.ones(1, 2, 2, 3, 4)).shape
    torch.Size([1, 1, 4, 6, 8])
    """


class _LazyConvNd(LazyLayer):
    """What lazy convolutions have in common: the channels come from the input."""

    _taken = "in_channels"

    def _wait(self, out_channels: int, bias: bool, device: DeviceLike, dtype: DTypeLike) -> None:
        self.out_channels = out_channels
        self._make_later(True, bias, device, dtype)

    def initialize_parameters(self, input: Tensor, *args: object, **kwargs: object) -> None:
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
        kernel_size: Shape,
        stride: Shape = 1,
        padding: Shape = 0,
        dilation: Shape = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        options = (kernel_size, stride, padding, dilation, groups, False, padding_mode)
        super().__init__(0, 0, *options)  # type: ignore[call-arg]
        self._wait(out_channels, bias, device, dtype)


class _LazyTransposedConvolution(_LazyConvNd):
    """The constructor of lazy transposed convolutions."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Shape,
        stride: Shape = 1,
        padding: Shape = 0,
        output_padding: Shape = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Shape = 1,
        padding_mode: str = "zeros",
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        options = (kernel_size, stride, padding, output_padding, groups, False, dilation)
        super().__init__(0, 0, *options, padding_mode)  # type: ignore[call-arg]
        self._wait(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConvolution, Conv1d, becomes=Conv1d):
    """A `Conv1d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConv1d(3, 2)(torch.ones(1, 4, 5)).shape
    torch.Size([1, 3, 4])
    """


class LazyConv2d(_LazyConvolution, Conv2d, becomes=Conv2d):
    """A `Conv2d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConv2d(3, 2)(torch.ones(1, 4, 5, 5)).shape
    torch.Size([1, 3, 4, 4])
    """


class LazyConv3d(_LazyConvolution, Conv3d, becomes=Conv3d):
    """A `Conv3d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConv3d(3, 2)(torch.ones(1, 4, 5, 5, 5)).shape
    torch.Size([1, 3, 4, 4, 4])
    """


class LazyConvTranspose1d(_LazyTransposedConvolution, ConvTranspose1d, becomes=ConvTranspose1d):
    """A `ConvTranspose1d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConvTranspose1d(3, 2)(torch.ones(1, 4, 5)).shape
    torch.Size([1, 3, 6])
    """


class LazyConvTranspose2d(_LazyTransposedConvolution, ConvTranspose2d, becomes=ConvTranspose2d):
    """A `ConvTranspose2d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConvTranspose2d(3, 2)(torch.ones(1, 4, 5, 5)).shape
    torch.Size([1, 3, 6, 6])
    """


class LazyConvTranspose3d(_LazyTransposedConvolution, ConvTranspose3d, becomes=ConvTranspose3d):
    """A `ConvTranspose3d` with as many `in_channels` as its first input has.

    >>> torch.nn.LazyConvTranspose3d(3, 2)(torch.ones(1, 4, 5, 5, 5)).shape
    torch.Size([1, 3, 6, 6, 6])
    """


__all__ = public_names(globals())
