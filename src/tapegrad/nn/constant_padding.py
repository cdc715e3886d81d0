"""Padding with a constant, or with zeros."""

from __future__ import annotations

from typing import Any

from tapegrad.nn import functional as F
from tapegrad.nn.padding import _Pad
from tapegrad.tensors.tensor import Tensor


class _ConstantPadNd(_Pad):
    __constants__ = ("padding", "value")

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """A border of `value` around the last axis.

    >>> torch.nn.ConstantPad1d((1, 2), 9.0)(torch.tensor([[1.0, 2.0]]))
    tensor([[9., 1., 2., 9., 9.]])
    """

    _n_axes = 1

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding, value)


class ConstantPad2d(_ConstantPadNd):
    """A border of `value` around the last two axes.

    >>> torch.nn.ConstantPad2d(1, 0.5)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """

    _n_axes = 2

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding, value)


class ConstantPad3d(_ConstantPadNd):
    """A border of `value` around the last three axes.

    >>> torch.nn.ConstantPad3d(1, 0.5)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """

    _n_axes = 3

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding, value)


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPadNd):
    """A border of zeros around the last axis.

    >>> torch.nn.ZeroPad1d((1, 2))(torch.tensor([[1.0, 2.0]]))
    tensor([[0., 1., 2., 0., 0.]])
    """

    _n_axes = 1

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ZeroPad2d(_ZeroPadNd):
    """A border of zeros around the last two axes.

    >>> torch.nn.ZeroPad2d(1)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """

    _n_axes = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ZeroPad3d(_ZeroPadNd):
    """A border of zeros around the last three axes.

    >>> torch.nn.ZeroPad3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """

    _n_axes = 3

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)
