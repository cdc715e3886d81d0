"""Tensors cut off from their history, as functions."""

from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending
from tapegrad.core.torch_function import overridden
from tapegrad.operators.conversion.metadata import require

__torch__ = "detach detach_"


@mending
def detach(input: Tensor = MISSING, *extra: Any, **names: Any) -> Any:
    """The same memory as a tensor without history.

    Shape: any, and that of the result.

    >>> torch.detach(torch.ones(2, requires_grad=True)).requires_grad
    False
    """
    if names or extra or input is MISSING:
        return mended(detach, None, (input, *extra), names)
    try:
        return require("detach", input).detach()
    except Exception:
        again = overridden(detach, (input,))
        if again is None:
            raise
    return again()


@mending
def detach_(input: Tensor = MISSING, *extra: Any, **names: Any) -> Any:
    """The tensor itself, its history forgotten.

    Shape: any; it stays.

    >>> x = torch.ones(2, requires_grad=True) * 2
    >>> torch.detach_(x).is_leaf
    True
    """
    if names or extra or input is MISSING:
        return mended(detach_, None, (input, *extra), names)
    try:
        return require("detach_", input).detach_()
    except Exception:
        again = overridden(detach_, (input,))
        if again is None:
            raise
    return again()
