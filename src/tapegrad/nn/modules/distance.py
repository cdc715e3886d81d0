"""Distances and angles between vectors, as modules."""

from tapegrad.nn import functional as F
from tapegrad.nn.modules.module import Module
from tapegrad.tensors.tensor import Tensor

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Module):
    """The cosine of the angle between vectors that lie along `dim`.

    `x1 . x2 / (max(|x1|, eps) * max(|x2|, eps))`; the other dimensions broadcast.

    >>> x = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> torch.nn.CosineSimilarity()(x, torch.tensor([[2.0, 0.0], [1.0, -1.0]]))
    tensor([1., 0.])
    """

    __constants__ = ("dim", "eps")

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The norm of order p of `x1 - x2 + eps` along the last dimension.

    Shapes: (..., D) and (..., D) to (...), or to (..., 1) with keepdim.

    >>> x = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    >>> torch.nn.PairwiseDistance()(x, torch.tensor([3.0, 4.0]))
    tensor([5.0000, 3.6056])
    """

    __constants__ = ("norm", "eps", "keepdim")

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps, self.keepdim = eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
