"""Looking up: elements read at index tensors, and in reverse added up where they came from."""

import numpy as np

from tapegrad.arrays.kernel import fallback, kernel_of
from tapegrad.arrays.namespaces import elements
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Dim, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.memory_format import axes_of_strides
from tapegrad.core.result_order import laid_out, row_major
from tapegrad.core.shape import axis_of, broadcast
from tapegrad.core.storage import row_major as row_major_strides
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import check_apart, check_out
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.indexing.index_check import (
    INT32_OR_INT64,
    bounds_error,
    check_index_dtype,
    check_range,
)
from tapegrad.operators.indexing.take_put import take_flat, take_flat_rule
from tapegrad.operators.shape.expand_broadcast import expand
from tapegrad.operators.shape.reshape_flatten_atleast import reshape


def _indexed_order(result: Any, operands: list, params: dict) -> Any:
    """The axes that are left by their strides; those of the index arrays as in these."""
    x, index = operands
    if x.flags.c_contiguous or result.ndim < 2 or not result.size:
        return row_major(result, operands)
    axes = params["axes"]
    first = index if len(axes) == 1 else index[0]
    left = [step for axis, step in enumerate(x.strides) if axis not in axes]
    place = axes[0] if axes[-1] - axes[0] == len(axes) - 1 else 0
    own = (*left[:place], *(0,) * first.ndim, *left[place:])
    among = (*(0,) * place, *row_major_strides(first.shape), *(0,) * (len(left) - place))
    return laid_out(result, axes_of_strides(result.shape, [own, among]))


@vjp(x=lambda xp, g, x_like, index, axes: xp.add_at(g, x_like.shape, index, axes))
@linear(
    node="IndexBackward0", hidden=("index",), kernels=("read_at", "add_at"), order=_indexed_order
)
def index_at(xp, x, index, *, axes):
    """The elements of `x` at index arrays on `axes`: one array, or one for each along its first.

    Where the axes are apart the indexed axes come first, as in NumPy.
    """
    return xp.read_at(x, index, axes)


@vjp(x=lambda xp, g, index, axes: xp.read_at(g, index, axes))
@linear(node="IndexPutBackward1", hidden=("index",), kernels=("read_at", "add_at"))
def add_at(xp, x, index, *, shape, axes):
    """Zeros of `shape` with `x` added up at index arrays on `axes`."""
    return xp.add_at(x, shape, index, axes)


@vjp(x=lambda xp, g, x_like, mask: xp.spread_mask(g, x_like.shape, mask))
@linear(node="IndexBackward0", hidden=("mask",), kernels=("spread_mask",))
def index_mask(xp, x, mask):
    """The elements of `x` where `mask`, which may have fewer axes, is true."""
    return x[mask]


@vjp(x=lambda g, mask: g[mask])
@linear(node="MaskedScatterBackward1", hidden=("mask",), kernels=("spread_mask",))
def spread_mask(xp, x, mask, *, shape):
    """Zeros of `shape` with `x` where `mask` is true."""
    return xp.spread_mask(x, shape, mask)


@vjp(x=lambda xp, g, x_like, index, axis: xp.add_at(g, x_like.shape, index, (axis,)))
@linear(
    node="IndexSelectBackward0", hidden=("index",), kernels=("read_at", "add_at"), order=row_major
)
def select_slices(xp, x, index, *, axis):
    """The slices of `axis` that `index` names."""
    return xp.read_at(x, index, (axis,))


@fallback("gather_along")  # the standard's function wants equal sizes elsewhere
def _gather_along(xp, x, index, axis):
    return xp.take_along_axis(x, index, axis=axis)


@vjp(x=lambda xp, g, x_like, index, axis: xp.add_along(g, x_like.shape, index, axis))
@linear(
    node="GatherBackward0",
    hidden=("index",),
    kernels=("gather_along", "add_along"),
    order=row_major,
)
def gather_along(xp, x, index, *, axis):
    """For each element of `index` the element of `x` that has its place, but for `axis`."""
    return kernel_of(xp, "gather_along")(x, index, axis)


@vjp(x=take_flat_rule)
@linear(node="GatherBackward0", hidden=("index",), kernels=("read_at", "add_at"))
def gather_flat(xp, x, index):
    """The same where an operand has no dimension, or there is nothing to read."""
    return take_flat.on_arrays(xp, x, index)


@vjp(x=lambda xp, g, index, axis: xp.gather_along(g, index, axis))
@linear(node="ScatterAddBackward0", hidden=("index",), kernels=("gather_along", "add_along"))
def add_along(xp, x, index, *, shape, axis):
    """Zeros of `shape` with `x` added up at the places that `gather_along` reads."""
    return xp.add_along(x, shape, index, axis)


# --- public --------------------------------------------------------------------------------------


def _out_of_range(wrong: int, n: int, axis: int, array: Any) -> Exception:
    if array.ndim < 2 or (axis != 1 and array.size):
        return IndexError("index out of range in self")
    if not n:
        return RuntimeError("index_select(): self indexing axis dim should be positive")
    return RuntimeError(f"INDICES element is out of DATA bounds, id={wrong} axis_dim={n}")


