"""Sums, products, extrema, means and medians of the elements where a mask is true."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import Dim, DTypeLike, Tensor
from tapegrad.core.dtype import as_dtype, default, int64
from tapegrad.core.dtype import bool_ as boolean
from tapegrad.masked.fill import dims_of, filled_where, least


def whole(input: Tensor, dtype: DTypeLike) -> Any:
    """The dtype of a sum or product: integers become int64."""
    if dtype is not None:
        return as_dtype(dtype)
    return int64 if input.dtype.category < 2 else input.dtype


def sum(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The sum of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.sum(torch.tensor([1.0, 2.0, 3.0]), mask=mask)
    tensor(4.)
    """
    dims = dims_of(dim, input.ndim)
    return filled_where(input, mask, 0).to(whole(input, dtype)).sum(dims, keepdim=keepdim)


def prod(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The product of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.prod(torch.tensor([2.0, 0.0, 3.0]), mask=mask)
    tensor(6.)
    """
    result = filled_where(input, mask, 1).to(whole(input, dtype))
    for axis in reversed(dims_of(dim, input.ndim)):
        result = result.prod(axis, keepdim=keepdim)
    return result


def cumsum(input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None) -> Any:
    """The running sum along `dim` of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.cumsum(torch.tensor([1.0, 2.0, 3.0]), 0, mask=mask)
    tensor([1., 1., 4.])
    """
    return filled_where(input, mask, 0).to(whole(input, dtype)).cumsum(dim)


def cumprod(input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None) -> Any:
    """The running product along `dim` of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.cumprod(torch.tensor([2.0, 0.0, 3.0]), 0, mask=mask)
    tensor([2., 2., 6.])
    """
    return filled_where(input, mask, 1).to(whole(input, dtype)).cumprod(dim)


def amax(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The largest of the elements where the mask is true; -inf of none.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.amax(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(3.)
    """
    filled = filled_where(input, mask, least(input.dtype, False))
    found = filled.amax(dims_of(dim, input.ndim), keepdim=keepdim)
    return found if dtype is None else found.to(as_dtype(dtype))


def amin(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The smallest of the elements where the mask is true; inf of none.

    >>> mask = torch.tensor([False, True, True])
    >>> torch.masked.amin(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(3.)
    """
    filled = filled_where(input, mask, least(input.dtype, True))
    found = filled.amin(dims_of(dim, input.ndim), keepdim=keepdim)
    return found if dtype is None else found.to(as_dtype(dtype))


def argmax(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The index of the largest of the elements where the mask is true, in the input's dtype.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.argmax(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(2.)
    """
    found = filled_where(input, mask, least(input.dtype, False)).argmax(dim, keepdim)
    return found.to(input.dtype if dtype is None else as_dtype(dtype))


def argmin(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The index of the smallest of the elements where the mask is true, in the input's dtype.

    >>> mask = torch.tensor([False, True, True])
    >>> torch.masked.argmin(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(2.)
    """
    found = filled_where(input, mask, least(input.dtype, True)).argmin(dim, keepdim)
    return found.to(input.dtype if dtype is None else as_dtype(dtype))


def count(input: Tensor, dims: tuple, keepdim: bool, mask: Tensor | None) -> Any:
    """How many elements count."""
    if mask is None:
        n = 1
        for axis in dims:
            n *= input.shape[axis]
        return n
    return mask.to(boolean).expand(input.shape).sum(dims, keepdim=keepdim)


def mean(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The mean of the elements where the mask is true; nan of none.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.mean(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(2.)
    """
    if dtype is None and input.dtype.category < 2:
        raise errors.value_error(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {input.dtype}",
            "Pass dtype=torch.float32.",
        )
    dims = dims_of(dim, input.ndim)
    total = sum(input, dims, keepdim=keepdim, dtype=dtype or input.dtype, mask=mask)
    return total / count(input, dims, keepdim, mask)


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The lower median along `dim` of the elements where the mask is true; nan of none.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.median(torch.tensor([1.0, 5.0, 3.0]), 0, mask=mask)
    tensor(1.)
    """
    x = input if dtype is None else input.to(as_dtype(dtype))
    if mask is None:
        return x.median(dim, keepdim).values
    wide = x if x.dtype.is_floating_point else x.to(default())
    found = filled_where(wide, mask, float("nan")).nanmedian(dim, keepdim).values
    return found.to(x.dtype)
