"""Layers as functions: products with weights, dropout, normalisation, one-hot vectors."""

from __future__ import annotations

from tapegrad.errors import advised
from tapegrad.ops.affine import linear
from tapegrad.tensor import Tensor

__all__ = ["bilinear", "dropout", "linear", "normalize"]


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`y_k = x1 @ weight[k] @ x2 + bias_k` along the last axes.

    >>> bilinear = torch.nn.functional.bilinear
    >>> bilinear(torch.ones(5, 3), torch.ones(5, 4), torch.ones(2, 3, 4)).shape
    torch.Size([5, 2])
    """
    n_out, n1, n2 = weight.shape
    # (..., n1) @ (n1, n_out * n2) -> (..., n_out, n2)
    mixed = (input1 @ weight.transpose(0, 1).reshape(n1, n_out * n2)).unflatten(-1, (n_out, n2))
    result = (mixed @ input2.unsqueeze(-1)).squeeze(-1)
    return result if bias is None else result + bias


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
