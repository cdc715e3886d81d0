"""Scattering: values written, or reduced, at the places that `gather` reads."""

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import row_major
from tapegrad.core.scalar import fitted
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import check_apart, check_out, in_place
from tapegrad.dispatch.op import jvp, linear, primitive, vjp
from tapegrad.operators.indexing.index_check import (
    INT32_OR_INT64,
    bounds_error,
    check_index_dtype,
    check_range,
)

_KERNELS = ("gather_along", "scatter_along")


def gathered(xp: Namespace, g: Array, shape: tuple, index: Array, axis: int) -> Any:
    """The cotangent of values that were scattered; those beyond the index get none."""
    g = xp.gather_along(g, index, axis)
    for i, n in enumerate(shape):
        if g.shape[i] != n:
            wide = (*g.shape[:i], n, *g.shape[i + 1 :])
            g = xp.pad_slice(g, wide, i, 0, g.shape[i], 1)
    return g


def unwritten(xp: Namespace, g: Array, index: Array, axis: int) -> Any:
    return xp.scatter_along(g, index, xp.zeros((), dtype=g.dtype), axis, "write")


@vjp(
    x=unwritten,
    values=lambda xp, g, values_like, index, axis: gathered(xp, g, values_like.shape, index, axis),
)
@linear(node="ScatterBackward0", hidden=("index",), kernels=_KERNELS, order=row_major)
def scatter_values(xp, x, values, index, *, axis):
    """`x` with `values` written."""
    return xp.scatter_along(x, index, values, axis, "write")


@jvp(x=lambda xp, t, index, axis: unwritten(xp, t, index, axis))
@vjp(x=unwritten)
@primitive(node="ScatterBackward1", hidden=("index",), kernels=_KERNELS, order=row_major)
def scatter_number(xp, x, index, *, axis, value):
    """`x` with the number `value` written."""
    return xp.scatter_along(x, index, xp.asarray(value, dtype=x.dtype), axis, "write")


@vjp(
    x=lambda g: g,
    values=lambda xp, g, values_like, index, axis: gathered(xp, g, values_like.shape, index, axis),
)
@linear(node="ScatterAddBackward0", hidden=("index",), kernels=_KERNELS, order=row_major)
def scatter_sum(xp, x, values, index, *, axis):
    """`x` with `values` added."""
    return xp.scatter_along(x, index, values, axis, "add")


# --- public --------------------------------------------------------------------------------------


def checked(name: str, input: Tensor, dim: int, index: Tensor, src: Any) -> int:
    """The axis of a call that fits together."""
    shape = input._array.shape
    axis = axis_of(dim, len(shape))
    if not index._array.size:  # it may be of any dtype
        return axis
    check_index_dtype(index, f"{name}(): Expected dtype int32/int64 for index", INT32_OR_INT64)
    if src is not None and src._array.dtype != input._array.dtype:
        text = f"{name}(): Expected self.dtype to be equal to src.dtype"
        raise errors.runtime_error(text, f"Convert the source with .to({input.dtype}).")
    where = index._array.shape
    for other, what in ((shape, "self"), (None if src is None else src._array.shape, "src")):
        if other is not None and max(len(where), 1) != max(len(other), 1):
            text = f"Index tensor must have the same number of dimensions as {what} tensor"
            raise errors.runtime_error(text, f"They have {len(where)} and {len(other)}.")
    wide = where or (1,)
    pairs = enumerate(zip(wide, shape or (1,), strict=True))
    beyond = any(m > n for i, (m, n) in pairs if i != axis)
    if src is not None:
        beyond |= any(m > n for m, n in zip(wide, src._array.shape or (1,), strict=True))
    if beyond:
        more = "" if src is None else f" and to be no larger size than src {list(src._array.shape)}"
        raise errors.runtime_error(
            f"Expected index {list(where)} to be no larger than self {list(shape)} apart from "
            f"dimension {axis}{more}",
            "Each element of the index needs an element with its place.",
        )
    n = (shape or (1,))[axis]
    check_range(index, n, lambda wrong: bounds_error(wrong, axis, n))
    return axis


