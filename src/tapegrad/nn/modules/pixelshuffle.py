"""Blocks of pixels moved between space and channels."""

from tapegrad.nn import functional as F
from tapegrad.nn.modules.module import Module
from tapegrad.tensors.tensor import Tensor

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Channels spread over blocks of pixels: (..., C r r, H, W) to (..., C, H r, W r).

    Source: Shi et al., Real-time single image and video super-resolution, 2016.

    >>> torch.nn.PixelShuffle(2)(torch.arange(4.0).reshape(1, 4, 1, 1))
    tensor([[[[0., 1.],
              [2., 3.]]]])
    """

    __constants__ = ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """The inverse of `PixelShuffle`: (..., C, H r, W r) to (..., C r r, H, W).

    >>> torch.nn.PixelUnshuffle(2)(torch.ones(1, 1, 4, 6)).shape
    torch.Size([1, 4, 2, 3])
    """

    __constants__ = ("downscale_factor",)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
