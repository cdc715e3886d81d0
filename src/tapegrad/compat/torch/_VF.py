"""`torch._VF`: the functions of `torch` as PyTorch's own Python calls them."""

from typing import Any

import tapegrad
from tapegrad.core.missing import missing as _missing


def _all_three(found: Any, return_inverse: bool, return_counts: bool) -> tuple:
    """Values, inverse and counts; an empty tensor for what is not asked for."""
    given = list(found) if isinstance(found, tuple) else [found]
    nothing = tapegrad.empty(0, dtype=tapegrad.int64)
    values = given.pop(0)
    inverse = given.pop(0) if return_inverse else nothing
    return values, inverse, given.pop(0) if return_counts else nothing


def _unique2(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple:
    """`torch.unique` of all elements: always values, inverse and counts.

    >>> torch._VF._unique2(torch.tensor([2, 2, 1]), return_counts=True)
    (tensor([1, 2]), tensor([], dtype=torch.int64), tensor([1, 2]))
    """
    return _all_three(
        tapegrad.unique(input, sorted, return_inverse, return_counts), return_inverse, return_counts
    )


def unique_dim(
    input: Any,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple:
    """`torch.unique` along a dimension: always values, inverse and counts."""
    return tapegrad.unique(input, sorted, True, True, dim)  # as PyTorch's, asked for or not


def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple:
    """`torch.unique_consecutive`: always values, inverse and counts."""
    found = tapegrad.unique_consecutive(
        input, return_inverse=return_inverse, return_counts=return_counts, dim=dim
    )
    return _all_three(found, return_inverse, return_counts)


def __getattr__(name: str) -> Any:
    """The function of `torch` of that name."""
    if name[:2] != "__":
        found = getattr(tapegrad, name, None)
        if callable(found):
            return found
    raise _missing(__name__, name)
