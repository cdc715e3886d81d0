"""Other reductions: all, any, count_nonzero, products."""

from typing import Any

from tapegrad.arrays.kernel import fallback, kernel_of
from tapegrad.core import errors
from tapegrad.core.annotations import Array, Dim, DTypeLike, Namespace, OperatorLike, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import bool_, uint8
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import constant, jvp, linear, primitive, vjp
from tapegrad.operators.reduction.sum_mean import reduction_axes, summable
from tapegrad.operators.shape.reshape_flatten_atleast import copied

__all__ = ["all", "any", "count_nonzero", "prod"]


@constant
def all_axes(xp, x, *, axis, keepdims):
    """Whether all elements along `axis` are true."""
    return xp.all(xp.astype(x, xp.bool), axis=axis, keepdims=keepdims)


@constant
def any_axes(xp, x, *, axis, keepdims):
    """Whether some element along `axis` is true."""
    return xp.any(xp.astype(x, xp.bool), axis=axis, keepdims=keepdims)


@constant
def count_axes(xp, x, *, axis):
    """How many elements along `axis` are not 0."""
    return xp.sum(xp.astype(xp.astype(x, xp.bool), xp.int64), axis=axis)


def _truth(
    name: str, operator: OperatorLike, input: Tensor, dim: Dim, keepdim: bool, out: Out
) -> Any:
    if isinstance(dim, (tuple, list)) and not dim:
        axis: tuple[int, ...] = ()  # unlike other reductions: of each element
    else:
        axis = reduction_axes(dim, input._array.ndim)
    result = operator(input, axis=axis, keepdims=bool(keepdim))
    if input.dtype.name == "uint8":
        result = result.to(input.dtype)
    if out is not None and out.dtype not in (bool_, uint8):
        text = f"{name} only supports bool tensor for result, got: {out.dtype.scalar_name}"
        raise errors.runtime_error(text, "Give an out tensor of torch.bool.")
    return finish(name, result, out)


@require_tensors
def all(input: Tensor, dim: Dim = None, keepdim: bool = False, *, out: Out = None) -> Any:
    """Whether all elements are true, of the whole tensor or along `dim`.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.

    >>> torch.all(torch.tensor([[True, False], [True, True]]), dim=1)
    tensor([False,  True])
    """
    return _truth("all", all_axes, input, dim, keepdim, out)


@require_tensors
def any(input: Tensor, dim: Dim = None, keepdim: bool = False, *, out: Out = None) -> Any:
    """Whether some element is true, of the whole tensor or along `dim`.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.

    >>> torch.any(torch.tensor([[True, False], [False, False]]), dim=1)
    tensor([ True, False])
    """
    return _truth("any", any_axes, input, dim, keepdim, out)


@require_tensors
def count_nonzero(input: Tensor, dim: Dim = None) -> Any:
    """How many elements are not 0.

    Shape: the input's without `dim`, one or several; () if there is none.

    >>> torch.count_nonzero(torch.tensor([0, 3, 0, 5]))
    tensor(2)
    """
    return count_axes(input, axis=reduction_axes(dim, input._array.ndim))


# --- products ---


@fallback("other_products")
def _not_at_hand(xp: Namespace, x: Array, y: Array) -> None:
    """The kernel gives None, too, where an element is 0."""


def _others(xp: Namespace, x: Array, y: Array, axis: int) -> Any:
    """For each element the product of the others along `axis`, right where some are 0.

    `y` is the product of all, with the axis kept.
    """
    found = kernel_of(xp, "other_products")(x, y)
    if found is not None:
        return found
    one = xp.ones_like(x[(slice(None),) * axis + (slice(0, 1), Ellipsis)])
    before = xp.concat([one, x[(slice(None),) * axis + (slice(0, -1), Ellipsis)]], axis=axis)
    after = xp.concat([x[(slice(None),) * axis + (slice(1, None), Ellipsis)], one], axis=axis)
    left = xp.cumulative_prod(before, axis=axis)
    right = xp.flip(xp.cumulative_prod(xp.flip(after, axis=axis), axis=axis), axis=axis)
    return left * right


def _kept(xp: Namespace, y: Array, axis: int, keepdims: bool) -> Any:
    return y if keepdims else xp.expand_dims(y, axis=axis)


def _product_vjp(xp, g, x, y, axis, keepdims):
    return _kept(xp, g, axis, keepdims) * _others(xp, x, _kept(xp, y, axis, keepdims), axis)


def _product_jvp(xp, t, x, y, axis, keepdims):
    others = _others(xp, x, _kept(xp, y, axis, keepdims), axis)
    return xp.sum(t * others, axis=axis, keepdims=keepdims)


@jvp(x=_product_jvp)
@vjp(x=_product_vjp)
@primitive(node="ProdBackward1", kernels=("pad_slice",))
def product_along(xp, x, *, axis, keepdims):
    """The product along one axis."""
    return xp.prod(x, axis=axis, keepdims=keepdims)


def _flat_others(xp: Namespace, x: Array, y: Array) -> Any:
    return _others(xp, xp.reshape(x, (-1,)), xp.reshape(y, (1,)), 0)


@jvp(x=lambda xp, t, x, y: xp.sum(xp.reshape(t, (-1,)) * _flat_others(xp, x, y)))
@vjp(x=lambda xp, g, x, y: g * xp.reshape(_flat_others(xp, x, y), x.shape))
@primitive(node="ProdBackward0", kernels=("pad_slice",))
def product_all(xp, x):
    """The product of all elements."""
    return xp.prod(x)


@vjp(x=lambda g: g)
@linear(node="ProdBackward1", kernels=("copied",))
def product_of_one(xp, x):
    """The product along an axis of a tensor without dimensions: its element."""
    return copied(xp, x, "K")


@autocast
def prod(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Any:
    """The product of all elements, or along `dim`; of integers as int64.

    Shape: () without `dim`; else the input's without it, with `keepdim` of size 1 there.

    >>> torch.prod(torch.tensor([2.0, 3.0, 4.0]))
    tensor(24.)
    """
    input, narrow = summable(input, dtype, out)
    if dim is None:
        result = product_all(input)
    else:
        axis = axis_of(dim, input._array.ndim)
        if input._array.ndim:
            result = product_along(input, axis=axis, keepdims=bool(keepdim))
        else:
            result = product_of_one(input)
    return finish("prod", result if narrow is None else result.to(narrow), out)
