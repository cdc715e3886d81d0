"""Images made larger or smaller by interpolation."""

from typing import Any

from tapegrad.nn import functional as F
from tapegrad.nn.modules.module import Module
from tapegrad.tensors.tensor import Tensor

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


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

    __constants__ = "size scale_factor mode align_corners name recompute_scale_factor".split()

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
        self.mode, self.align_corners = mode, align_corners
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
