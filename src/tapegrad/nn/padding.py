"""Padding: a border around the axes of images and the like."""

from __future__ import annotations

from typing import Any

from tapegrad.nn import functional as F
from tapegrad.nn.batch_norm import wrong_rank
from tapegrad.nn.module import Module
from tapegrad.nn.window import of_each
from tapegrad.tensors.tensor import Tensor


class _Pad(Module):
    """A border of given widths around the last axes; a subclass says around how many.

    `padding` is one width for all ends, or for each axis, the last first, that before and after.
    """

    __constants__: tuple[str, ...] = ("padding",)

    _mode: str
    _n_axes: int

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = of_each(padding, 2 * self._n_axes)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """A border that mirrors what lies inside of the edge, around the last axis.

    >>> torch.nn.ReflectionPad1d((1, 2))(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 1., 2., 3., 2., 1.]])
    """

    _n_axes = 1

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad2d(_ReflectionPadNd):
    """A border that mirrors what lies inside of the edge, around the last two axes.

    >>> torch.nn.ReflectionPad2d(1)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """

    _n_axes = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad3d(_ReflectionPadNd):
    """A border that mirrors what lies inside of the edge, around the last three axes.

    >>> torch.nn.ReflectionPad3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """

    _n_axes = 3

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """A border that repeats the edge, around the last axis.

    >>> torch.nn.ReplicationPad1d((1, 2))(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1., 1., 2., 3., 3., 3.]])
    """

    _n_axes = 1

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad2d(_ReplicationPadNd):
    """A border that repeats the edge, around the last two axes.

    >>> torch.nn.ReplicationPad2d(1)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """

    _n_axes = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReplicationPad3d(_ReplicationPadNd):
    """A border that repeats the edge, around the last three axes.

    >>> torch.nn.ReplicationPad3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """

    _n_axes = 3

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class _CircularPadNd(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        low, high = self._n_axes + 1, self._n_axes + 2
        if input.ndim != low and input.ndim != high:
            raise wrong_rank(f"{low}D or {high}D", input, "(N, C, ...) or (C, ...)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """A border that goes on at the other end, around the last axis.

    >>> torch.nn.CircularPad1d((1, 2))(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 1., 2., 3., 1., 2.]])
    """

    _n_axes = 1

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class CircularPad2d(_CircularPadNd):
    """A border that goes on at the other end, around the last two axes.

    >>> torch.nn.CircularPad2d(1)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """

    _n_axes = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class CircularPad3d(_CircularPadNd):
    """A border that goes on at the other end, around the last three axes.

    >>> torch.nn.CircularPad3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """

    _n_axes = 3

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)
