"""Normalisation of each element by those of neighbouring channels."""

from __future__ import annotations

from tapegrad.nn import functional as F
from tapegrad.nn.module import Module
from tapegrad.tensors.tensor import Tensor


class LocalResponseNorm(Module):
    """`y = x / (k + alpha * mean(x^2))^beta`, the mean over `size` neighbouring channels.

    Channels beyond the first and the last count as zero. The mean is over `size` channels, where
    the paper takes the sum.

    Shape: `x` and `y: (N, C, ...)`.

    Source: Krizhevsky et al., ImageNet classification with deep networks, 2012, section 3.3.

    >>> torch.nn.LocalResponseNorm(2, alpha=2.0, beta=1.0)(torch.ones(1, 1, 2))
    tensor([[[0.5000, 0.5000]]])
    """

    __constants__ = ("size", "alpha", "beta", "k")

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
