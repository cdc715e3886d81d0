"""Sums and means."""

from collections.abc import Iterable

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Dim, DTypeLike, Namespace, Out, Tensor
from tapegrad.core.argument_check import ALL, MISSING, mended, mending, require_tensors
from tapegrad.core.dtype import as_dtype, float32, int64
from tapegrad.core.shape import axes_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import jvp, linear, primitive, vjp
from tapegrad.operators.dtype_check import no_kernel

__all__ = ["mean", "nanmean", "nansum", "sum"]

_F32 = float32.numpy  # the most common case, told apart first


def spread(
    xp: Namespace, g: Array, shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool
) -> Any:
    """The cotangent of a reduction over `axis`, repeated along it."""
    if not keepdims and axis:
        kept = tuple(1 if i in axis else n for i, n in enumerate(shape))
        g = xp.reshape(g, kept)
    return xp.broadcast_to(g, shape)


def count(shape: tuple[int, ...], axis: Iterable[int]) -> int:
    """How many elements a reduction over `axis` takes together."""
    n = 1
    for i in axis:
        n *= shape[i]
    return n


@vjp(x=lambda xp, g, x_like: xp.broadcast_to(g, x_like.shape))
@linear(node="SumBackward0")
def sum_all(xp, x):
    """The sum of all elements."""
    return xp.sum(x)


@vjp(x=lambda xp, g, x_like, axis, keepdims: spread(xp, g, x_like.shape, axis, keepdims))
@linear(node="SumBackward1")
def sum_axes(xp, x, *, axis, keepdims):
    """The sum over `axis`."""
    return xp.sum(x, axis=axis, keepdims=keepdims)


@vjp(x=lambda xp, g, x_like: xp.broadcast_to(g / (x_like.size or 1), x_like.shape))
@linear(node="MeanBackward0")
def mean_all(xp, x):
    """The mean of all elements."""
    return xp.mean(x)


@vjp(
    x=lambda xp, g, x_like, axis, keepdims: spread(
        xp, g / (count(x_like.shape, axis) or 1), x_like.shape, axis, keepdims
    )
)
@linear(node="MeanBackward1")
def mean_axes(xp, x, *, axis, keepdims):
    """The mean over `axis`."""
    return xp.mean(x, axis=axis, keepdims=keepdims)


def spread_one_by_one(
    xp: Namespace, g: Array, shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool
) -> Any:
    """The same as a double backward records it: axis for axis."""
    if not keepdims:
        for i in sorted(axis):
            g = xp.expand_dims(g, axis=i)
    return xp.broadcast_to(g, shape)


sum_axes.recorded(
    x=lambda xp, g, x_like, axis, keepdims: spread_one_by_one(xp, g, x_like.shape, axis, keepdims)
)
# where it is differentiated again, the cotangent is spread first: float16 cannot add it up
mean_all.recorded(x=lambda xp, g, x_like: xp.broadcast_to(g, x_like.shape) / (x_like.size or 1))
mean_axes.recorded(
    x=lambda xp, g, x_like, axis, keepdims: (
        spread_one_by_one(xp, g, x_like.shape, axis, keepdims) / (count(x_like.shape, axis) or 1)
    )
)


@jvp(
    x=lambda xp, t, x, axis, keepdims: xp.sum(
        xp.where(xp.isnan(x), 0.0, t), axis=axis, keepdims=keepdims
    )
)
@vjp(
    x=lambda xp, g, x, axis, keepdims: xp.where(
        xp.isnan(x), 0.0, spread(xp, g, x.shape, axis, keepdims)
    )
)
@primitive(node="NansumBackward0")
def sum_numbers(xp, x, *, axis, keepdims):
    """The sum over `axis` of the elements that are not nan."""
    return xp.sum(xp.where(xp.isnan(x), 0.0, x), axis=axis, keepdims=keepdims)


