"""Padding: borders of a constant, of reflections, of the edge or of the other side."""

from tapegrad.core.annotations import Shape
from tapegrad.core.missing import public_names
from tapegrad.nn import functional as F
from tapegrad.nn.modules.batchnorm import _wrong_rank
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import ClassOptions, has_own_constructor, of_each
from tapegrad.tensors.tensor import Tensor


class _Pad(ClassOptions, Module):
    """A border of given widths around the last axes; a subclass says around how many.

    `padding` is one width for all ends, or for each axis, the last first, that before and after.
    """

    __constants__: tuple[str, ...] = ("padding",)

    _mode: str

    def __init__(self, padding: Shape) -> None:
        super().__init__()
        self.padding = of_each(padding, 2 * self._n_axes)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd, n_axes=1):
    """A border that mirrors what lies inside of the edge, around the last axis.

    >>> torch.nn.ReflectionPad1d((1, 2))(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 1., 2., 3., 2., 1.]])
    """


class ReflectionPad2d(_ReflectionPadNd, n_axes=2):
    """A border that mirrors what lies inside of the edge, around the last two axes.

    >>> torch.nn.ReflectionPad2d(1)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """


class ReflectionPad3d(_ReflectionPadNd, n_axes=3):
    """A border that mirrors what lies inside of the edge, around the last three axes.

    >>> torch.nn.ReflectionPad3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd, n_axes=1):
    """A border that repeats the edge, around the last axis.

    >>> torch.nn.ReplicationPad1d((1, 2))(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1., 1., 2., 3., 3., 3.]])
    """


class ReplicationPad2d(_ReplicationPadNd, n_axes=2):
    """A border that repeats the edge, around the last two axes.

    >>> torch.nn.ReplicationPad2d(1)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """


class ReplicationPad3d(_ReplicationPadNd, n_axes=3):
    """A border that repeats the edge, around the last three axes.

    >>> torch.nn.ReplicationPad3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """


class _CircularPadNd(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        low, high = self._n_axes + 1, self._n_axes + 2
        if input.ndim != low and input.ndim != high:
            raise _wrong_rank(f"{low}D or {high}D", input, "(N, C, ...) or (C, ...)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd, n_axes=1):
    """A border that goes on at the other end, around the last axis.

    >>> torch.nn.CircularPad1d((1, 2))(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 1., 2., 3., 1., 2.]])
    """


class CircularPad2d(_CircularPadNd, n_axes=2):
    """A border that goes on at the other end, around the last two axes.

    >>> torch.nn.CircularPad2d(1)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """


class CircularPad3d(_CircularPadNd, n_axes=3):
    """A border that goes on at the other end, around the last three axes.

    >>> torch.nn.CircularPad3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """


class _ConstantPadNd(_Pad):
    __constants__ = ("padding", "value")

    def __init__(self, padding: Shape, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd, n_axes=1):
    """A border of `value` around the last axis.

    >>> torch.nn.ConstantPad1d((1, 2), 9.0)(torch.tensor([[1.0, 2.0]]))
    tensor([[9., 1., 2., 9., 9.]])
    """


class ConstantPad2d(_ConstantPadNd, n_axes=2):
    """A border of `value` around the last two axes.

    >>> torch.nn.ConstantPad2d(1, 0.5)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """


class ConstantPad3d(_ConstantPadNd, n_axes=3):
    """A border of `value` around the last three axes.

    >>> torch.nn.ConstantPad3d(1, 0.5)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: Shape) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPadNd, n_axes=1):
    """A border of zeros around the last axis.

    >>> torch.nn.ZeroPad1d((1, 2))(torch.tensor([[1.0, 2.0]]))
    tensor([[0., 1., 2., 0., 0.]])
    """


class ZeroPad2d(_ZeroPadNd, n_axes=2):
    """A border of zeros around the last two axes.

    >>> torch.nn.ZeroPad2d(1)(torch.ones(1, 2, 4, 5)).shape
    torch.Size([1, 2, 6, 7])
    """


class ZeroPad3d(_ZeroPadNd, n_axes=3):
    """A border of zeros around the last three axes.

    >>> torch.nn.ZeroPad3d(1)(torch.ones(1, 2, 4, 5, 6)).shape
    torch.Size([1, 2, 6, 7, 8])
    """


__all__ = public_names(globals())
has_own_constructor(*[globals()[name] for name in __all__])
