"""Slices of one dimension changed: `index_add`, `index_copy`, `index_fill`."""

import numpy as np

from tapegrad.arrays.namespaces import is_batched
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import bool_
from tapegrad.core.result_order import as_first, row_major
from tapegrad.core.scalar import fitted
from tapegrad.core.shape import axis_of, no_dimensions
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast, without_autocast
from tapegrad.dispatch.in_place import check_apart, in_place
from tapegrad.dispatch.op import jvp, linear, primitive, vjp
from tapegrad.operators.indexing.index_check import (
    INT32_OR_INT64,
    bounds_error,
    check_index_dtype,
    check_range,
)
from tapegrad.operators.shape.reshape_flatten_atleast import reshape


def _unwritten(xp: Namespace, g: Array, index: Array, axis: int) -> Any:
    return xp.write_at(g, xp.zeros((), dtype=g.dtype), index, (axis,), False)


@vjp(
    x=lambda g: g,
    source=lambda xp, g, index, axis, alpha: (
        xp.read_at(g, index, (axis,)) if alpha == 1 else xp.read_at(g, index, (axis,)) * alpha
    ),
)
@linear(
    node="IndexAddBackward0", hidden=("index",), kernels=("write_at", "read_at"), order=row_major
)
def add_slices(xp, x, source, index, *, axis, alpha):
    """`x` with `alpha` times the slices of `source` added to those that `index` names."""
    return xp.write_at(x, source if alpha == 1 else source * alpha, index, (axis,), True)


@vjp(x=_unwritten, source=lambda xp, g, index, axis: xp.read_at(g, index, (axis,)))
@linear(
    node="IndexCopyBackward0", hidden=("index",), kernels=("write_at", "read_at"), order=row_major
)
def copy_slices(xp, x, source, index, *, axis):
    """`x` with the slices of `source` in the place of those that `index` names."""
    return xp.write_at(x, source, index, (axis,), False)


@jvp(x=lambda xp, t, index, axis: _unwritten(xp, t, index, axis))
@vjp(x=_unwritten)
@primitive(node="IndexFillBackward0", hidden=("index",), kernels=("write_at",), order=as_first)
def fill_slices(xp, x, index, *, axis, value):
    """`x` with the number `value` in the slices that `index` names."""
    return xp.write_at(x, xp.asarray(value, dtype=x.dtype), index, (axis,), False)


@vjp(
    x=_unwritten,
    value=lambda xp, g, value_like, index, axis: xp.astype(
        xp.sum(xp.read_at(g, index, (axis,))), value_like.dtype, copy=False
    ),
)
@linear(
    node="IndexFillBackward1", hidden=("index",), kernels=("write_at", "read_at"), order=as_first
)
def fill_slices_with(xp, x, value, index, *, axis):
    """`x` with the 0-d `value` in the slices that `index` names."""
    return xp.write_at(x, xp.astype(value, x.dtype, copy=False), index, (axis,), False)


# --- public --------------------------------------------------------------------------------------


def _as_vector(x: Tensor) -> Any:
    return x if x._array.ndim else reshape(x, (1,))


def _restored(result: Tensor, input: Tensor) -> Any:
    return result if input._array.ndim else reshape(result, ())


_OUTSIDE = "index out of range in self"  # what PyTorch says of vectors


