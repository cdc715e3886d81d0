"""Dropout: in training, elements or channels are zeroed at random and the rest scaled up."""

from __future__ import annotations

from tapegrad.errors import advised
from tapegrad.nn import functional as F
from tapegrad.nn.module import Module
from tapegrad.tensor import Tensor


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise advised(
                ValueError(f"dropout probability has to be between 0 and 1, but got {p}"),
                "p is the probability that an element is zeroed.",
            )
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Zero each element with probability `p` and scale the rest by `1/(1-p)`; in training only.

    Source: Hinton et al., Improving neural networks by preventing co-adaptation, 2012.

    >>> torch.nn.Dropout(p=1.0)(torch.ones(3))
    tensor([0., 0., 0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)
