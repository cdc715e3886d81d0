"""One tensor divided into several views along a dimension."""

import operator

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.overridable import overridable
from tapegrad.core.result_order import as_computed
from tapegrad.core.shape import axis_of, ints_of, no_dimensions
from tapegrad.dispatch.op import linear, vjp


def _parts(x: Any, axis: int, sizes: Any) -> list:
    found = []
    start = 0
    before = (slice(None),) * axis
    for n in sizes:
        found.append(x[(*before, slice(start, start + n), Ellipsis)])
        start += n
    return found


def _equal_sizes(n: int, size: int) -> list[int]:
    return [0] if not size else [min(size, n - i) for i in range(0, n, size)] or [0]


@vjp(x=lambda xp, g, axis: xp.stack(g, axis=axis))
@linear(node="UnbindBackward0", outputs="many", view=True)
def unbind_axis(xp, x, *, axis):
    """The slices along `axis`, without that axis."""
    before = (slice(None),) * axis
    return [x[(*before, i, Ellipsis)] for i in range(x.shape[axis])]


@vjp(x=lambda xp, g, axis: xp.concat(g, axis=axis))
@linear(node="SplitBackward0", outputs="many", view=True)
def split_equal(xp, x, *, axis, size):
    """Parts of `size` along `axis`, the last one smaller where it must be."""
    return _parts(x, axis, _equal_sizes(x.shape[axis], size))


@vjp(x=lambda xp, g, axis: xp.concat(g, axis=axis))
@linear(node="SplitWithSizesBackward0", outputs="many", view=True)
def split_by_sizes(xp, x, *, axis, sizes):
    """Parts of the given sizes along `axis`."""
    return _parts(x, axis, sizes)


@vjp(x=lambda xp, g, axis: xp.concat(g, axis=axis))
@linear(node="UnsafeSplitBackward0", outputs="many", order=as_computed)
def split_untracked(xp, x, *, axis, size):
    """Parts of `size` along `axis` that do not count as views of it."""
    return _parts(x, axis, _equal_sizes(x.shape[axis], size))


# --- public ----------------------------------------------------------------------------------


@require_tensors
def unbind(input: Tensor, dim: int = 0) -> tuple:
    """The slices along `dim`, without that dimension.

    Shapes: each the input's without `dim`.
    Raises: IndexError for a 0-d tensor.

    >>> torch.tensor([[1, 2], [3, 4]]).unbind()
    (tensor([1, 2]), tensor([3, 4]))
    """
    shape = input._array.shape
    if not shape:
        raise no_dimensions(0, "A 0-d tensor has one element: item() gives it.")
    axis = axis_of(dim, len(shape))
    return unbind_axis(input, axis=axis) if shape[axis] else ()


def _splittable(name: str, input: Tensor, dim: int) -> int:
    if not input._array.ndim:
        text = f"{name} expects at least a 1-dimensional tensor"
        raise errors.runtime_error(text, "Give it a dimension first: reshape(1).")
    return axis_of(dim, input._array.ndim)


@overridable
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple:
    """Parts of one size along `dim`, the last one smaller where it must be, or of given sizes.

    Shapes: the input's with the size of the part at `dim`.
    Raises: RuntimeError for a negative size, or 0 where there are elements.

    >>> torch.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    size = split_size_or_sections
    if not hasattr(size, "__index__"):
        return split_with_sizes(tensor, size, dim)
    size = operator.index(size)
    if size < 0 and tensor._array.ndim:
        text = f"split expects split_size be non-negative, but got split_size={size}"
        raise errors.runtime_error(text, "Give the size of a part.")
    axis = _splittable("split", tensor, dim)
    n = tensor._array.shape[axis]
    if not size and n:
        text = f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
        raise errors.runtime_error(text, "Give the size of a part.")
    return split_equal(tensor, axis=axis, size=size)


@require_tensors
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple:
    """Parts of the given sizes along `dim`.

    Shapes: the input's with one of `split_sizes` at `dim`.
    Raises: RuntimeError for negative sizes, or where they do not sum to that of `dim`.

    >>> torch.split_with_sizes(torch.arange(5), (1, 4))
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    if not isinstance(split_sizes, (tuple, list)):
        what = ("split_with_sizes", "split_sizes", 2, "tuple of ints")
        advice = "Give the sizes of the parts, or one size for all."
        raise errors.must_be(*what, split_sizes, advice)
    sizes = ints_of("split_with_sizes", "split_sizes", (split_sizes,), 2)
    axis = _splittable("split", input, dim)
    n = input._array.shape[axis]
    if any(size < 0 for size in sizes):
        raise errors.runtime_error(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sizes)}",
            "Sizes are not negative.",
        )
    if sum(sizes) != n:
        raise errors.runtime_error(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size "
            f"at dimension {dim}), but got split_sizes={list(sizes)}",
            f"They sum to {sum(sizes)}.",
        )
    return split_by_sizes(input, axis=axis, sizes=sizes) if sizes else ()


@require_tensors
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple:
    """At most `chunks` parts of equal size along `dim`, the last one smaller where it must be.

    Shapes: the input's, with ceil(size / chunks) or fewer along `dim`.
    Raises: RuntimeError where `chunks` is not positive.

    >>> torch.arange(5).chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if chunks <= 0 and input._array.ndim:
        text = f"chunk expects `chunks` to be greater than 0, got: {chunks}"
        raise errors.runtime_error(text, "Say into how many parts.")
    axis = _splittable("chunk", input, dim)
    n = input._array.shape[axis]
    if not n:
        return split_by_sizes(input, axis=axis, sizes=(0,) * chunks)
    return split_equal(input, axis=axis, size=-(-n // chunks))


@require_tensors
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple:
    """`split`, but what is written in place into a part has no place in the others' history.

    Shapes: those of `split`.

    >>> torch.unsafe_split(torch.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    split(input.detach(), split_size, dim)
    return split_untracked(input, axis=axis_of(dim, input._array.ndim), size=split_size)


@require_tensors
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple:
    """`chunk`, but what is written in place into a part has no place in the others' history.

    Shapes: those of `chunk`.

    >>> torch.unsafe_chunk(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    parts = chunk(input.detach(), chunks, dim)
    axis = axis_of(dim, input._array.ndim)
    if not input._array.shape[axis]:
        from tapegrad.operators.nn.native import unsafe_split_with_sizes

        return unsafe_split_with_sizes(input, [0] * max(len(parts), chunks), axis)
    size = -(-input._array.shape[axis] // chunks)
    return split_untracked(input, axis=axis, size=size)


__all__ = ["chunk", "split", "split_with_sizes", "unbind", "unsafe_chunk", "unsafe_split"]