def reduction_axes(dim: Dim, ndim: int) -> tuple[int, ...]:
    """The axes of a reduction: no dimension given, and an empty list of them, mean all."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    return axes_of(dim, ndim)


def summable(input: Tensor, dtype: DTypeLike, out: Out) -> tuple[Any, Any]:
    """What a sum or product adds up, and the dtype its result must be brought to, if any.

    `dtype` is asked for, or that of `out`; without it integers are summed as int64. NumPy sums
    narrow integers in int64, too: the result of those asked for is cut down afterwards.
    """
    wanted = as_dtype(dtype) if dtype is not None else getattr(out, "dtype", None)
    if wanted is None:
        if input._array.dtype is not _F32 and input.dtype.category < 2:
            input = input if input.dtype is int64 else input.to(int64)
        return input, None
    if out is not None and out.dtype is not wanted:
        given = errors.c_name(out.dtype)
        text = f"Expected out tensor to have dtype {errors.c_name(wanted)}, but got {given} instead"
        raise errors.runtime_error(text, "Leave dtype away.")
    if dtype is not None and wanted.category < 2 and input.requires_grad and is_grad_enabled():
        raise errors.runtime_error(
            f"Autograd not support dtype: {wanted.scalar_name}",
            "Integers have no gradients: detach() the input first.",
        )
    if input.dtype is not wanted:
        input = input.to(wanted)
    return input, wanted if wanted.category < 2 and wanted is not int64 else None


@mending
def sum(
    input: Tensor = MISSING,
    dim: Dim = ALL,
    keepdim: bool = False,
    *extra: Any,
    dtype: DTypeLike = None,
    out: Out = None,
    **names: Any,
) -> Any:
    """The sum of all elements, or over `dim`; integers are summed as int64.

    With `dtype` the elements are converted first, as with the dtype of an `out` tensor.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.

    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0)
    tensor([4., 6.])
    """
    x, narrow = input, None
    try:
        if extra or names:
            raise TypeError("sum() was given other arguments")
        plain = x._array.dtype is _F32
        if dtype is not None or out is not None or not plain:
            x, narrow = summable(x, dtype, out)
        if dim is ALL and not keepdim:
            result = sum_all(x)
        else:
            axis = reduction_axes(dim, x._array.ndim)
            result = sum_axes(x, axis=axis, keepdims=bool(keepdim))
        if narrow is not None:
            result = result.to(narrow)
        return result if out is None else finish("sum", result, out)
    except Exception as error:
        given = input, MISSING if dim is ALL else dim, keepdim, *extra
        return mended(sum, error, given, names | {"dtype": dtype, "out": out})


@mending
def mean(
    input: Tensor = MISSING,
    dim: Dim = ALL,
    keepdim: bool = False,
    *extra: Any,
    dtype: DTypeLike = None,
    out: Out = None,
    **names: Any,
) -> Any:
    """The mean of all elements, or over `dim`; of floating or complex tensors.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: RuntimeError for integers and truth values.

    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).mean(0)
    tensor([2., 3.])
    """
    x = input
    try:
        if extra or names:
            raise TypeError("mean() was given other arguments")
        if dtype is not None:
            x = x.to(as_dtype(dtype))
        plain = x._array.dtype is _F32
        if not plain and x.dtype.category < 2:
            which = "Input dtype" if dtype is None else "Optional dtype"
            raise errors.runtime_error(
                f"mean(): could not infer output dtype. {which} must be either a floating point "
                f"or complex dtype. Got: {x.dtype.scalar_name}",
                "Convert the tensor first: x.float().mean().",
            )
        if dtype is not None and out is not None and out.dtype is not x.dtype:
            want, have = errors.c_name(x.dtype), errors.c_name(out.dtype)
            text = f"Expected out tensor to have dtype {want}, but got {have} instead"
            raise errors.runtime_error(text, "Leave dtype away.")
        if dim is ALL and not keepdim:
            return finish("mean", mean_all(x), out)
        axis = reduction_axes(dim, x._array.ndim)
        return finish("mean", mean_axes(x, axis=axis, keepdims=bool(keepdim)), out)
    except Exception as error:
        given = input, MISSING if dim is ALL else dim, keepdim, *extra
        return mended(mean, error, given, names | {"dtype": dtype, "out": out})


def _require_same(dtype: Any, out: Any) -> None:
    """Raise where a result that is given has another dtype than the one that is asked for."""
    if dtype is not None and out is not None and out.dtype is not dtype:
        text = "nansum: provided dtype must match dtype of result. "
        text += f"Got {out.dtype.scalar_name} and {dtype.scalar_name}."
        raise errors.runtime_error(text, "Leave dtype away.")


@require_tensors
def nansum(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Any:
    """The sum of the elements that are not nan.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: RuntimeError for complex numbers.

    >>> torch.nansum(torch.tensor([1.0, float("nan"), 2.0]))
    tensor(3.)
    """
    wanted = as_dtype(dtype) if dtype is not None else getattr(out, "dtype", None)
    if input.dtype.category < 2 or (wanted is not None and wanted.category < 2):
        if dtype is None and input.dtype.category > 1:
            raise no_kernel("nansum_cpu", wanted)
        if input.dtype.category > 1:  # a nan would become some integer
            input = input.nan_to_num(0.0, float("inf"), -float("inf"))
        return sum(input, dim, keepdim, dtype=dtype, out=out)
    _require_same(wanted, out)
    axis = reduction_axes(dim, input._array.ndim)
    if input.dtype.is_complex:
        text = "nansum on CPU does not support complex inputs"
        raise errors.runtime_error(text, "Sum real and imaginary part one by one.")
    if wanted is not None:
        input = input.to(wanted)
    return finish("nansum", sum_numbers(input, axis=axis, keepdims=bool(keepdim)), out)


@require_tensors
def nanmean(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Any:
    """The mean of the elements that are not nan.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: RuntimeError for integers and truth values.

    >>> torch.nanmean(torch.tensor([1.0, float("nan"), 3.0]))
    tensor(2.)
    """
    if dtype is not None and as_dtype(dtype).category < 2 <= input.dtype.category:
        raise errors.runtime_error(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
            f"point or complex dtype. Got: {as_dtype(dtype).scalar_name}",
            "Leave dtype= away, or give torch.float64.",
        )
    if input.dtype.category < 2:
        raise errors.runtime_error(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{input.dtype.scalar_name}"
            if out is None
            else "nanmean(): integral types and 'Bool' are not supported for nanmean, even for "
            "empty tensors.",
            "Convert the tensor first: x.float().nanmean().",
        )
    _require_same(None if dtype is None else as_dtype(dtype), out)
    total = nansum(input, dim, keepdim, dtype=dtype)
    number = sum(~input.isnan(), dim, keepdim)
    return finish("nanmean", total / number, out)
