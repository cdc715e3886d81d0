"""Norms, variances, softmax and its kin of the elements where a mask is true."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import Dim, DTypeLike, Tensor
from tapegrad.core.argument_check import takes_tensors
from tapegrad.core.dtype import as_dtype, default
from tapegrad.masked.fill import cast, dims_of, filled_where, least
from tapegrad.masked.reduction import count, mean


def norm(
    input: Tensor,
    ord: Any = 2.0,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The norm of order `ord` of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.norm(torch.tensor([3.0, 5.0, 4.0]), mask=mask)
    tensor(5.)
    """
    from tapegrad.linalg import vector_norm

    filled = filled_where(input, mask, float("inf") if ord < 0 else 0)
    dims = dims_of(dim, input.ndim)
    return vector_norm(filled, ord, dims, keepdim, dtype=dtype and as_dtype(dtype))


def var(
    input: Any,
    dim: Dim = None,
    unbiased: Any = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Any = None,
) -> Any:
    """The variance of the elements where the mask is true: squares over their number less 1.

    `correction` is what their number is made smaller by; `unbiased=False` means 0.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.var(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(2.)
    """
    if unbiased is not None and correction is not None:
        raise errors.value_error(
            "Only one of unbiased and correction may be given", "Leave one away."
        )
    less = correction if correction is not None else (0 if unbiased is False else 1)
    x = input.to(as_dtype(dtype)) if dtype is not None else input
    x = x.to(default()) if x.dtype.category < 2 else x
    dims = dims_of(dim, input.ndim)
    centre = mean(x, dims, keepdim=True, mask=mask)
    away = filled_where(x - centre, mask, 0)
    squares = (away * away.conj()).real if x.dtype.is_complex else away * away
    n = count(input, dims, keepdim, mask) - less
    n = max(n, 0) if not hasattr(n, "_array") else n.clamp(min=0)
    return squares.sum(dims, keepdim=keepdim) / n


def std(
    input: Tensor,
    dim: Dim = None,
    unbiased: Any = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The standard deviation of the elements where the mask is true: the root of `var`.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.std(torch.tensor([1.0, 5.0, 9.0]), mask=mask, unbiased=False)
    tensor(4.)
    """
    options = {"correction": correction, "keepdim": keepdim, "dtype": dtype, "mask": mask}
    return var(input, dim, unbiased, **options).sqrt()


def softmax(input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None) -> Any:
    """The softmax along `dim` of the elements where the mask is true; 0 elsewhere.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.softmax(torch.tensor([1.0, 5.0, 1.0]), 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    return filled_where(cast(input, dtype), mask, -float("inf")).softmax(dim)


def log_softmax(
    input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None
) -> Any:
    """The logarithm of `softmax`; -inf where the mask is false.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.log_softmax(torch.tensor([1.0, 5.0, 1.0]), 0, mask=mask)
    tensor([-0.6931,    -inf, -0.6931])
    """
    return filled_where(cast(input, dtype), mask, -float("inf")).log_softmax(dim)


@takes_tensors
def softmin(input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None) -> Any:
    """The softmax of the negated elements where the mask is true; 0 elsewhere.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.softmin(torch.tensor([1.0, 5.0, 1.0]), 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    return (-filled_where(cast(input, dtype), mask, float("inf"))).softmax(dim)


def normalize(
    input: Tensor,
    ord: Any,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The elements where the mask is true divided by their norm along `dim`; 0 elsewhere.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.normalize(torch.tensor([3.0, 5.0, 4.0]), 2.0, 0, mask=mask)
    tensor([0.6000, 0.0000, 0.8000])
    """
    x = cast(input, dtype)
    length = norm(x, ord, dim, keepdim=True, mask=mask)
    return filled_where(x, mask, 0) / length.clamp(min=eps)


def logsumexp(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
) -> Any:
    """The logarithm of the sum of exponentials of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.logsumexp(torch.tensor([0.0, 5.0, 0.0]), mask=mask)
    tensor(0.6931)
    """
    x = cast(input, dtype)
    filled = filled_where(x, mask, least(x.dtype, False))
    return filled.logsumexp(dims_of(dim, input.ndim), keepdim=keepdim).to(x.dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: DTypeLike = None,
    input_mask: Any = None,
    other_mask: Any = None,
) -> Any:
    """`log(exp(input) + exp(other))`, where a masked out element adds nothing.

    >>> mask = torch.tensor([True, False])
    >>> torch.masked.logaddexp(torch.zeros(2), torch.zeros(2), other_mask=mask)
    tensor([0.6931, 0.0000])
    """
    low = -float("inf")
    a = filled_where(cast(input, dtype), input_mask, low)
    return a.logaddexp(filled_where(cast(other, dtype), other_mask, low))
