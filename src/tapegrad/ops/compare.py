"""Comparisons, element by element and of whole tensors."""

from __future__ import annotations

from tapegrad.autograd.inplace import in_place
from tapegrad.op import constant_elementwise

__all__ = [
    "eq",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "less",
    "less_equal",
    "lt",
    "ne",
    "not_equal",
]


@constant_elementwise(ufunc="equal")
def eq(xp, input, other):
    """Where two tensors are equal.

    >>> torch.eq(torch.tensor([1.0, 2.0]), 2)
    tensor([False,  True])
    """
    return input == other


@constant_elementwise(ufunc="not_equal")
def ne(xp, input, other):
    """Where two tensors differ.

    >>> torch.ne(torch.tensor([1.0, 2.0]), 2)
    tensor([ True, False])
    """
    return input != other


@constant_elementwise(ufunc="less")
def lt(xp, input, other):
    """Where `input` is less than `other`.

    >>> torch.lt(torch.tensor([1.0, 2.0]), 2)
    tensor([ True, False])
    """
    return input < other


@constant_elementwise(ufunc="less_equal")
def le(xp, input, other):
    """Where `input` is at most `other`.

    >>> torch.le(torch.tensor([2.0, 3.0]), 2)
    tensor([ True, False])
    """
    return input <= other


@constant_elementwise(ufunc="greater")
def gt(xp, input, other):
    """Where `input` is greater than `other`.

    >>> torch.gt(torch.tensor([2.0, 3.0]), 2)
    tensor([False,  True])
    """
    return input > other


@constant_elementwise(ufunc="greater_equal")
def ge(xp, input, other):
    """Where `input` is at least `other`.

    >>> torch.ge(torch.tensor([1.0, 2.0]), 2)
    tensor([False,  True])
    """
    return input >= other


eq_, ne_, lt_, le_, gt_, ge_ = map(in_place, (eq, ne, lt, le, gt, ge))
not_equal, not_equal_ = ne, ne_
less, less_ = lt, lt_
less_equal, less_equal_ = le, le_
greater, greater_ = gt, gt_
greater_equal, greater_equal_ = ge, ge_


# --- of one tensor ---------------------------------------------------------------------------


@constant_elementwise(ufunc="isnan")
def isnan(xp, x):
    """Where the elements are nan.

    >>> torch.isnan(torch.tensor([1.0, float("nan")]))
    tensor([False,  True])
    """
    return x != x


@constant_elementwise(ufunc="isinf")
def isinf(xp, x):
    """Where the elements are infinite.

    >>> torch.isinf(torch.tensor([1.0, float("-inf")]))
    tensor([False,  True])
    """
    return xp.isinf(x)


@constant_elementwise(ufunc="isfinite")
def isfinite(xp, x):
    """Where the elements are neither infinite nor nan.

    >>> torch.isfinite(torch.tensor([1.0, float("inf")]))
    tensor([ True, False])
    """
    return xp.isfinite(x)
