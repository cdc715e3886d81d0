"""Pooling: the largest, the mean or the p-norm of what is under each window."""

from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.core.missing import public_names
from tapegrad.nn import functional as F
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import ClassOptions, has_own_constructor, of_each, shown
from tapegrad.tensors.tensor import Tensor


class _MaxPoolNd(ClassOptions, Module):
    __constants__ = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        options = self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode
        return self._function(input, *options, self.return_indices)

    def extra_repr(self) -> str:
        return shown(self, "kernel_size stride padding dilation ceil_mode")


class MaxPool1d(_MaxPoolNd, function=F.max_pool1d):
    """The largest element under each window along one axis: `(N, C, L)` or `(C, L)`.

    Args:
        kernel_size: length of the window
        stride: steps of the window; its length unless given
        padding: width of a border of -inf at both ends
        dilation: distance between the elements of the window
        return_indices: whether the positions are returned, too
        ceil_mode: whether a window may begin inside and end outside

    Shape: L becomes `(L + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1`.

    >>> torch.nn.MaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[3., 4.]])
    """


class MaxPool2d(_MaxPoolNd, function=F.max_pool2d):
    """The largest element under each window of images (N, C, H, W) or (C, H, W).

    Options are those of `MaxPool1d`, each for all axes, or one for each.

    >>> torch.nn.MaxPool2d(3, stride=2, padding=1)(torch.ones(1, 2, 6, 6)).shape
    torch.Size([1, 2, 3, 3])
    """


class MaxPool3d(_MaxPoolNd, function=F.max_pool3d):
    """The largest element under each window of volumes (N, C, D, H, W) or (C, D, H, W).

    Options are those of `MaxPool1d`, each for all axes, or one for each.

    >>> torch.nn.MaxPool3d(3, stride=2, padding=1)(torch.ones(1, 2, 6, 6, 6)).shape
    torch.Size([1, 2, 3, 3, 3])
    """


class _MaxUnpoolNd(ClassOptions, Module):
    kernel_size: tuple[int, ...]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = of_each(kernel_size, self._n_axes)
        self.stride = of_each(kernel_size if stride is None else stride, self._n_axes)
        self.padding = of_each(padding, self._n_axes)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return self._function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd, n_axes=1, function=F.max_unpool1d):
    """Elements put back where `MaxPool1d(..., return_indices=True)` found them; zeros elsewhere.

    `forward(input, indices, output_size=None)`: the result has the smallest size that pools to the
    input's, or `output_size`.

    >>> x = torch.tensor([[1.0, 3.0, 2.0, 4.0]])
    >>> y, indices = torch.nn.MaxPool1d(2, return_indices=True)(x)
    >>> torch.nn.MaxUnpool1d(2)(y, indices)
    tensor([[0., 3., 0., 4.]])
    """


class MaxUnpool2d(_MaxUnpoolNd, n_axes=2, function=F.max_unpool2d):
    """Elements put back where `MaxPool2d` found them; see `MaxUnpool1d`.

    >>> y, indices = torch.nn.MaxPool2d(2, return_indices=True)(torch.arange(4.0).reshape(1, 2, 2))
    >>> torch.nn.MaxUnpool2d(2)(y, indices)
    tensor([[[0., 0.],
             [0., 3.]]])
    """


class MaxUnpool3d(_MaxUnpoolNd, n_axes=3, function=F.max_unpool3d):
    """Elements put back where `MaxPool3d` found them; see `MaxUnpool1d`.

    >>> y, indices = torch.nn.MaxPool3d(2, return_indices=True)(torch.ones(1, 2, 4, 6, 8))
    >>> torch.nn.MaxUnpool3d(2)(y, indices).shape
    torch.Size([1, 2, 4, 6, 8])
    """


