"""The blocks that a window covers of an image, as columns, and back."""

from tapegrad.core.annotations import Shape
from tapegrad.nn import functional as F
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import shown
from tapegrad.tensors.tensor import Tensor

__all__ = ["Fold", "Unfold"]


class Unfold(Module):
    """The blocks under a window of images (N, C, H, W), as columns (N, C * KH * KW, places).

    Column i holds, channel by channel, the pixels under the window at its place i, row by row.

    >>> torch.nn.Unfold(2)(torch.arange(9.0).reshape(1, 1, 3, 3))
    tensor([[[0., 1., 3., 4.],
             [1., 2., 4., 5.],
             [3., 4., 6., 7.],
             [4., 5., 7., 8.]]])
    """

    __constants__ = ("kernel_size", "dilation", "padding", "stride")

    def __init__(
        self, kernel_size: Shape, dilation: Shape = 1, padding: Shape = 0, stride: Shape = 1
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return shown(self, "kernel_size dilation padding stride")


class Fold(Module):
    """Blocks (N, C * KH * KW, places) added up where `Unfold` reads them in images (N, C, H, W).

    `output_size` is (H, W). Pixels that several blocks have get the sum.

    >>> torch.nn.Fold(3, 2)(torch.ones(1, 4, 4))
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """

    __constants__ = ("output_size", "kernel_size", "dilation", "padding", "stride")

    def __init__(
        self,
        output_size: Shape,
        kernel_size: Shape,
        dilation: Shape = 1,
        padding: Shape = 0,
        stride: Shape = 1,
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return shown(self, "output_size kernel_size dilation padding stride")