def checked_slices(name: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    """The axis of which the slices that a vector names are to be changed by those of `source`."""
    axis = axis_of(dim, input._array.ndim)
    errors.need_tensor(name, "index", 3, index)
    errors.need_tensor(name, "source", 4, source)
    kind = index.dtype.scalar_name
    if index._array.ndim > 1:
        raise errors.index_error(
            f"{name}_(): Index is supposed to be a vector, but got dim: "
            f"{index._array.ndim} with type: {kind} and size: {list(index._array.shape)}",
            "index_put_() with accumulate=True takes an index of any shape.",
        )
    message = f"{name}_(): Expected dtype int32/int64 for index but got: {kind}"
    check_index_dtype(index, message, INT32_OR_INT64)
    if source._array.dtype != input._array.dtype:
        raise errors.runtime_error(
            f"{name}_(): self ({input.dtype.scalar_name}) and source "
            f"({source.dtype.scalar_name}) must have the same scalar type",
            f"Convert the source with .to({input.dtype}).",
        )
    a, b = input._array.shape, source._array.shape
    if axis and axis >= len(b):
        text = f"{name}_(): Indexing dim {axis} is out of bounds of the source tensor with dim "
        raise errors.runtime_error(f"{text}{len(b)}", "The source has the dimensions of the input.")
    if index._array.ndim and index._array.size != 1 and not b:
        raise no_dimensions(axis, "The source has the dimensions of the input.")
    n_slices = b[axis] if b else 1
    if n_slices != index._array.size:
        raise errors.runtime_error(
            f"{name}_(): Number of indices ({index._array.size}) should be equal to "
            f"source.size(dim): ({n_slices}), for dim: {axis}",
            "One index for each slice of the source.",
        )
    if len(a) != len(b) or a[:axis] != b[:axis] or a[axis + 1 :] != b[axis + 1 :]:
        raise errors.runtime_error(
            "source tensor shape must match self tensor shape, excluding the specified "
            f"dimension. Got self.shape = {list(a)} source.shape = {list(b)}",
            "expand() repeats a source.",
        )
    n = a[axis] if a else 1

    def outside(wrong: int) -> Exception:
        return bounds_error(wrong, axis, n) if len(a) > 1 else IndexError(_OUTSIDE)

    check_range(index, n, outside)
    return axis


@require_tensors
def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Scalar = 1, out: Out = None
) -> Any:
    """The slices of `source`, times `alpha`, added to those of `dim` that `index` names.

    For dim 0: `y[index[i]] += alpha * source[i]`.

    Shapes: index (k,), source the input's with k at `dim`; the result has the input's.

    >>> torch.zeros(2).index_add(0, torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))
    tensor([3., 0.])
    """
    check_apart(out, index, source)
    axis = checked_slices("index_add", input, dim, index, source)
    wide, source, index = _as_vector(input), _as_vector(source), _as_vector(index)
    alpha = bool(alpha) if input.dtype is bool_ else fitted(alpha, input.dtype)
    result = add_slices(wide, source, index, axis=axis, alpha=alpha)
    return finish("index_add", _restored(result, input), out, input)


@autocast
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Out = None) -> Any:
    """The slices of `source` in the place of those of `dim` that `index` names.

    For dim 0: `y[index[i]] = source[i]`.

    Shapes: index (k,), source the input's with k at `dim`; the result has the input's.
    Raises: RuntimeError where the dtypes or the slices differ; IndexError for another index.

    >>> torch.zeros(3).index_copy(0, torch.tensor([2, 0]), torch.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
    """
    check_apart(out, index, source)
    axis = axis_of(dim, input._array.ndim)
    if index._array.ndim > 1:
        text = f"index_copy_(): Index should have dimension 1 or 0 (got {index._array.ndim})"
        raise errors.index_error(text, "x[index] = source takes an index of any shape.")
    if index._array.size != 1 and not source._array.ndim:
        text = "index_copy_(): When source is scalar, index should have one element (got "
        raise errors.index_error(f"{text}{index._array.size})", "A source is a row for each index.")
    a, b = input._array.shape or (1,), source._array.shape or (1,)
    if len(a) != len(b) and input._array.ndim and source._array.ndim:
        raise errors.index_error(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({len(b)}), destination dimensionality "
            f"({len(a)})",
            "unsqueeze() adds a dimension.",
        )
    kind = index.dtype.scalar_name
    check_index_dtype(index, f"index_copy_(): Expected a long tensor for index, but got {kind}")
    if source._array.dtype != input._array.dtype:
        raise errors.runtime_error(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{input.dtype.scalar_name} and (source) {source.dtype.scalar_name}",
            f"Convert the source with .to({input.dtype}).",
        )
    rest = [*a[:axis], *a[axis + 1 :]]
    other = [*b[:axis], *b[axis + 1 :]] if source._array.ndim else []
    if rest != other:
        raise errors.runtime_error(
            "index_copy_(): Source/destination tensor must have same slice shapes. "
            f"Destination slice shape: {' '.join(map(str, rest))} at dimension {axis} and "
            f"source slice shape: {' '.join(map(str, other))} at dimension 0.",
            "expand() repeats a source.",
        )
    if b[axis] != index._array.size:
        raise errors.index_error(
            f"index_copy_(): Number of indices ({index._array.size}) should be equal to "
            f"source.size(dim) ({b[axis]})",
            "One index for each slice of the source.",
        )
    where = f"out of bounds for dimension {axis} with size {a[axis]}"
    check_range(
        index, a[axis], lambda wrong: IndexError(f"index_copy_(): index {wrong} is {where}")
    )
    wide, source, index = _as_vector(input), _as_vector(source), _as_vector(index)
    result = copy_slices(wide, source, index, axis=axis)
    return finish("index_copy", _restored(result, input), out, input)


