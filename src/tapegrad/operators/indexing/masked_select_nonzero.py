"""Masks: elements chosen by truth values, and where the true ones are."""

import numpy as np

from tapegrad.arrays.namespaces import elements, is_batched, is_mapped, refuse_batch, refuse_meta
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import bool_
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.result_order import row_major
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import check_apart, in_place
from tapegrad.dispatch.op import linear, vjp
from tapegrad.dispatch.per_sample import per_sample
from tapegrad.operators.shape.expand_broadcast import broadcast_tensors


@vjp(x=lambda xp, g, x_like, mask: xp.spread_mask(g, x_like.shape, mask))
@linear(node="MaskedSelectBackward0", hidden=("mask",), kernels=("spread_mask",))
def masked_elements(xp, x, mask):
    """The elements of `x` where `mask` is true, in one dimension."""
    return x[mask]


@vjp(
    x=lambda xp, g, mask: xp.write_mask(g, xp.zeros((), dtype=g.dtype), mask),
    source=lambda xp, g, source_like, mask: xp.reshape(
        xp.pad_slice(g[mask], (source_like.size,), 0, 0, xp.count(mask), 1), source_like.shape
    ),
)
@linear(
    node="MaskedScatterBackward0",
    hidden=("mask",),
    kernels=("write_mask", "count", "pad_slice"),
    order=row_major,
)
def scatter_masked(xp, x, source, mask):
    """`x` with the first elements of `source`, in order, where `mask` is true."""
    if type(x) is MetaArray:
        return x.copy("K")
    return xp.write_mask(x, xp.reshape(source, (-1,))[: xp.count(mask)], mask)


# --- public --------------------------------------------------------------------------------------


@require_tensors
def masked_select(input: Tensor, mask: Tensor, *, out: Out = None) -> Any:
    """The elements where `mask` is true, in one dimension.

    Shapes: any that broadcast, to (k,).
    Raises: RuntimeError for a mask that is not boolean.

    >>> torch.tensor([1, 2, 3]).masked_select(torch.tensor([True, False, True]))
    tensor([1, 3])
    """
    errors.need_tensor("masked_select", "mask", 2, mask)
    check_apart(out, input, mask)
    if mask.dtype is not bool_:
        text = "masked_select: expected BoolTensor for mask"
        raise errors.runtime_error(text, "Compare first (x > 0), or convert with .bool().")
    if is_mapped(mask._array):
        raise errors.runtime_error(
            "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot "
            "support this because for each batch this would return a differently shaped "
            "Tensor. Please file an issue at https://github.com/pytorch/pytorch/issues if you "
            "need this feature.",
            "Keep all elements: torch.where(mask, x, 0).",
        )
    refuse_meta("masked_select", input, mask)
    mask, input = broadcast_tensors(mask, input)
    return finish("masked_select", masked_elements(input, mask), out)


@require_tensors
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """The tensor with the first elements of `source`, in order, where `mask` is true.

    Shapes: input and mask broadcast to that of the result; source any.
    Raises: RuntimeError where the dtypes differ or `source` has too few elements.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.zeros(3).masked_scatter(mask, torch.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    mask, input = broadcast_tensors(mask, input)
    return _scattered(input, mask, source)


def _scattered(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    if source._array.dtype != input._array.dtype:
        raise errors.runtime_error(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{input.dtype.scalar_name} and {source.dtype.scalar_name}",
            f"Convert the source with .to({input.dtype}).",
        )
    if mask.dtype is not bool_:
        raise errors.runtime_error(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{mask.dtype.scalar_name}",
            "Compare first (x > 0), or convert with .bool().",
        )
    axes = tuple(range(-mask._array.ndim, 0))  # of each member, where there is a batch of them
    if np.count_nonzero(elements(mask._array), axis=axes).max(initial=0) > source._array.size:
        text = "Number of elements of source < number of ones in mask"
        raise errors.runtime_error(text, f"The source has {source._array.size}.")
    if is_batched(mask._array):
        return _chosen_in_order(input, source, mask)
    return scatter_masked(input, source, mask)


def _chosen_in_order(input: Tensor, source: Tensor, mask: Tensor) -> Any:
    """`masked_scatter` inside `vmap`: the n-th true element of a mask takes source n."""
    from tapegrad.operators.pointwise.where_clamp import where
    from tapegrad.operators.shape.reshape_flatten_atleast import reshape

    if not source._array.size:  # nothing is chosen
        return input.clone()
    flat = reshape(mask, (-1,))
    place = (flat.cumsum(0) - 1).clamp(min=0, max=source._array.size - 1)
    taken = reshape(reshape(source, (-1,))[place], input._array.shape)
    return where(mask, taken, input)


def _scattered_here(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """`masked_scatter` of a tensor that keeps its shape."""
    shape, given = input._array.shape, mask._array.shape
    if shape != given:
        errors.check_expand(given, shape, "The mask must broadcast to the tensor.", mask.dtype)
        mask = broadcast_tensors(mask, input)[0]
    return _scattered(input, mask, source)


masked_scatter_ = in_place(_scattered_here, "masked_scatter_", apart=None)


@require_tensors
def nonzero(input: Tensor, *, out: Out = None, as_tuple: bool = False) -> Any:
    """Where the elements are that are not zero: a row of indices for each, or a tuple by dimension.

    Shape: d dimensions to (k, d), or to d times (k,).

    >>> torch.tensor([[1, 0], [0, 2]]).nonzero()
    tensor([[0, 0],
            [1, 1]])
    """
    refuse_batch("where" if as_tuple else "nonzero", input._array)
    array = elements(input._array)
    if as_tuple:
        places = np.nonzero(array if array.ndim else array.reshape(1))
        return tuple([tensor_base.wrap(x.astype(np.int64, copy=False)) for x in places])
    return finish("nonzero", tensor_base.wrap(_where(array)), out)


def _where(array: Any) -> Any:
    """A row of indices for each element that is not zero."""
    return np.argwhere(array).astype(np.int64, copy=False)


@per_sample
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Out = None) -> Any:
    """The first `size` rows of `nonzero`, filled up with `fill_value`.

    Shape: d dimensions to (size, d).
    Raises: RuntimeError for a negative `size`.

    >>> torch.nonzero_static(torch.tensor([1, 0, 1]), size=3)
    tensor([[ 0],
            [ 2],
            [-1]])
    """
    if size < 0:
        text = "nonzero_static: 'size' must be an non-negative integer"
        raise errors.runtime_error(text, "Say how many.")
    rows = np.argwhere(input._array)[:size]
    found = np.full((size, input._array.ndim), fill_value, np.int64)
    found[: len(rows)] = rows
    return finish("nonzero_static", tensor_base.wrap(found), out)


@per_sample
def argwhere(input: Tensor) -> Any:
    """Where the elements are that are not zero: a row of indices for each.

    Shape: d dimensions to (k, d).

    >>> torch.argwhere(torch.tensor([0, 3]))
    tensor([[1]])
    """
    refuse_batch("nonzero", input._array)
    return tensor_base.wrap(_where(input._array))


__all__ = ["argwhere", "masked_scatter", "masked_select", "nonzero", "nonzero_static"]
