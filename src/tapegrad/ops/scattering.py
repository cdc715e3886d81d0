"""Scattering: values written, or reduced, at the places that `gather` reads."""

from __future__ import annotations

from typing import Any

from tapegrad import errors
from tapegrad.autograd.inplace import in_place
from tapegrad.call import finish
from tapegrad.op import linear, primitive
from tapegrad.ops.lookup import bounds_error, check_index_dtype, check_range
from tapegrad.ops.shape import reshape
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


@linear(node="ScatterBackward1", hidden=("index",), kernels=_KERNELS)
def scatter_number(xp, x, index, *, axis, value):
    """`x` with the number `value` written."""
    return xp.scatter_along(x, index, xp.asarray(value, dtype=x.dtype), axis, "write")


scatter_number.vjp(x=_unwritten)


@linear(name="scatter_sum", node="ScatterAddBackward0", hidden=("index",), kernels=_KERNELS)
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
        if not xp.isdtype(x.dtype, ("real floating", "complex floating")):
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


def _without_zeros(xp: Any, x: Any, values: Any, index: Any, axis: int, include: bool) -> tuple:
    """`x` and `values` with ones for zeros, their product, and how many zeros it left out."""
    if not include:
        x = xp.scatter_along(x, index, xp.ones((), dtype=x.dtype), axis, "write")
    a, b = xp.where(x == 0, 1.0, x), xp.where(values == 0, 1.0, values)
    product = xp.scatter_along(a, index, b, axis, "multiply")
    zeros = xp.scatter_along(
        xp.astype(x == 0, x.dtype), index, xp.astype(values == 0, x.dtype), axis, "add"
    )
    return a, b, product, zeros


def _product_x(xp, g, x, values, index, axis, include):
    a, _, product, zeros = _without_zeros(xp, x, values, index, axis, include)
    counts = xp.astype(zeros == xp.astype(x == 0, x.dtype), x.dtype)
    g = g * product / a * counts
    return g if include else _unwritten(xp, g, index, axis)


def _product_values(xp, g, x, values, index, axis, include):
    _, b, product, zeros = _without_zeros(xp, x, values, index, axis, include)
    others = xp.gather_along(zeros, index, axis)
    counts = xp.astype(others == xp.astype(values == 0, b.dtype), b.dtype)
    return xp.gather_along(g * product, index, axis) / b * counts


scatter_product.vjp(x=_product_x, values=_product_values)


def _product_jvp_x(xp, t, x, values, index, axis, include):
    return _product_x(xp, t, x, values, index, axis, include)


def _product_jvp_values(xp, t, x, values, index, axis, include):
    _, b, product, zeros = _without_zeros(xp, x, values, index, axis, include)
    others = xp.gather_along(zeros, index, axis)
    counts = xp.astype(others == xp.astype(values == 0, b.dtype), b.dtype)
    parts = t / b * counts
    return xp.scatter_along(xp.zeros_like(product), index, parts, axis, "add") * product


scatter_product.jvp(x=_product_jvp_x, values=_product_jvp_values)


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


def _vectors(*tensors: Any) -> list:
    return [x if x is None or x._array.ndim else reshape(x, 1) for x in tensors]


def _restored(result: Any, input: Any) -> Any:
    return result if input._array.ndim else reshape(result, ())


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
    axis = _checked("scatter", input, dim, index, None if number else src)
    if reduce is not None:
        return finish("scatter", _scatter_reducing(input, axis, index, src, reduce), out)
    if not index._array.size:
        return finish("scatter", input.clone(), out)
    wide, places = _vectors(input, index)
    if number:
        result = scatter_number(wide, places, axis=axis, value=fitted(src, input.dtype))
    else:
        result = scatter_values(wide, _vectors(src)[0], places, axis=axis)
    return finish("scatter", _restored(result, input), out)


def _scatter_reducing(input: Any, axis: int, index: Any, src: Any, reduce: str) -> Any:
    """`scatter` with `reduce="add"` or `"multiply"`: PyTorch gives them no derivative."""
    if reduce not in ("add", "multiply"):
        raise errors.advised(
            RuntimeError("reduce argument must be either add or multiply."),
            "scatter_reduce() knows more.",
        )
    if not hasattr(src, "_array"):
        src = input.new_full(index.shape, src)
    wide, places, values = _vectors(input, index, src)
    if reduce == "add":
        return _restored(scatter_sum(wide, values, places, axis=axis), input)
    return _restored(scatter_product(wide, values, places, axis=axis, include=True), input)


scatter_ = in_place(scatter)


def scatter_add(input: Any, dim: int, index: Any, src: Any, *, out: Any = None) -> Any:
    """The tensor with `src` added at the places that `gather` reads.

    >>> torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 2]), torch.ones(3))
    tensor([2., 0., 1.])
    """
    axis = _checked("scatter", input, dim, index, src)
    if not index._array.size:
        return finish("scatter_add", input.clone(), out)
    wide, places, values = _vectors(input, index, src)
    result = scatter_sum(wide, values, places, axis=axis)
    return finish("scatter_add", _restored(result, input), out)


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
    axis = _checked("scatter", input, dim, index, src)
    if not index._array.size:
        return finish("scatter_reduce", input.clone(), out)
    wide, places, values = _vectors(input, index, src)
    if reduce == "prod":
        result = scatter_product(wide, values, places, axis=axis, include=include_self)
    elif reduce in ("amax", "amin"):
        result = scatter_extremum(wide, values, places, axis=axis, how=reduce, include=include_self)
    else:
        result = _scatter_sum(wide, values, places, axis, reduce == "mean", include_self)
    return finish("scatter_reduce", _restored(result, input), out)


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


def _scatter_sum(x: Any, values: Any, index: Any, axis: int, mean: bool, include: bool) -> Any:
    return scatter_total(x, values, index, axis=axis, mean=mean, include=include)


scatter_reduce_ = in_place(scatter_reduce)

__all__ = ["scatter", "scatter_add", "scatter_reduce"]
