"""Images made larger or smaller, and blocks of them moved between pixels and channels."""

from __future__ import annotations

from typing import Any

from tapegrad.nn import functional as F
from tapegrad.nn.module import Module
from tapegrad.tensors.tensor import Tensor


class Upsample(Module):
    """The input with another number of elements along its last axes, interpolated.

    Args:
        size: the new sizes, or one for all axes
        scale_factor: instead of them, by how much the sizes grow
        mode: "nearest", "linear", "bilinear", "bicubic" or "trilinear"
        align_corners: whether the first and last elements stay where they are
        recompute_scale_factor: whether positions follow from the sizes, not from `scale_factor`

    Shape: `(N, C, ...)` with one to three further axes.

    >>> torch.nn.Upsample(scale_factor=2)(torch.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    __constants__ = (
        "size",
        "scale_factor",
        "mode",
        "align_corners",
        "name",
        "recompute_scale_factor",
    )

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        if self.scale_factor is None:
            return f"size={self.size!r}, mode={self.mode!r}"
        return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images (N, C, H, W) of `size`, or `scale_factor` as large: the nearest pixel each.

    >>> torch.nn.UpsamplingNearest2d(scale_factor=2)(torch.ones(1, 1, 2, 3)).shape
    torch.Size([1, 1, 4, 6])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images (N, C, H, W) of `size`, or `scale_factor` as large: linear between their corners.

    >>> torch.nn.UpsamplingBilinear2d(size=3)(torch.tensor([[[[0.0, 2.0], [4.0, 6.0]]]]))
    tensor([[[[0., 1., 2.],
              [2., 3., 4.],
              [4., 5., 6.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


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


class ChannelShuffle(Module):
    """Channels dealt out: the first of each of `groups` groups, then the second of each.

    Source: Zhang et al., ShuffleNet, 2018.

    >>> torch.nn.ChannelShuffle(2)(torch.arange(4.0).reshape(1, 4, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    __constants__ = ("groups",)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
