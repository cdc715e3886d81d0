"""Scattering: values written, or reduced, at the places that `gather` reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad import tensor as _tensor
from tapegrad.autograd.inplace import check_apart, in_place
from tapegrad.call import finish
from tapegrad.op import linear, primitive
from tapegrad.ops.lookup import bounds_error, check_index_dtype, check_range
from tapegrad.scalar import fitted
from tapegrad.shape import axis_of

_KERNELS = ("gather_along", "scatter_along")


def _gathered(xp: Any, g: Any, shape: tuple, index: Any, axis: int) -> Any:
    """The cotangent of values that were scattered; those beyond the index get none."""
    g = xp.gather_along(g, index, axis)
    for i, n in enumerate(shape):
        if g.shape[i] != n:
            wide = (*g.shape[:i], n, *g.shape[i + 1 :])
            g = xp.pad_slice(g, wide, i, 0, g.shape[i], 1)
    return g


def _unwritten(xp: Any, g: Any, index: Any, axis: int) -> Any:
    return xp.scatter_along(g, index, xp.zeros((), dtype=g.dtype), axis, "write")


@linear(node="ScatterBackward0", hidden=("index",), kernels=_KERNELS)
def scatter_values(xp, x, values, index, *, axis):
    """`x` with `values` written."""
    return xp.scatter_along(x, index, values, axis, "write")


scatter_values.vjp(
    x=_unwritten,
    values=lambda xp, g, values_like, index, axis: _gathered(xp, g, values_like.shape, index, axis),
)


@primitive(node="ScatterBackward1", hidden=("index",), kernels=_KERNELS)
def scatter_number(xp, x, index, *, axis, value):
    """`x` with the number `value` written."""
    return xp.scatter_along(x, index, xp.asarray(value, dtype=x.dtype), axis, "write")


scatter_number.vjp(x=_unwritten)
scatter_number.jvp(x=lambda xp, t, index, axis: _unwritten(xp, t, index, axis))


@linear(node="ScatterAddBackward0", hidden=("index",), kernels=_KERNELS)
def scatter_sum(xp, x, values, index, *, axis):
    """`x` with `values` added."""
    return xp.scatter_along(x, index, values, axis, "add")


scatter_sum.vjp(
    x=lambda g: g,
    values=lambda xp, g, values_like, index, axis: _gathered(xp, g, values_like.shape, index, axis),
)


@primitive(node="ScatterReduceBackward0", hidden=("index",), kernels=_KERNELS)
def scatter_extremum(xp, x, values, index, *, axis, how, include):
    """The largest or smallest of `x`, if `include`, and the `values` that have one place."""
    if not include:
        worst = xp.asarray(-xp.inf if how == "amax" else xp.inf)
        if xp.isdtype(x.dtype, "bool"):
            worst = xp.asarray(how == "amin")
        elif not xp.isdtype(x.dtype, "real floating"):
            limits = xp.iinfo(x.dtype)
            worst = xp.asarray(limits.min if how == "amax" else limits.max)
        x = xp.scatter_along(x, index, xp.astype(worst, x.dtype), axis, "write")
    return xp.scatter_along(x, index, values, axis, how)


def _shares(xp: Any, x: Any, values: Any, index: Any, y: Any, axis: int, include: bool) -> tuple:
    """Where `x` and `values` are the extremum, and how many are in each place."""
    mine = xp.astype(x == y, y.dtype)
    if not include:
        mine = xp.scatter_along(mine, index, xp.zeros((), dtype=y.dtype), axis, "write")
    theirs = xp.astype(values == xp.gather_along(y, index, axis), y.dtype)
    return mine, theirs, xp.scatter_along(mine, index, theirs, axis, "add")


def _extremum_x(xp, g, x, values, index, y, axis, include):
    mine, _, count = _shares(xp, x, values, index, y, axis, include)
    return g * mine / count


def _extremum_values(xp, g, x, values, index, y, axis, include):
    _, theirs, count = _shares(xp, x, values, index, y, axis, include)
    return xp.gather_along(g / count, index, axis) * theirs


scatter_extremum.vjp(x=_extremum_x, values=_extremum_values)


def _extremum_jvp_x(xp, t, x, values, index, y, axis, include):
    mine, _, count = _shares(xp, x, values, index, y, axis, include)
    return t * mine / count


def _extremum_jvp_values(xp, t, x, values, index, y, axis, include):
    _, theirs, count = _shares(xp, x, values, index, y, axis, include)
    zeros = xp.zeros_like(count)
    return xp.scatter_along(zeros, index, t * theirs, axis, "add") / count


scatter_extremum.jvp(x=_extremum_jvp_x, values=_extremum_jvp_values)


@primitive(node="ScatterReduceBackward0", hidden=("index",), kernels=_KERNELS)
def scatter_product(xp, x, values, index, *, axis, include):
    """The product of `x`, if `include`, and the `values` that have one place."""
    if not include:
        x = xp.scatter_along(x, index, xp.ones((), dtype=x.dtype), axis, "write")
    return xp.scatter_along(x, index, values, axis, "multiply")


def _product_x(xp, g, x, values, index, axis, include):
    """The others' product: that of all, divided by `x`, or with 1 in the place of a 0."""
    x = xp.where(x == 0, 1.0, x)
    product = xp.scatter_along(x, index, values, axis, "multiply")
    g = g * product / x
    return g if include else _unwritten(xp, g, index, axis)


