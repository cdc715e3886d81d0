"""Slices: views of a part of one axis, and what they need in reverse."""

import operator

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending, require_tensors
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape.reshape_flatten_atleast import copied

_BEFORE = tuple([(slice(None),) * axis for axis in range(8)])


def _along(axis: int, key: object) -> tuple:
    """The index that reads `key` on `axis`; the ellipsis keeps a number an array."""
    before = _BEFORE[axis] if axis < 8 else (slice(None),) * axis
    return (*before, key, Ellipsis)


# --- parts of an axis, and zeros around them -------------------------------------------------


@vjp(x=lambda xp, g, x_like, axis, index: xp.pad_select(g, x_like.shape, axis, index))
@linear(node="SelectBackward0", view=True, kernels=("pad_select",))
def select_index(xp, x, *, axis, index):
    """The slice at `index` of `axis`, without that axis."""
    return x[_along(axis, index)]


@vjp(
    x=lambda xp, g, x_like, axis, start, stop, step: xp.pad_slice(
        g, x_like.shape, axis, start, stop, step
    )
)
@linear(node="SliceBackward0", view=True, kernels=("pad_slice",))
def slice_axis(xp, x, *, axis, start, stop, step):
    """The elements start, start + step, ... below stop of `axis`."""
    return x[_along(axis, slice(start, stop, step))]


@vjp(x=lambda g, axis, index: g[_along(axis, index)])
@linear(node="SelectBackwardBackward0", kernels=("pad_select",))
def pad_select(xp, x, *, shape, axis, index):
    """Zeros of `shape` with `x` at `index` of `axis`."""
    return xp.pad_select(x, shape, axis, index)


@vjp(x=lambda g, axis, start, stop, step: g[_along(axis, slice(start, stop, step))])
@linear(node="SliceBackwardBackward0", kernels=("pad_slice",))
def pad_slice(xp, x, *, shape, axis, start, stop, step):
    """Zeros of `shape` with `x` in the places start, start + step, ... of `axis`."""
    return xp.pad_slice(x, shape, axis, start, stop, step)


# --- public ----------------------------------------------------------------------------------


@mending
def select(
    input: Tensor = MISSING, dim: int = MISSING, index: int = MISSING, *extra: Any, **names: Any
) -> Any:
    """The slice at `index` of dimension `dim`, without that dimension.

    Shape: the input's without `dim`.
    Raises: IndexError for a 0-d tensor, or an index out of range.

    >>> torch.tensor([[1, 2], [3, 4]]).select(1, 0)
    tensor([1, 3])
    """
    try:
        if extra or names:
            raise TypeError("select() was given other arguments")
        shape = input._array.shape
        if not shape:
            text = "select() cannot be applied to a 0-dim tensor."
            raise errors.index_error(text, "A 0-d tensor has one element: item() gives it.")
        axis = axis_of(dim, len(shape))
        i = operator.index(index)
        n = shape[axis]
        if not -n <= i < n:
            raise errors.index_error(
                f"select(): index {i} out of range for tensor of size {list(shape)} at "
                f"dimension {axis}",
                f"Indices go from {-n} to {n - 1}.",
            )
        return select_index(input, axis=axis, index=i + n if i < 0 else i)
    except Exception as error:
        return mended(select, error, (input, dim, index, *extra), names)


@require_tensors
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Any:
    """`length` elements of dimension `dim`, from `start` on.

    Shape: the input's with `length` at `dim`.
    Raises: RuntimeError for a 0-d tensor or a part that leaves it; IndexError for its start.

    >>> torch.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    shape = input._array.shape
    array = getattr(start, "_array", None)
    if array is not None and (array.ndim or array.dtype.kind not in "iu"):
        raise errors.runtime_error("start must be an 0-dim integral Tensor.", "Pass an int.")
    if not shape:
        text = "narrow() cannot be applied to a 0-dim tensor."
        raise errors.runtime_error(text, "A 0-d tensor has one element: item() gives it.")
    if length < 0:
        text = "narrow(): length must be non-negative."
        raise errors.runtime_error(text, f"The length is {length}.")
    start = int(start if array is None else array)
    axis = axis_of(dim, len(shape))
    n = shape[axis]
    if not -n <= start <= n:
        text = f"start out of range (expected to be in range of [{-n}, {n}], but got {start})"
        raise errors.index_error(text, f"Dimension {axis} has {n} elements.")
    start = start + n if start < 0 else start
    if start + length > n:
        text = f"start ({start}) + length ({length}) exceeds dimension size ({n})."
        raise errors.runtime_error(text, f"Dimension {axis} has {n} elements.")
    return slice_axis(input, axis=axis, start=start, stop=start + length, step=1)


@vjp(x=lambda xp, g, x_like, axis, start, stop: xp.pad_slice(g, x_like.shape, axis, start, stop, 1))
@linear(node="NarrowCopyBackward0", kernels=("pad_slice",))
def copy_slice(xp, x, *, axis, start, stop):
    """A copy of the elements from `start` to below `stop` of `axis`."""
    return copied(xp, x[_along(axis, slice(start, stop))], "C")


@require_tensors
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Any:
    """A copy of `length` elements of dimension `dim`, from `start` on.

    Shape: the input's with `length` at `dim`.
    Raises: RuntimeError for a part that leaves the dimension.

    >>> torch.narrow_copy(torch.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    shape = input._array.shape
    if shape and dim >= len(shape):
        condition = "dim < static_cast<int64_t>(self_sizes.size())"
        raise errors.unmet(condition, f"The tensor has {len(shape)} dimensions.")
    if shape and length < 0:
        n = shape[axis_of(dim, len(shape))]
        if not -n <= start <= n:
            raise errors.index_error(
                f"start out of range (expected to be in range of [{-n}, {n}], but got {start})",
                f"The dimension has {n} elements.",
            )
        raise errors.runtime_error(
            f"start ({start % n if start < 0 else start}) + length ({length}) exceeds dimension "
            f"size ({n}).",
            "A length is not negative.",
        )
    part = narrow(input.detach(), dim, start, length)
    axis = axis_of(dim, input._array.ndim)
    start = int(start) % max(input._array.shape[axis], 1) if start < 0 else int(start)
    return copy_slice(input, axis=axis, start=start, stop=start + part._array.shape[axis])


__all__ = ["narrow", "narrow_copy", "select"]