@require_tensors
def index_fill(input: Tensor, dim: int, index: Tensor, value: Scalar) -> Any:
    """One number in the slices of `dim` that `index` names.

    Shapes: index (k,), a tensor `value` (); the result has the input's.
    Raises: RuntimeError for another index or value.

    >>> torch.zeros(3).index_fill(0, torch.tensor([0, 2]), 1)
    tensor([1., 0., 1.])
    """
    errors.need_tensor("index_fill", "index", 3, index)
    n_dims = getattr(value, "ndim", 0)
    if n_dims:
        raise errors.runtime_error(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{n_dims} dimension(s).",
            "index_copy() takes a tensor of values.",
        )
    check_index_dtype(index, "index_fill_(): Expected dtype int64 for index.", error=IndexError)
    axis = axis_of(dim, input._array.ndim)
    if index._array.ndim > 1:
        raise errors.runtime_error("Index has to be a vector/scalar", "flatten() makes a vector.")
    n = (input._array.shape or (1,))[axis]
    check_range(index, n, lambda wrong: bounds_error(wrong, axis, n, IndexError), -n)
    wide = _as_vector(input)
    member: Any = value
    if not hasattr(value, "_array"):
        if isinstance(value, complex) and not input.dtype.is_complex:
            text = "index_fill_(): Converting complex Scalar to non-complex type is not supported"
            raise errors.runtime_error(text, "Convert the tensor first, or pass a real number.")
        value = fitted(value, input.dtype)
        if not is_batched(index._array):
            index = _named_once(index, n)
            return _restored(fill_slices(wide, index, axis=axis, value=value), input)
        member = tensor_base.wrap(np.asarray(value, input._array.dtype))
    if is_batched(index._array):
        return _restored(_filled_where_named(wide, member, index, axis), input)
    return _restored(fill_slices_with(wide, member, _named_once(index, n), axis=axis), input)


def _named_once(index: Tensor, n: int) -> Any:
    """The slices an index names, each once: a gradient counts them so."""
    if index.is_meta:
        return index
    return tensor_base.wrap(np.unique(index._array % n))


def _filled_where_named(x: Tensor, value: Any, index: Tensor, axis: int) -> Any:
    """`index_fill` inside `vmap`, where each member may name other slices: a choice by a mask."""
    from tapegrad.operators.pointwise.where_clamp import where

    shape = x._array.shape
    n = shape[axis]
    names = reshape(index, (-1, 1)) % max(n, 1)
    mask = (names == tensor_base.wrap(np.arange(n))).any(0)
    mask = reshape(mask, (n, *(1,) * (len(shape) - axis - 1)))
    return where(mask, value.to(x.dtype), x)


index_add_ = in_place(index_add, apart=True)
index_copy_ = in_place(without_autocast(index_copy), apart=True)
index_fill_ = in_place(index_fill, reads_numbers=True, apart=True, repeats="warned")

__all__ = ["index_add", "index_copy", "index_fill"]
