"""Tensors cut off from their history, as functions."""

from tapegrad.core.annotations import Any, Tensor
from tapegrad.operators.conversion.metadata import require

__torch__ = "detach detach_"


def detach(input: Tensor) -> Any:
    """The same memory as a tensor without history.

    Shape: any, and that of the result.

    >>> torch.detach(torch.ones(2, requires_grad=True)).requires_grad
    False
    """
    return require("detach", input).detach()


def detach_(input: Tensor) -> Any:
    """The tensor itself, its history forgotten.

    Shape: any; it stays.

    >>> x = torch.ones(2, requires_grad=True) * 2
    >>> torch.detach_(x).is_leaf
    True
    """
    return require("detach_", input).detach_()
