"""Pooling to a size that is given: windows are laid so that so many of them fit."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.nn import functional as F
from tapegrad.nn.module import Module
from tapegrad.nn.window import of_each
from tapegrad.tensors.tensor import Tensor


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ("output_size",)

    _function: Any

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The mean under each of `output_size` windows along one axis: `(N, C, L)` or `(C, L)`.

    Window i of n over L elements is from `floor(i L / n)` to `ceil((i + 1) L / n)`.

    >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[2., 3.]])
    """

    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The mean under each of `output_size` windows of images: `(N, C, H, W)` or `(C, H, W)`.

    `output_size` is for all axes, or one for each; None keeps an axis as it is.

    >>> torch.nn.AdaptiveAvgPool2d((3, None))(torch.ones(1, 2, 6, 5)).shape
    torch.Size([1, 2, 3, 5])
    """

    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The mean under each of `output_size` windows of volumes: `(N, C, D, H, W)` or `(C, D, H, W)`.

    `output_size` is for all axes, or one for each; None keeps an axis as it is.

    >>> torch.nn.AdaptiveAvgPool3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 1, 1, 1])
    """

    _function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ("output_size", "return_indices")

    _function: Any

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return self._function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest of each of `output_size` windows along one axis: `(N, C, L)` or `(C, L)`.

    The windows are those of `AdaptiveAvgPool1d`. With `return_indices` the positions come, too.

    >>> torch.nn.AdaptiveMaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[3., 4.]])
    """

    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest of each of `output_size` windows of images: `(N, C, H, W)` or `(C, H, W)`.

    The windows are those of `AdaptiveAvgPool2d`. With `return_indices` the positions come, too.

    >>> torch.nn.AdaptiveMaxPool2d((3, None))(torch.ones(1, 2, 6, 5)).shape
    torch.Size([1, 2, 3, 5])
    """

    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest of each of `output_size` windows of volumes: `(N, C, D, H, W)` or `(C, D, H, W)`.

    The windows are those of `AdaptiveAvgPool3d`. With `return_indices` the positions come, too.

    >>> torch.nn.AdaptiveMaxPool3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 1, 1, 1])
    """

    _function = staticmethod(F.adaptive_max_pool3d)


class _FractionalMaxPoolNd(Module):
    __constants__ = ("kernel_size", "return_indices", "output_size", "output_ratio")

    _function: Any
    _n_axes: int

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
        return self._function(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest under windows that lie at random, of images (N, C, H, W) or (C, H, W).

    The windows lie at random, so that on average they are `input / output` apart. Give either
    `output_size` or `output_ratio`, for all axes or one for each.

    Source: Graham, Fractional max-pooling, 2014.

    >>> torch.nn.FractionalMaxPool2d(2, output_ratio=0.5)(torch.ones(1, 2, 6, 6)).shape
    torch.Size([1, 2, 3, 3])
    """

    _function = staticmethod(F.fractional_max_pool2d)
    _n_axes = 2

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__(kernel_size, output_size, output_ratio, return_indices, _random_samples)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest under windows that lie at random, of volumes (N, C, D, H, W) or (C, D, H, W).

    >>> torch.nn.FractionalMaxPool3d(2, output_ratio=0.5)(torch.ones(1, 2, 6, 6, 6)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    _function = staticmethod(F.fractional_max_pool3d)
    _n_axes = 3

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__(kernel_size, output_size, output_ratio, return_indices, _random_samples)
