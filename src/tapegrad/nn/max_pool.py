"""Maximum pooling and its inverse: the largest element under each window."""

from __future__ import annotations

from typing import Any

from tapegrad.nn import functional as F
from tapegrad.nn.module import Module
from tapegrad.nn.window import of_each
from tapegrad.tensors.tensor import Tensor


class _MaxPoolNd(Module):
    __constants__ = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")

    _function: Any

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
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
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

    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """The largest element under each window of images (N, C, H, W) or (C, H, W).

    Options are those of `MaxPool1d`, each for all axes, or one for each.

    >>> torch.nn.MaxPool2d(3, stride=2, padding=1)(torch.ones(1, 2, 6, 6)).shape
    torch.Size([1, 2, 3, 3])
    """

    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """The largest element under each window of volumes (N, C, D, H, W) or (C, D, H, W).

    Options are those of `MaxPool1d`, each for all axes, or one for each.

    >>> torch.nn.MaxPool3d(3, stride=2, padding=1)(torch.ones(1, 2, 6, 6, 6)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    _function = staticmethod(F.max_pool3d)


class _MaxUnpoolNd(Module):
    kernel_size: tuple[int, ...]

    _function: Any
    _n_axes: int

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


class MaxUnpool1d(_MaxUnpoolNd):
    """Elements put back where `MaxPool1d(..., return_indices=True)` found them; zeros elsewhere.

    `forward(input, indices, output_size=None)`: the result has the smallest size that pools to the
    input's, or `output_size`.

    >>> x = torch.tensor([[1.0, 3.0, 2.0, 4.0]])
    >>> y, indices = torch.nn.MaxPool1d(2, return_indices=True)(x)
    >>> torch.nn.MaxUnpool1d(2)(y, indices)
    tensor([[0., 3., 0., 4.]])
    """

    _function = staticmethod(F.max_unpool1d)
    _n_axes = 1

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__(kernel_size, stride, padding)


class MaxUnpool2d(_MaxUnpoolNd):
    """Elements put back where `MaxPool2d` found them; see `MaxUnpool1d`.

    >>> y, indices = torch.nn.MaxPool2d(2, return_indices=True)(torch.arange(4.0).reshape(1, 2, 2))
    >>> torch.nn.MaxUnpool2d(2)(y, indices)
    tensor([[[0., 0.],
             [0., 3.]]])
    """

    _function = staticmethod(F.max_unpool2d)
    _n_axes = 2

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__(kernel_size, stride, padding)


class MaxUnpool3d(_MaxUnpoolNd):
    """Elements put back where `MaxPool3d` found them; see `MaxUnpool1d`.

    >>> y, indices = torch.nn.MaxPool3d(2, return_indices=True)(torch.ones(1, 2, 4, 6, 8))
    >>> torch.nn.MaxUnpool3d(2)(y, indices).shape
    torch.Size([1, 2, 4, 6, 8])
    """

    _function = staticmethod(F.max_unpool3d)
    _n_axes = 3

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__(kernel_size, stride, padding)
