"""Masks: elements chosen by a tensor of truth values."""

from __future__ import annotations

from typing import Any

from tapegrad.call import finish
from tapegrad.op import linear
from tapegrad.ops.expand import broadcast_tensors


@linear(node="MaskedSelectBackward0", kernels=("spread_mask",))
def masked_elements(xp, x, mask):
    """The elements of `x` where `mask` is true, in one dimension."""
    return x[mask]


masked_elements.vjp(x=lambda xp, g, x_like, mask: xp.spread_mask(g, x_like.shape, mask))


def masked_select(input: Any, mask: Any, *, out: Any = None) -> Any:
    """The elements where `mask` is true, in one dimension.

    >>> torch.tensor([1, 2, 3]).masked_select(torch.tensor([True, False, True]))
    tensor([1, 3])
    """
    input, mask = broadcast_tensors(input, mask)
    return finish("masked_select", masked_elements(input, mask), out)


__all__ = ["masked_select"]
