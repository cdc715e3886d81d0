"""Reductions and normalisations of the elements where a mask is true."""

from functools import wraps

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Dim, DTypeLike, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import as_dtype, default, int64
from tapegrad.core.dtype import bool_ as boolean
from tapegrad.core.limits import iinfo
from tapegrad.core.missing import public_names
from tapegrad.core.shape import axis_of


def _filled_where(input: Tensor, mask: Tensor | None, value: Scalar) -> Any:
    """The input with `value` where the mask is false."""
    if mask is None:
        return input
    if mask.ndim > input.ndim:
        raise errors.index_error(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of "
            "the input)",
            "A mask has the dimensions of the input, or fewer, or size 1.",
        )
    return input.masked_fill(~mask.to(boolean).expand(input.shape), value)


def _dims_of(dim: Dim, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce; none given, and an empty list of them, mean all."""
    given = dim if isinstance(dim, (tuple, list)) else (() if dim is None else (dim,))
    axes = [axis_of(d, ndim) for d in given]
    for axis in axes:
        if axes.count(axis) > 1:
            raise errors.runtime_error(
                f"dim={axis} appears multiple times in the list of dims",
                "Name each dimension once.",
            )
    return tuple(sorted(axes)) or tuple(range(ndim))


def _least(dtype: Any, largest: bool) -> Any:
    """The largest or smallest number of a dtype."""
    if dtype.is_floating_point:
        return float("inf") if largest else -float("inf")
    if dtype is boolean:
        return largest
    limits = iinfo(dtype)
    return limits.max if largest else limits.min


def _cast(input: Tensor, dtype: DTypeLike) -> Any:
    return input if dtype is None else input.to(as_dtype(dtype))


def _whole(input: Tensor, dtype: DTypeLike) -> Any:
    """The dtype of a sum or product: integers become int64."""
    if dtype is not None:
        return as_dtype(dtype)
    return int64 if input.dtype.category < 2 else input.dtype


def _reduction(function: Callable) -> Any:
    """A reduction with PyTorch's arguments, from one that takes them by position."""

    @wraps(function)
    def reduction(
        input: Tensor,
        dim: Dim = None,
        *,
        keepdim: bool = False,
        dtype: DTypeLike = None,
        mask: Tensor | None = None,
    ) -> Any:
        return function(input, dim, keepdim, dtype, mask)

    del reduction.__wrapped__
    return reduction


@_reduction
def sum(input: Any, dim: Dim, keepdim: bool, dtype: Any, mask: Any) -> Any:
    """The sum of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.sum(torch.tensor([1.0, 2.0, 3.0]), mask=mask)
    tensor(4.)
    """
    dims = _dims_of(dim, input.ndim)
    return _filled_where(input, mask, 0).to(_whole(input, dtype)).sum(dims, keepdim=keepdim)


@_reduction
def prod(input: Any, dim: Dim, keepdim: bool, dtype: Any, mask: Any) -> Any:
    """The product of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.prod(torch.tensor([2.0, 0.0, 3.0]), mask=mask)
    tensor(6.)
    """
    result = _filled_where(input, mask, 1).to(_whole(input, dtype))
    for axis in reversed(_dims_of(dim, input.ndim)):
        result = result.prod(axis, keepdim=keepdim)
    return result


def cumsum(input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None) -> Any:
    """The running sum along `dim` of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.cumsum(torch.tensor([1.0, 2.0, 3.0]), 0, mask=mask)
    tensor([1., 1., 4.])
    """
    return _filled_where(input, mask, 0).to(_whole(input, dtype)).cumsum(dim)


def cumprod(input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None) -> Any:
    """The running product along `dim` of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.cumprod(torch.tensor([2.0, 0.0, 3.0]), 0, mask=mask)
    tensor([2., 2., 6.])
    """
    return _filled_where(input, mask, 1).to(_whole(input, dtype)).cumprod(dim)


@_reduction
def amax(input: Tensor, dim: Dim, keepdim: bool, dtype: DTypeLike, mask: Tensor) -> Any:
    """The largest of the elements where the mask is true; -inf of none.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.amax(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(3.)
    """
    filled = _filled_where(input, mask, _least(input.dtype, False))
    found = filled.amax(_dims_of(dim, input.ndim), keepdim=keepdim)
    return found if dtype is None else found.to(as_dtype(dtype))


@_reduction
def amin(input: Tensor, dim: Dim, keepdim: bool, dtype: DTypeLike, mask: Tensor) -> Any:
    """The smallest of the elements where the mask is true; inf of none.

    >>> mask = torch.tensor([False, True, True])
    >>> torch.masked.amin(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(3.)
    """
    filled = _filled_where(input, mask, _least(input.dtype, True))
    found = filled.amin(_dims_of(dim, input.ndim), keepdim=keepdim)
    return found if dtype is None else found.to(as_dtype(dtype))


@_reduction
def argmax(input: Tensor, dim: Dim, keepdim: bool, dtype: DTypeLike, mask: Tensor) -> Any:
    """The index of the largest of the elements where the mask is true, in the input's dtype.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.argmax(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(2.)
    """
    found = _filled_where(input, mask, _least(input.dtype, False)).argmax(dim, keepdim)
    return found.to(input.dtype if dtype is None else as_dtype(dtype))


@_reduction
def argmin(input: Tensor, dim: Dim, keepdim: bool, dtype: DTypeLike, mask: Tensor) -> Any:
    """The index of the smallest of the elements where the mask is true, in the input's dtype.

    >>> mask = torch.tensor([False, True, True])
    >>> torch.masked.argmin(torch.tensor([1.0, 5.0, 3.0]), mask=mask)
    tensor(2.)
    """
    found = _filled_where(input, mask, _least(input.dtype, True)).argmin(dim, keepdim)
    return found.to(input.dtype if dtype is None else as_dtype(dtype))


def _count(input: Tensor, dims: tuple, keepdim: bool, mask: Tensor | None) -> Any:
    """How many elements count."""
    if mask is None:
        n = 1
        for axis in dims:
            n *= input.shape[axis]
        return n
    return mask.to(boolean).expand(input.shape).sum(dims, keepdim=keepdim)


@_reduction
def mean(input: Tensor, dim: Dim, keepdim: bool, dtype: DTypeLike, mask: Tensor) -> Any:
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
    dims = _dims_of(dim, input.ndim)
    total = sum(input, dims, keepdim=keepdim, dtype=dtype or input.dtype, mask=mask)
    return total / _count(input, dims, keepdim, mask)


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
    found = _filled_where(wide, mask, float("nan")).nanmedian(dim, keepdim).values
    return found.to(x.dtype)


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

    filled = _filled_where(input, mask, float("inf") if ord < 0 else 0)
    dims = _dims_of(dim, input.ndim)
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
    dims = _dims_of(dim, input.ndim)
    centre = mean(x, dims, keepdim=True, mask=mask)
    away = _filled_where(x - centre, mask, 0)
    squares = (away * away.conj()).real if x.dtype.is_complex else away * away
    n = _count(input, dims, keepdim, mask) - less
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
    return _filled_where(_cast(input, dtype), mask, -float("inf")).softmax(dim)


def log_softmax(
    input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None
) -> Any:
    """The logarithm of `softmax`; -inf where the mask is false.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.log_softmax(torch.tensor([1.0, 5.0, 1.0]), 0, mask=mask)
    tensor([-0.6931,    -inf, -0.6931])
    """
    return _filled_where(_cast(input, dtype), mask, -float("inf")).log_softmax(dim)


@require_tensors
def softmin(input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None) -> Any:
    """The softmax of the negated elements where the mask is true; 0 elsewhere.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.softmin(torch.tensor([1.0, 5.0, 1.0]), 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    return (-_filled_where(_cast(input, dtype), mask, float("inf"))).softmax(dim)


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
    x = _cast(input, dtype)
    length = norm(x, ord, dim, keepdim=True, mask=mask)
    return _filled_where(x, mask, 0) / length.clamp(min=eps)


@_reduction
def logsumexp(input: Tensor, dim: Dim, keepdim: bool, dtype: DTypeLike, mask: Tensor) -> Any:
    """The logarithm of the sum of exponentials of the elements where the mask is true.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.logsumexp(torch.tensor([0.0, 5.0, 0.0]), mask=mask)
    tensor(0.6931)
    """
    x = _cast(input, dtype)
    filled = _filled_where(x, mask, _least(x.dtype, False))
    return filled.logsumexp(_dims_of(dim, input.ndim), keepdim=keepdim).to(x.dtype)


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
    a = _filled_where(_cast(input, dtype), input_mask, low)
    return a.logaddexp(_filled_where(_cast(other, dtype), other_mask, low))


__all__ = public_names(globals())
