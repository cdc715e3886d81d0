"""Scattering with a reduction: sums, products, means and extrema of what has one place."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import row_major
from tapegrad.core.tensor_base import TensorBase
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import check_apart, check_out, in_place
from tapegrad.dispatch.op import linear, primitive, vjp
from tapegrad.operators.dtype_check import check_real_graph, no_kernel, require_order
from tapegrad.operators.indexing.scatter import as_vectors, checked, gathered, unwritten

_KERNELS = ("gather_along", "scatter_along")


def _shares(
    xp: Namespace, x: Array, values: Array, index: Array, y: Array, axis: int, include: bool
) -> tuple:
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


@vjp(x=_extremum_x, values=_extremum_values)
@primitive(node="ScatterReduceBackward0", hidden=("index",), kernels=_KERNELS, order=row_major)
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


def _extremum_jvp_values(xp, t, x, values, index, y, axis, include):
    _, theirs, count = _shares(xp, x, values, index, y, axis, include)
    zeros = xp.zeros_like(count)
    return xp.scatter_along(zeros, index, t * theirs, axis, "add") / count


scatter_extremum.jvp(
    x=lambda xp, t, x, values, index, y, axis, include: _extremum_x(
        xp, t, x, values, index, y, axis, include
    ),
    values=_extremum_jvp_values,
)


_FEW = 5  # zeros in one place, all derivatives of whose product are looked after


def _product_x(xp, g, x, values, index, axis, include):
    """The others' product: that of all, divided by `x`, or with 1 in the place of a 0."""
    x = xp.where(x == 0, 1.0, x)
    product = xp.scatter_along(x, index, values, axis, "multiply")
    g = g * product / x
    return g if include else unwritten(xp, g, index, axis)


def _product_values(xp, g, x, values, index, y, axis, include):
    """The product of the others: that of all, divided by each, or without it where it is 0."""
    zero = values == 0
    zeros = xp.scatter_along(
        xp.zeros_like(y), index, xp.astype(zero, values.dtype), axis, "add"
    )  # how many each place has
    n = xp.gather_along(zeros, index, axis)
    alone = zero & (n == 1)
    if not include:
        x = xp.scatter_along(x, index, xp.ones((), dtype=x.dtype), axis, "write")
    others = xp.scatter_along(x, index, xp.where(alone, 1.0, values), axis, "multiply")
    divided = xp.gather_along(g * y, index, axis) / xp.where(zero, 1.0, values)
    found = xp.where(alone, xp.gather_along(g * others, index, axis), divided)
    if isinstance(values, TensorBase):
        # of some zeros each has the others for factors: that product is 0, but not its derivatives.
        # It comes from the sums of the others' powers, by Newton's identities
        few = zero & (n >= 2) & (n <= _FEW)

        def others_of(each: Array) -> Any:
            total = xp.scatter_along(xp.zeros_like(y), index, each, axis, "add")
            return xp.gather_along(total, index, axis) - each

        kept = xp.where(few, values, 0.0)
        power, sums, products = kept, [], [xp.ones_like(kept)]
        factor = products[0]
        for k in range(1, _FEW):
            sums.append(others_of(power))
            terms = [a * b for a, b in zip(reversed(products), sums, strict=True)]
            total = terms[0]
            for i, term in enumerate(terms[1:], 1):
                total = total - term if i % 2 else total + term
            products.append(total / k)
            factor = xp.where(n == k + 1, products[k], factor)
            power = power * kept
        rest = xp.scatter_along(x, index, xp.where(few, 1.0, values), axis, "multiply")
        found = xp.where(few, xp.gather_along(g * rest, index, axis) * factor, found)
    return found


@vjp(x=_product_x, values=_product_values)
@primitive(node="ScatterReduceBackward0", hidden=("index",), kernels=_KERNELS, order=row_major)
def scatter_product(xp, x, values, index, *, axis, include):
    """The product of `x`, if `include`, and the `values` that have one place."""
    if not include:
        x = xp.scatter_along(x, index, xp.ones((), dtype=x.dtype), axis, "write")
    return xp.scatter_along(x, index, values, axis, "multiply")


