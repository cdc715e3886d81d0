"""Elements repeated."""

from math import prod

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Dim, Namespace, Shape, Tensor
from tapegrad.core.argument_check import require_tensors, takes_a_tuple
from tapegrad.core.dtype import of
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.shape import axis_of, countable_bytes, ints_of, listed, numbered
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.op import linear, vjp
from tapegrad.dispatch.per_sample import per_sample
from tapegrad.operators.shape.expand_broadcast import expand
from tapegrad.operators.shape.reshape_flatten_atleast import clone, flatten, reshape, view
from tapegrad.operators.shape.squeeze_unsqueeze import unsqueeze


def _untiled(xp: Namespace, g: Array, shape: tuple[int, ...], repeats: tuple[int, ...]) -> Any:
    """The sum of the copies: each axis seen as (copies, size), the copies summed."""
    shape = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    pairs = tuple(n for pair in zip(repeats, shape, strict=True) for n in pair)
    return xp.sum(xp.reshape(g, pairs), axis=tuple(range(0, len(pairs), 2)))


@vjp(
    x=lambda xp, g, x_like, repeats: xp.reshape(
        _untiled(xp, g, x_like.shape, repeats), x_like.shape
    )
)
@linear(node="RepeatBackward0")
def tile_by(xp, x, *, repeats):
    """`x` laid side by side, `repeats[i]` times along axis i."""
    if 0 not in repeats:
        return xp.tile(x, repeats)
    # NumPy would make all copies along the other axes first
    shape = (1,) * (len(repeats) - len(x.shape)) + tuple(x.shape)
    none = xp.tile(x, tuple(min(n, 1) for n in repeats))
    return xp.reshape(none, tuple(n * m for n, m in zip(repeats, shape, strict=True)))


@require_tensors
def repeat(input: Tensor, *counts: Any, repeats: Any = None) -> Any:
    """The tensor laid side by side, `repeats[i]` times along dimension i.

    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    if repeats is None:
        counts = ints_of("repeat", "repeats", counts)
    else:
        counts = listed("repeat", "repeats", repeats)
    shape = input._array.shape
    if len(counts) < len(shape):
        raise errors.runtime_error(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor",
            f"Give {len(shape)} numbers.",
        )
    sizes = [n * m for n, m in zip(counts, (1,) * (len(counts) - len(shape)) + shape, strict=True)]
    negative = next((n for n in sizes if n < 0), None)
    if negative is not None:
        raise errors.negative_size(negative, sizes, "Repeats are not negative.")
    if not 0 < prod(sizes) < 2**50:
        countable_bytes(tuple(sizes), input._array.dtype.itemsize)
    return tile_by(input, repeats=counts)


@takes_a_tuple
def tile(input: Tensor, dims: Shape) -> Any:
    """The tensor laid side by side; too few numbers are filled up with ones in front.

    Shape: each size of the input times its number.

    >>> torch.tile(torch.tensor([[1], [2]]), (2,))
    tensor([[1, 1],
            [2, 2]])
    """
    counts = listed("tile", "dims", dims, 2)
    return repeat(input, (1,) * (input._array.ndim - len(counts)) + counts)


@require_tensors
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: Dim = None, *, output_size: Any = None
) -> Any:
    """Each element, or each slice along `dim`, repeated where it stands.

    Shape: the input's with the sum of the repeats at `dim`; without `dim`, (that,).

    >>> torch.tensor([1, 2]).repeat_interleave(2)
    tensor([1, 1, 2, 2])
    >>> torch.tensor([[1], [2]]).repeat_interleave(torch.tensor([1, 2]), dim=0)
    tensor([[1],
            [2],
            [2]])
    """
    if repeats is None:
        _check_counts(input._array)
        if input._array.ndim != 1:
            text = "repeat_interleave only accept 1D vector as repeat"
            raise errors.runtime_error(text, "Pass the tensor to repeat and the repeats.")
        return wrap(_counted(input._array).astype(input._array.dtype))
    if getattr(repeats, "ndim", 0) > 1:
        text = "repeats must be 0-dim or 1-dim tensor"
        raise errors.runtime_error(text, f"It has {repeats.ndim}.")
    if dim is None:
        input, dim = flatten(input), 0
    axis = axis_of(dim, input._array.ndim)
    if not input._array.ndim:
        input = reshape(input, (1,))
    size = input._array.shape[axis]
    if isinstance(repeats, (tuple, list)):
        repeats = wrap(np.array(repeats, np.int64))
    if not hasattr(repeats, "_array"):
        _check_size(output_size, repeats * size)
        return _evenly(input, repeats, axis)
    return _by_counts(input, repeats, axis, output_size)


@per_sample(name="repeat_interleave.Tensor")
def _by_counts(input: Tensor, repeats: Any, axis: int, output_size: Shape) -> Any:
    """Each slice along an axis as often as `repeats`, a tensor, says."""
    from tapegrad.operators.indexing.gather_index_select import index_select

    size = input._array.shape[axis]
    counts = repeats._array
    if counts.size == 1:
        counts = np.broadcast_to(counts.reshape(1), (size,))
    if counts.size != size:
        raise errors.runtime_error(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({axis}) = {size}",
            "Give one number for each slice.",
        )
    rows = _counted(counts)
    _check_size(output_size, rows.size)
    return index_select(input, axis, wrap(rows))


def _evenly(input: Tensor, repeats: int, axis: int) -> Any:
    if repeats < 0:
        raise errors.runtime_error("Repeats must be non-negative", f"It is {repeats}.")
    shape = list(input._array.shape)
    if prod([n or 1 for n in shape]) * repeats >= 2**63:
        shape[axis] *= repeats
        raise errors.overflow(shape)
    wide = expand(unsqueeze(input, axis + 1), (*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    shape[axis] *= repeats
    return view(clone(wide, order="C"), tuple(shape))


def _check_counts(counts: np.ndarray) -> None:
    if counts.dtype.kind not in "iu" or counts.dtype.itemsize < 4:
        kind = of(counts.dtype).scalar_name
        text = f"\"repeat_interleave_cpu\" not implemented for '{kind}'"
        raise errors.not_implemented(text, "Convert the repeats with .long().")


def _counted(counts: np.ndarray) -> np.ndarray:
    """0 as often as the first number says, 1 as often as the second, and so on."""
    _check_counts(counts)
    if type(counts) is MetaArray:
        raise errors.runtime_error(
            "cannot repeat_interleave a meta tensor without output_size",
            "How often each slice comes is not known where there are no elements.",
        )
    if counts.size and counts.min() < 0:
        raise errors.runtime_error("repeats can not be negative", "Count from zero.")
    total = sum(counts.tolist())
    if total * 8 >= 2**63:  # NumPy would count modulo 2**64
        raise errors.overflow([total])
    try:
        return numbered(counts)
    except MemoryError as error:
        raise errors.beyond_memory(error) from None


def _check_size(expected: Any, size: int) -> None:
    if expected is not None and expected != size:
        text = f"repeat_interleave: Invalid output_size, expected {size} but got {expected}"
        raise errors.runtime_error(text, "Leave output_size away: it is worked out.")


__torch__ = "repeat_interleave tile"