def _zeros_among(xp, values, index, axis, like):
    """Where `values` is 0, and where it is the only 0 of its place."""
    zero = xp.astype(values == 0, values.dtype)
    n = xp.scatter_along(xp.zeros_like(like), index, zero, axis, "add")
    alone = (zero == 1) & (xp.gather_along(n, index, axis) == 1)
    return values == 0, alone


def _product_values(xp, g, x, values, index, y, axis, include):
    zero, alone = _zeros_among(xp, values, index, axis, y)
    if not include:
        x = xp.scatter_along(x, index, xp.ones((), dtype=x.dtype), axis, "write")
    others = xp.scatter_along(x, index, xp.where(alone, 1.0, values), axis, "multiply")
    divided = xp.gather_along(g * y, index, axis) / xp.where(zero, 1.0, values)
    return xp.where(alone, xp.gather_along(g * others, index, axis), divided)


scatter_product.vjp(x=_product_x, values=_product_values)


def _product_jvp_values(xp, t, x, values, index, y, axis, include):
    slopes = _product_values(xp, xp.ones_like(y), x, values, index, y, axis, include)
    return xp.scatter_along(xp.zeros_like(y), index, slopes * t, axis, "add")


scatter_product.jvp(
    x=lambda xp, t, x, values, index, axis, include: _product_x(
        xp, t, x, values, index, axis, include
    ),
    values=_product_jvp_values,
)


@linear(node="ScatterReduceBackward0", hidden=("index",), kernels=_KERNELS)
def scatter_total(xp, x, values, index, *, axis, mean, include):
    """The sum or mean of `x`, if `include`, and the `values` that have one place."""
    if not include:
        x = _unwritten(xp, x, index, axis)
    total = xp.scatter_along(x, index, values, axis, "add")
    return total if not mean else _divided(xp, total, index, axis, include)


def _divided(xp: Any, total: Any, index: Any, axis: int, include: bool) -> Any:
    """Sums divided by how many elements each has."""
    if xp.isdtype(total.dtype, ("real floating", "complex floating")):
        return total / _counts(xp, total, index, axis, include)
    return total // _counts(xp, total, index, axis, include)


def _counts(xp: Any, like: Any, index: Any, axis: int, include: bool) -> Any:
    own = xp.ones_like(like) if include else xp.zeros_like(like)
    count = xp.scatter_along(own, index, xp.ones((), dtype=like.dtype), axis, "add")
    return xp.where(count == 0, xp.ones_like(count), count)


def _total_x(xp, g, index, axis, mean, include):
    if mean:
        g = g / _counts(xp, g, index, axis, include)
    return g if include else _unwritten(xp, g, index, axis)


def _total_values(xp, g, values_like, index, axis, mean, include):
    if mean:
        g = g / _counts(xp, g, index, axis, include)
    return _gathered(xp, g, values_like.shape, index, axis)


scatter_total.vjp(x=_total_x, values=_total_values)


# --- public --------------------------------------------------------------------------------------


def _checked(name: str, input: Any, dim: int, index: Any, src: Any) -> int:
    """The axis of a call that fits together."""
    shape = input._array.shape
    axis = axis_of(dim, len(shape))
    check_index_dtype(
        index, f"{name}(): Expected dtype int32/int64 for index", ("int32", "int64"), RuntimeError
    )
    if src is not None and src._array.dtype != input._array.dtype:
        raise errors.advised(
            RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype"),
            f"Convert the source with .to({input.dtype}).",
        )
    where = index._array.shape
    if not index._array.size:
        return axis
    for other, what in ((shape, "self"), (None if src is None else src._array.shape, "src")):
        if other is not None and max(len(where), 1) != max(len(other), 1):
            raise errors.advised(
                RuntimeError(
                    f"Index tensor must have the same number of dimensions as {what} tensor"
                ),
                f"They have {len(where)} and {len(other)}.",
            )
    wide = where or (1,)
    beyond = any(
        m > n for i, (m, n) in enumerate(zip(wide, shape or (1,), strict=True)) if i != axis
    )
    if src is not None:
        beyond |= any(m > n for m, n in zip(wide, src._array.shape or (1,), strict=True))
    if beyond:
        more = "" if src is None else f" and to be no larger size than src {list(src._array.shape)}"
        raise errors.advised(
            RuntimeError(
                f"Expected index {list(where)} to be no larger than self {list(shape)} apart from "
                f"dimension {axis}{more}"
            ),
            "Each element of the index needs an element with its place.",
        )
    n = (shape or (1,))[axis]
    check_range(index, n, lambda wrong: bounds_error(wrong, axis, n))
    return axis


