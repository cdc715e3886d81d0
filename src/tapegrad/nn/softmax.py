"""Softmax and its relatives: layers that normalise along an axis, or gate one half by the other."""

from __future__ import annotations

from tapegrad.core.errors import value_error
from tapegrad.nn import functional as F
from tapegrad.nn.module import Module
from tapegrad.tensors.tensor import Tensor


class _Along(Module):
    """A layer that works along the axis `dim`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_Along):
    """`exp(x) / sum(exp(x))` along `dim`: positive, and 1 in total.

    >>> torch.nn.Softmax(dim=0)(torch.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_Along):
    """`log(softmax(x))` along `dim`, without overflow.

    >>> torch.nn.LogSoftmax(dim=0)(torch.tensor([0.0, 0.0]))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmin(_Along):
    """`softmax(-x)` along `dim`.

    >>> torch.nn.Softmin(dim=0)(torch.tensor([0.0, 1.0]))
    tensor([0.7311, 0.2689])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels at each place of an image.

    Shape: `(N, C, H, W)` or `(C, H, W)`, to the same.

    >>> torch.nn.Softmax2d()(torch.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise value_error(
                f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead",
                "Pass (N, C, H, W) or (C, H, W).",
            )
        return F.softmax(input, -3, _stacklevel=5)


class GLU(Module):
    """Gated linear unit: the first half along `dim` times the sigmoid of the second.

    Source: Dauphin et al., Language modeling with gated convolutional networks, 2016.

    >>> torch.nn.GLU()(torch.tensor([3.0, 0.0]))
    tensor([1.5000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
