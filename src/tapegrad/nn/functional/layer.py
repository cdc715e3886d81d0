"""Layers as functions: products with weights, dropout, normalisation, one-hot vectors."""

from __future__ import annotations

from tapegrad.errors import advised
from tapegrad.ops.affine import linear
from tapegrad.ops.bilinear_form import bilinear
from tapegrad.tensor import Tensor

__all__ = ["bilinear", "dropout", "linear", "normalize"]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability `p` and scale the rest by `1/(1-p)`, if `training`.

    >>> torch.nn.functional.dropout(torch.ones(3), p=1.0)
    tensor([0., 0., 0.])
    """
    if p < 0.0 or p > 1.0:
        raise advised(
            ValueError(f"dropout probability has to be between 0 and 1, but got {p}"),
            "p is the probability that an element is zeroed.",
        )
    if not training or p == 0 or input.numel() == 0:
        return input
    mask = input.detach().new_empty(input.shape)
    if p == 1:
        mask.zero_()
    else:
        mask.bernoulli_(1 - p).div_(1 - p)
    return input.mul_(mask) if inplace else input * mask


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """`x / max(norm(x), eps)` along `dim`, the norm of order `p`.

    >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    result = input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return result if out is None else out.copy_(result)