class _AvgPoolNd(Module):
    __constants__: tuple[str, ...] = (
        "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad",
    )  # fmt: skip

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean under each window along one axis: `(N, C, L)` or `(C, L)`.

    Args:
        kernel_size: length of the window
        stride: steps of the window; its length unless given
        padding: width of a border of zeros at both ends
        ceil_mode: whether a window may begin inside and end outside
        count_include_pad: whether the border counts in the mean

    Shape: L becomes `(L + 2 padding - kernel_size) // stride + 1`.

    >>> torch.nn.AvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[2., 3.]])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = of_each(kernel_size, 1)
        self.stride = of_each(kernel_size if stride is None else stride, 1)
        self.padding = of_each(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        window = self.kernel_size, self.stride, self.padding
        return F.avg_pool1d(input, *window, self.ceil_mode, self.count_include_pad)


class _AvgPoolDivided(ClassOptions, _AvgPoolNd):
    __constants__ = (
        "kernel_size",
        "stride",
        "padding",
        "ceil_mode",
        "count_include_pad",
        "divisor_override",
    )

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        options = self.ceil_mode, self.count_include_pad, self.divisor_override
        return self._function(input, self.kernel_size, self.stride, self.padding, *options)


class AvgPool2d(_AvgPoolDivided, function=F.avg_pool2d):
    """The mean under each window of images: `(N, C, H, W)` or `(C, H, W)`; see `AvgPool1d`.

    Each option is for all axes, or one for each. With `divisor_override`, the sum is divided by it.

    >>> torch.nn.AvgPool2d(3, stride=2, padding=1)(torch.ones(1, 2, 6, 6)).shape
    torch.Size([1, 2, 3, 3])
    """


class AvgPool3d(_AvgPoolDivided, function=F.avg_pool3d):
    """The mean under each window of volumes: `(N, C, D, H, W)` or `(C, D, H, W)`; see `AvgPool1d`.

    Each option is for all axes, or one for each. With `divisor_override`, the sum is divided by it.

    >>> torch.nn.AvgPool3d(3, stride=2, padding=1)(torch.ones(1, 2, 6, 6, 6)).shape
    torch.Size([1, 2, 3, 3, 3])
    """


class _LPPoolNd(ClassOptions, Module):
    __constants__ = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._function(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return shown(self, "norm_type kernel_size stride ceil_mode")


class LPPool1d(_LPPoolNd, function=F.lp_pool1d):
    """The p-norm under each window, `sum(x^p)^(1/p)`, along one axis.

    Shape: `(N, C, L)` or `(C, L)`.

    `norm_type` p = 1 is the sum, p = inf the maximum. Where the sum is zero the gradient is zero.

    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0, 0.0, 1.0]]))
    tensor([[5., 1.]])
    """


class LPPool2d(_LPPoolNd, function=F.lp_pool2d):
    """The p-norm under each window, `sum(x^p)^(1/p)`, of images.

    Shape: `(N, C, H, W)` or `(C, H, W)`.

    >>> torch.nn.LPPool2d(2, 3, stride=2)(torch.ones(1, 2, 6, 6)).shape
    torch.Size([1, 2, 2, 2])
    """


class LPPool3d(_LPPoolNd, function=F.lp_pool3d):
    """The p-norm under each window, `sum(x^p)^(1/p)`, of volumes.

    Shape: `(N, C, D, H, W)` or `(C, D, H, W)`.

    >>> torch.nn.LPPool3d(2, 3, stride=2)(torch.ones(1, 2, 6, 6, 6)).shape
    torch.Size([1, 2, 2, 2, 2])
    """


class _AdaptiveAvgPoolNd(ClassOptions, Module):
    __constants__ = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd, function=F.adaptive_avg_pool1d):
    """The mean under each of `output_size` windows along one axis: `(N, C, L)` or `(C, L)`.

    Window i of n over L elements is from `floor(i L / n)` to `ceil((i + 1) L / n)`.

    >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[2., 3.]])
    """


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, function=F.adaptive_avg_pool2d):
    """The mean under each of `output_size` windows of images: `(N, C, H, W)` or `(C, H, W)`.

    `output_size` is for all axes, or one for each; None keeps an axis as it is.

    >>> torch.nn.AdaptiveAvgPool2d((3, None))(torch.ones(1, 2, 6, 5)).shape
    torch.Size([1, 2, 3, 5])
    """


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, function=F.adaptive_avg_pool3d):
    """The mean under each of `output_size` windows of volumes: `(N, C, D, H, W)` or `(C, D, H, W)`.

    `output_size` is for all axes, or one for each; None keeps an axis as it is.

    >>> torch.nn.AdaptiveAvgPool3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 1, 1, 1])
    """