def _product_jvp_values(xp, t, x, values, index, y, axis, include):
    slopes = _product_values(xp, xp.ones_like(y), x, values, index, y, axis, include)
    return xp.scatter_along(xp.zeros_like(y), index, slopes * t, axis, "add")


scatter_product.jvp(
    x=lambda xp, t, x, values, index, axis, include: _product_x(
        xp, t, x, values, index, axis, include
    ),
    values=_product_jvp_values,
)


def _divided(xp: Namespace, total: Array, index: Array, axis: int, include: bool) -> Any:
    """Sums divided by how many elements each has."""
    if xp.isdtype(total.dtype, ("real floating", "complex floating")):
        return total / _counts(xp, total, index, axis, include)
    return total // _counts(xp, total, index, axis, include)


def _counts(xp: Namespace, like: Array, index: Array, axis: int, include: bool) -> Any:
    own = xp.ones_like(like) if include else xp.zeros_like(like)
    count = xp.scatter_along(own, index, xp.ones((), dtype=like.dtype), axis, "add")
    return xp.where(count == 0, xp.ones_like(count), count)


def _total_x(xp, g, index, axis, mean, include):
    if mean:
        g = g / _counts(xp, g, index, axis, include)
    return g if include else unwritten(xp, g, index, axis)


def _total_values(xp, g, values_like, index, axis, mean, include):
    if mean:
        g = g / _counts(xp, g, index, axis, include)
    return gathered(xp, g, values_like.shape, index, axis)


@vjp(x=_total_x, values=_total_values)
@linear(node="ScatterReduceBackward0", hidden=("index",), kernels=_KERNELS, order=row_major)
def scatter_total(xp, x, values, index, *, axis, mean, include):
    """The sum or mean of `x`, if `include`, and the `values` that have one place."""
    if not include:
        x = unwritten(xp, x, index, axis)
    total = xp.scatter_along(x, index, values, axis, "add")
    return total if not mean else _divided(xp, total, index, axis, include)


# --- public ---


def seen(src: Any, index: Tensor) -> Any:
    """The part of the source that the index has places for."""
    if src._array.ndim and src._array.shape != index._array.shape:
        return src[tuple([slice(n) for n in index._array.shape])]
    return src


@require_tensors
def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Out = None,
) -> Any:
    """Sums, products, means or extrema of what `src` has for each place, and of the tensor.

    Places are those of `scatter`. `reduce` is "sum", "prod", "mean", "amax" or "amin"; the tensor's
    own elements count, too, unless `include_self` is false.

    Shapes: index no larger than src, nor than the input but along `dim`; result the input's.
    Raises: RuntimeError for another `reduce`.

    >>> index, src = torch.tensor([0, 0, 1]), torch.tensor([3.0, 4.0, 5.0])
    >>> torch.ones(2).scatter_reduce(0, index, src, "amax")
    tensor([4., 5.])
    """
    check_out(out, input)
    check_apart(out, index, src)
    axis = checked("scatter", input, dim, index, src)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise errors.runtime_error(
            "reduce argument must be either sum, prod, mean, amax or amin, got " + str(reduce),
            "Name one of them.",
        )
    check_real_graph("scatter_reduce", input, src)
    index, src = as_vectors(input, index, src)
    if reduce == "prod":
        result = scatter_product(input, seen(src, index), index, axis=axis, include=include_self)
    elif reduce in ("amax", "amin"):
        if index._array.size:
            require_order(f"scatter_gather_tensor_cpu_reduce_{reduce}", input)
        result = scatter_extremum(
            input, seen(src, index), index, axis=axis, how=reduce, include=include_self
        )
    else:
        mean = reduce == "mean"
        if mean and input.dtype.category == 0:
            scattered = "scatter_gather_tensor_cpu_reduce_mean"
            raise no_kernel(scattered if index._array.size else "div_floor_cpu", input.dtype)
        result = scatter_total(input, src, index, axis=axis, mean=mean, include=include_self)
    return finish("scatter_reduce", result, out)


scatter_reduce_ = in_place(scatter_reduce, apart=True)

__all__ = ["scatter_reduce"]