def as_vectors(input: Tensor, index: Tensor, src: Tensor) -> tuple[Any, Any]:
    """For a vector, an index and a source without dimensions as vectors of one element."""
    if input._array.ndim == 1:
        if not index._array.ndim:
            index = index.reshape(1)
        if src is not None and not src._array.ndim:
            src = src.reshape(1)
    return index, src


def _no_places(input: Tensor) -> Any:
    """An index without elements, whatever its sizes, as one that fits the input."""
    return tensor_base.wrap(np.empty((0,) * max(input._array.ndim, 1), np.int64))


@require_tensors
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | None = None,
    *,
    value: Any = None,
    reduce: str | None = None,
    out: Out = None,
) -> Any:
    """The tensor with `src`, or one number, written at the places that `gather` reads.

    Of a matrix: `y[index[i, j], j] = src[i, j]` for dim 0. With `reduce` "add" or "multiply" the
    source is added to what is there, or multiplied with it.

    Shapes: index no larger than src, nor than the input but along `dim`; result the input's.

    >>> torch.zeros(2, 2).scatter(1, torch.tensor([[1], [0]]), 5)
    tensor([[0., 5.],
            [5., 0.]])
    """
    src = value if src is None else src
    if src is None:
        text = 'scatter() missing 1 required positional arguments: "src"'
        raise errors.type_error(text, "Pass a tensor or a number to write.")
    number = not hasattr(src, "_array")
    errors.need_tensor("scatter", "index", 3, index)
    check_out(out, input)
    check_apart(out, index, src)
    axis = checked("scatter", input, dim, index, None if number else src)
    if not number:
        index, src = as_vectors(input, index, src)
    if reduce is not None:
        return finish("scatter", _scatter_reducing(input, axis, index, src, reduce), out)
    if not index._array.size:
        index = _no_places(input)
        src = src if number else _of_dimensions(src, index)
    if number:
        result = scatter_number(input, index, axis=axis, value=fitted(src, input.dtype))
    else:
        result = scatter_values(input, src, index, axis=axis)
    return finish("scatter", result, out)


def _of_dimensions(src: Any, index: Tensor) -> Any:
    """A source of which nothing is read with as many dimensions as the index."""
    ndim = index._array.ndim
    return src if src._array.ndim == ndim else src.reshape((src.numel(), *(1,) * (ndim - 1)))


def _scatter_reducing(input: Tensor, axis: int, index: Tensor, src: Any, reduce: str) -> Any:
    """`scatter` with `reduce="add"` or `"multiply"`: PyTorch gives them no derivative."""
    if reduce not in ("add", "multiply"):
        text = "reduce argument must be either add or multiply."
        raise errors.runtime_error(text, "scatter_reduce() knows more.")
    if not hasattr(src, "_array"):
        src = np.full(index._array.shape, fitted(src, input.dtype), input._array.dtype)
        src = tensor_base.wrap(src)
    if reduce == "add":
        return scatter_sum(input, src, index, axis=axis)
    from tapegrad.operators.indexing.scatter_reduce import scatter_product, seen

    return scatter_product(input, seen(src, index), index, axis=axis, include=True)


@require_tensors
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Out = None) -> Any:
    """The tensor with `src` added at the places that `gather` reads.

    Of a matrix: `y[index[i, j], j] += src[i, j]` for dim 0.

    Shapes: index no larger than src, nor than the input but along `dim`; result the input's.

    >>> torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 2]), torch.ones(3))
    tensor([2., 0., 1.])
    """
    errors.need_tensor("scatter_add", "index", 3, index)
    errors.need_tensor("scatter_add", "src", 4, src)
    check_out(out, input)
    check_apart(out, index, src)
    axis = checked("scatter", input, dim, index, src)
    index, src = as_vectors(input, index, src)
    if not index._array.size:
        index = _no_places(input)
        src = _of_dimensions(src, index)
    result = scatter_sum(input, src, index, axis=axis)
    return finish("scatter_add", result, out)


scatter_, scatter_add_ = in_place(scatter, apart=True), in_place(scatter_add, apart=True)

__all__ = ["scatter", "scatter_add"]