class _AdaptiveMaxPoolNd(ClassOptions, Module):
    __constants__ = ("output_size", "return_indices")

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        return self._function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd, function=F.adaptive_max_pool1d):
    """The largest of each of `output_size` windows along one axis: `(N, C, L)` or `(C, L)`.

    The windows are those of `AdaptiveAvgPool1d`. With `return_indices` the positions come, too.

    >>> torch.nn.AdaptiveMaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[3., 4.]])
    """


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, function=F.adaptive_max_pool2d):
    """The largest of each of `output_size` windows of images: `(N, C, H, W)` or `(C, H, W)`.

    The windows are those of `AdaptiveAvgPool2d`. With `return_indices` the positions come, too.

    >>> torch.nn.AdaptiveMaxPool2d((3, None))(torch.ones(1, 2, 6, 5)).shape
    torch.Size([1, 2, 3, 5])
    """


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd, function=F.adaptive_max_pool3d):
    """The largest of each of `output_size` windows of volumes: `(N, C, D, H, W)` or `(C, D, H, W)`.

    The windows are those of `AdaptiveAvgPool3d`. With `return_indices` the positions come, too.

    >>> torch.nn.AdaptiveMaxPool3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 1, 1, 1])
    """


class _FractionalMaxPoolNd(ClassOptions, Module):
    __constants__ = ("kernel_size", "return_indices", "output_size", "output_ratio")

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        n = self._n_axes
        self.kernel_size = of_each(kernel_size, n)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else of_each(output_size, n)
        self.output_ratio = None if output_ratio is None else of_each(output_ratio, n)
        if output_size is None and output_ratio is None:
            raise value_error(
                f"{type(self).__name__} requires specifying either an output size, or a "
                "pooling ratio",
                "Pass output_size=..., or output_ratio=... between 0 and 1.",
            )
        if output_size is not None and output_ratio is not None:
            raise value_error(
                "only one of output_size and output_ratio may be specified",
                "Leave one of them away.",
            )
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise value_error(
                f"output_ratio must be between 0 and 1 (got {output_ratio})",
                "It is the size of the output divided by that of the input.",
            )

    def forward(self, input: Tensor) -> Any:
        options = self.output_size, self.output_ratio, self.return_indices, self._random_samples
        return self._function(input, self.kernel_size, *options)


class FractionalMaxPool2d(_FractionalMaxPoolNd, n_axes=2, function=F.fractional_max_pool2d):
    """The largest under windows that lie at random, of images (N, C, H, W) or (C, H, W).

    The windows lie at random, so that on average they are `input / output` apart. Give either
    `output_size` or `output_ratio`, for all axes or one for each.

    Source: Graham, Fractional max-pooling, 2014.

    >>> torch.nn.FractionalMaxPool2d(2, output_ratio=0.5)(torch.ones(1, 2, 6, 6)).shape
    torch.Size([1, 2, 3, 3])
    """


class FractionalMaxPool3d(_FractionalMaxPoolNd, n_axes=3, function=F.fractional_max_pool3d):
    """The largest under windows that lie at random, of volumes (N, C, D, H, W) or (C, D, H, W).

    >>> torch.nn.FractionalMaxPool3d(2, output_ratio=0.5)(torch.ones(1, 2, 6, 6, 6)).shape
    torch.Size([1, 2, 3, 3, 3])
    """


__all__ = public_names(globals())
has_own_constructor(MaxUnpool1d, MaxUnpool2d, MaxUnpool3d, AvgPool2d, AvgPool3d)
has_own_constructor(FractionalMaxPool2d, FractionalMaxPool3d)