@require_tensors
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Out = None) -> Any:
    """The slices of a dimension that `index` names, in its order.

    Shapes: index (k,); the result has the input's with k at `dim`.
    Raises: IndexError for an index of two or more dimensions.

    >>> torch.tensor([[1, 2], [3, 4]]).index_select(0, torch.tensor([1, 1]))
    tensor([[3, 4],
            [3, 4]])
    """
    ndim = input._array.ndim
    errors.need_tensor("index_select", "index", 3, index)
    check_apart(out, input, index)
    axis = axis_of(dim, ndim)
    if index._array.ndim > 1:
        text = "index_select(): Index is supposed to be a vector"
        raise errors.index_error(text, "x[index] takes an index of any shape.")
    check_index_dtype(
        index, "index_select(): Expected dtype int32 or int64 for index", INT32_OR_INT64
    )
    n = input._array.shape[axis] if ndim else 1
    if not ndim and index._array.size != 1:
        raise errors.runtime_error(
            "index_select(): Index to scalar can have only 1 value, got "
            f"{index._array.size} value(s)",
            "Give the tensor a dimension first: reshape(1).",
        )
    check_range(index, n, lambda wrong: _out_of_range(wrong, n, axis, input._array))
    if not ndim:
        return finish("index_select", reshape(take_flat(input, reshape(index, ())), ()), out)
    index = reshape(index, (1,)) if not index._array.ndim else index
    return finish("index_select", select_slices(input, index, axis=axis), out)


@require_tensors
def gather(
    input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Out = None
) -> Any:
    """For each element of `index` the element that has its place, but for `dim`.

    Of a matrix: `y[i, j] = input[index[i, j], j]` for dim 0, `input[i, index[i, j]]` for dim 1.

    Shape: that of `index`, which is no larger than the input but along `dim`.
    Raises: RuntimeError where the index has other dimensions or is larger.

    >>> torch.tensor([[1, 2], [3, 4]]).gather(1, torch.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """
    shape = input._array.shape
    axis = axis_of(dim, len(shape))
    errors.need_tensor("gather", "index", 3, index)
    check_apart(out, input)
    check_out(out, index)
    where = index._array.shape
    if not index._array.size:
        index = index if index._array.dtype.kind == "i" else tensor_base.wrap(np.empty(where, int))
        return finish("gather", gather_flat(input, index), out)
    check_index_dtype(index, "gather(): Expected dtype int32/int64 for index", INT32_OR_INT64)
    if max(len(where), 1) != max(len(shape), 1):
        text = "Index tensor must have the same number of dimensions as input tensor"
        raise errors.runtime_error(text, f"They have {len(where)} and {len(shape)}.")
    n = shape[axis] if shape else 1
    for i, (m, limit) in enumerate(zip(where, shape or (1,), strict=False)):
        if i != axis and m > limit:
            raise errors.runtime_error(
                f"Size does not match at dimension {i} expected index {list(where)} to be no "
                f"larger than self {list(shape)} apart from dimension {axis}",
                "Each element of the index needs an element with its place.",
            )
    check_range(index, n, lambda wrong: bounds_error(wrong, axis, n))
    if not shape:
        return finish("gather", gather_flat(input, index), out)
    if not where:
        return finish("gather", gather_flat(input, index), out)
    return finish("gather", gather_along(input, index, axis=axis), out)


@require_tensors
def take_along_dim(input: Tensor, indices: Tensor, dim: Dim = None, *, out: Out = None) -> Any:
    """`gather` with broadcasting; without `dim`, from the elements in row-major order.

    Shapes: any that broadcast but for `dim`, where the result has that of the indices.
    Raises: RuntimeError where the numbers of dimensions differ.

    >>> x = torch.tensor([[3, 1], [2, 4]])
    >>> x.take_along_dim(x.argsort(1), 1)
    tensor([[1, 3],
            [2, 4]])
    """
    check_apart(out, input)
    check_out(out, indices)
    if dim is None:
        flat, where = input.view(-1), indices.view(-1)
        return finish("take_along_dim", gather(flat, 0, where), out)
    a, b = input._array.shape, indices._array.shape
    if len(a) != len(b):
        raise errors.runtime_error(
            "torch.take_along_dim(): input and indices should have the same number of "
            f"dimensions, but got {len(a)} dimensions for input, and {len(b)} dimensions for "
            "indices",
            "unsqueeze() adds a dimension.",
        )
    kind = indices.dtype.scalar_name
    check_index_dtype(
        indices, f"torch.take_along_dim(): dtype of indices should be Long but got {kind}"
    )
    axis = axis_of(dim, len(a))
    rest = tuple([1 if i == axis else n for i, n in enumerate(a)])
    other = tuple([1 if i == axis else n for i, n in enumerate(b)])
    wide = broadcast(rest, other)
    if a:
        input = expand(input, [*wide[:axis], a[axis], *wide[axis + 1 :]])
        indices = expand(indices, [*wide[:axis], b[axis], *wide[axis + 1 :]])
    return finish("take_along_dim", gather(input, axis, _wrapped(indices, input, axis)), out)


def _wrapped(index: Tensor, x: Tensor, axis: int) -> Any:
    """Indices of any size, counted around the end of the axis."""
    n = x._array.shape[axis] if x._array.ndim else 1
    array = index._array
    values = elements(array)
    if not values.size or (values.min() >= 0 and values.max() < n):
        return index
    return tensor_base.wrap(array % n)


__all__ = ["gather", "index_select", "take_along_dim"]
