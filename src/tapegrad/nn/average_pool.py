"""Average and power pooling: the mean, or the p-norm, of what is under each window."""

from __future__ import annotations

from typing import Any

from tapegrad.nn import functional as F
from tapegrad.nn.module import Module
from tapegrad.nn.window import of_each
from tapegrad.tensors.tensor import Tensor


class _AvgPoolNd(Module):
    __constants__ = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")

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
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _AvgPoolDivided(_AvgPoolNd):
    _function: Any

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
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPoolDivided):
    """The mean under each window of images: `(N, C, H, W)` or `(C, H, W)`; see `AvgPool1d`.

    Each option is for all axes, or one for each. With `divisor_override`, the sum is divided by it.

    >>> torch.nn.AvgPool2d(3, stride=2, padding=1)(torch.ones(1, 2, 6, 6)).shape
    torch.Size([1, 2, 3, 3])
    """

    _function = staticmethod(F.avg_pool2d)

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(
            kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )


class AvgPool3d(_AvgPoolDivided):
    """The mean under each window of volumes: `(N, C, D, H, W)` or `(C, D, H, W)`; see `AvgPool1d`.

    Each option is for all axes, or one for each. With `divisor_override`, the sum is divided by it.

    >>> torch.nn.AvgPool3d(3, stride=2, padding=1)(torch.ones(1, 2, 6, 6, 6)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    _function = staticmethod(F.avg_pool3d)

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(
            kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )


class _LPPoolNd(Module):
    __constants__ = ("norm_type", "kernel_size", "stride", "ceil_mode")

    _function: Any

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._function(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm under each window, `sum(x^p)^(1/p)`, along one axis.

    Shape: `(N, C, L)` or `(C, L)`.

    `norm_type` p = 1 is the sum, p = inf the maximum. Where the sum is zero the gradient is zero.

    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0, 0.0, 1.0]]))
    tensor([[5., 1.]])
    """

    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """The p-norm under each window, `sum(x^p)^(1/p)`, of images.

    Shape: `(N, C, H, W)` or `(C, H, W)`.

    >>> torch.nn.LPPool2d(2, 3, stride=2)(torch.ones(1, 2, 6, 6)).shape
    torch.Size([1, 2, 2, 2])
    """

    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """The p-norm under each window, `sum(x^p)^(1/p)`, of volumes.

    Shape: `(N, C, D, H, W)` or `(C, D, H, W)`.

    >>> torch.nn.LPPool3d(2, 3, stride=2)(torch.ones(1, 2, 6, 6, 6)).shape
    torch.Size([1, 2, 2, 2, 2])
    """

    _function = staticmethod(F.lp_pool3d)