def _seen(src: Any, index: Any) -> Any:
    """The part of the source that the index has places for."""
    if src._array.ndim and src._array.shape != index._array.shape:
        return src[tuple([slice(n) for n in index._array.shape])]
    return src


def scatter(
    input: Any,
    dim: int,
    index: Any,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
    out: Any = None,
) -> Any:
    """The tensor with `src`, or one number, written at the places that `gather` reads.

    >>> torch.zeros(2, 2).scatter(1, torch.tensor([[1], [0]]), 5)
    tensor([[0., 5.],
            [5., 0.]])
    """
    src = value if src is None else src
    if src is None:
        raise errors.advised(
            TypeError('scatter() missing 1 required positional arguments: "src"'),
            "Pass a tensor or a number to write.",
        )
    number = not hasattr(src, "_array")
    check_apart(out, input, index)
    axis = _checked("scatter", input, dim, index, None if number else src)
    if reduce is not None:
        return finish("scatter", _scatter_reducing(input, axis, index, src, reduce), out)
    if not index._array.size:
        return finish("scatter", input.clone(), out)
    if number:
        result = scatter_number(input, index, axis=axis, value=fitted(src, input.dtype))
    else:
        result = scatter_values(input, src, index, axis=axis)
    return finish("scatter", result, out)


def _scatter_reducing(input: Any, axis: int, index: Any, src: Any, reduce: str) -> Any:
    """`scatter` with `reduce="add"` or `"multiply"`: PyTorch gives them no derivative."""
    if reduce not in ("add", "multiply"):
        raise errors.advised(
            RuntimeError("reduce argument must be either add or multiply."),
            "scatter_reduce() knows more.",
        )
    if not hasattr(src, "_array"):
        src = np.full(index._array.shape, fitted(src, input.dtype), input._array.dtype)
        src = _tensor.wrap(src)
    if reduce == "add":
        return scatter_sum(input, src, index, axis=axis)
    return scatter_product(input, _seen(src, index), index, axis=axis, include=True)


scatter_ = in_place(scatter)


def scatter_add(input: Any, dim: int, index: Any, src: Any, *, out: Any = None) -> Any:
    """The tensor with `src` added at the places that `gather` reads.

    >>> torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 2]), torch.ones(3))
    tensor([2., 0., 1.])
    """
    check_apart(out, input, index)
    axis = _checked("scatter", input, dim, index, src)
    if not index._array.size:
        return finish("scatter_add", input.clone(), out)
    result = scatter_sum(input, src, index, axis=axis)
    return finish("scatter_add", result, out)


scatter_add_ = in_place(scatter_add)


def scatter_reduce(
    input: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    *,
    include_self: bool = True,
    out: Any = None,
) -> Any:
    """Sums, products, means or extrema of what `src` has for each place, and of the tensor.

    >>> index, src = torch.tensor([0, 0, 1]), torch.tensor([3.0, 4.0, 5.0])
    >>> torch.ones(2).scatter_reduce(0, index, src, "amax")
    tensor([4., 5.])
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise errors.advised(
            RuntimeError(
                "reduce argument must be either sum, prod, mean, amax or amin, got " + str(reduce)
            ),
            "Name one of them.",
        )
    check_apart(out, input, index)
    axis = _checked("scatter", input, dim, index, src)
    if not index._array.size:
        return finish("scatter_reduce", input.clone(), out)
    if reduce == "prod":
        result = scatter_product(input, _seen(src, index), index, axis=axis, include=include_self)
    elif reduce in ("amax", "amin"):
        result = scatter_extremum(
            input, _seen(src, index), index, axis=axis, how=reduce, include=include_self
        )
    else:
        mean = reduce == "mean"
        result = scatter_total(input, src, index, axis=axis, mean=mean, include=include_self)
    return finish("scatter_reduce", result, out)


scatter_reduce_ = in_place(scatter_reduce)

__all__ = ["scatter", "scatter_add", "scatter_reduce"]
