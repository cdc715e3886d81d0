"""Views by strides: windows, any pattern over the memory, elements of another dtype."""

import numpy as np

from tapegrad.arrays.namespaces import below_batches, is_batched
from tapegrad.autograd.node import INFERENCE, version_of
from tapegrad.autograd.view import follow_from_base
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Shape, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.conj_neg_view import ConjNegView, memory_of
from tapegrad.core.memory_format import span
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.shape import axis_of, listed
from tapegrad.core.storage import owner_of
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.in_place import in_place_view
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape.reshape_flatten_atleast import copied


@vjp(x=lambda g: g)
@linear(node="AliasBackward0", view=True)
def alias(xp, x):
    """The same tensor under a new name."""
    return xp.reshape(x, x.shape)


@vjp(x=lambda xp, g, x_like, axis, size, step: xp.sum_windows(g, x_like.shape, axis, size, step))
@linear(node="UnfoldBackward0", view=True, kernels=("windows", "sum_windows"))
def windows(xp, x, *, axis, size, step):
    """Windows of `size` along `axis`, one every `step`; what they hold is the last axis."""
    return xp.windows(x, axis, size, step)


@vjp(x=lambda xp, g, axis, size, step: xp.windows(g, axis, size, step))
@linear(node="UnfoldBackwardBackward0", kernels=("windows", "sum_windows"))
def sum_windows(xp, x, *, shape, axis, size, step):
    """Windows added up where they came from: the reverse of `windows`."""
    return xp.sum_windows(x, shape, axis, size, step)


@vjp(
    x=lambda xp, g, x_like, strides, offset, own: xp.sum_strided(
        g, x_like.shape, strides, offset, own
    )
)
@linear(node="AsStridedBackward0", view=True, kernels=("strided", "sum_strided"))
def pattern(xp, x, *, shape, strides, offset, own):
    """Elements of the memory of `x`, whose own strides are `own`, at a pattern of places.

    Strides and offset count elements, the offset from the first element of `x`.
    """
    return xp.strided(x, shape, strides, offset, own)


@vjp(
    x=lambda xp, g, x_like, strides, offset, own: xp.strided(
        copied(xp, g, "C"), x_like.shape, strides, offset, own
    )  # a copy: what lies around `g` in memory is no part of it
)
@linear(kernels=("strided", "sum_strided"))
def sum_pattern(xp, x, *, shape, strides, offset, own):
    """The reverse of `pattern`: elements added up at their places in a tensor of `shape`."""
    return xp.sum_strided(x, shape, strides, offset, own)


@vjp(x=lambda xp, g: xp.from_pairs(copied(xp, g, "C")))
@linear(
    node="ViewAsRealBackward0", view=True, holomorphic=False, kernels=("as_pairs", "from_pairs")
)
def as_pairs(xp, x):
    """Complex numbers as pairs (real part, imaginary part) along a new last axis."""
    return xp.as_pairs(x)


@vjp(x=lambda xp, g: xp.as_pairs(g))
@linear(
    node="ViewAsComplexBackward0", view=True, holomorphic=False, kernels=("as_pairs", "from_pairs")
)
def from_pairs(xp, x):
    """Pairs along the last axis as complex numbers."""
    return xp.from_pairs(x)


# --- public ----------------------------------------------------------------------------------


@require_tensors
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Any:
    """Windows of `size` along a dimension, one every `step`; what they hold is the last dimension.

    >>> torch.arange(4).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """
    shape = input._array.shape
    axis = axis_of(dimension, len(shape))
    n = shape[axis] if shape else 1
    problem = ""
    if size < 0:
        problem = f"size is {size} but must be >= 0"
    elif size > n:
        problem = f"maximum size for tensor at dimension {axis} is {n} but size is {size}"
    elif step <= 0:
        problem = f"step is {step} but must be > 0"
    if problem:
        raise errors.runtime_error(problem, f"Dimension {axis} has {n} elements.")
    return windows(input, axis=axis, size=size, step=step)


@require_tensors
def as_strided(input: Tensor, size: Shape, stride: Any, storage_offset: Any = None) -> Any:
    """A view of the tensor's memory with any sizes and strides.

    Shape: `size`, with as many strides.
    Raises: RuntimeError for a pattern that leaves the memory, or a negative size or stride.

    >>> torch.arange(6).as_strided((2, 2), (1, 3))
    tensor([[0, 3],
            [1, 4]])
    """
    shape = listed("as_strided", "size", size, 2)
    strides = listed("as_strided", "stride", stride, 3)
    array = input._array
    item = array.dtype.itemsize
    start, length = _place(below_batches(array))
    offset = start if storage_offset is None else storage_offset
    problem = ""
    if len(shape) != len(strides):
        problem = "mismatch in length of strides and shape"
    elif any(n < 0 for n in strides):
        problem = (
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(strides)}"
        )
    elif any(n < 0 for n in shape):
        problem = (
            f"Storage size calculation overflowed with sizes={list(shape)} and "
            f"strides={list(strides)}"
        )
    elif is_batched(array):
        problem = _beyond_member(array, shape, strides, start, offset)
    elif offset < 0:
        problem = f"Tensor: invalid storage offset {offset}"
    else:
        need = 1 + offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        if 0 not in shape and need * item >= 2**63:
            raise errors.overflow(shape, strides)
        if 0 not in shape and need > length:
            problem = (
                f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset "
                f"{offset}, and itemsize {item} requiring a storage size of {need * item} are out "
                f"of bounds for storage of size {length * item}"
            )
    if problem:
        raise errors.runtime_error(problem, f"The memory of the tensor has {length} elements.")
    own = tuple([s // item for s in array.strides])
    found = pattern(input, shape=shape, strides=strides, offset=offset - start, own=own)
    if type(found) is tensor_base.Tensor:
        follow_from_base(found, array)
    return found


def _beyond_member(array: Any, shape: Any, strides: Any, start: int, offset: int) -> str:
    """What is wrong with a pattern that leaves the memory of one member of a batch."""
    item = array.dtype.itemsize
    stop = start + span(array.shape, tuple([s // item for s in array.strides]))
    end = offset + span(shape, strides)
    if 0 in shape or (start <= offset and end <= stop):
        return ""
    return (
        f"result = tensor.as_strided({list(shape)}, {list(strides)}, {offset}) can access memory "
        f"outside of `tensor`. `result` can access some memory in range [{offset}, {end}], but "
        f"`tensor` can only access some memory in range [{start}, {stop}]. This is not supported "
        "inside of vmap, please try to rewrite the `as_strided` call as a sequence of PyTorch view "
        "operations"
    )


def _place(array: Any) -> tuple[int, int]:
    """At which element of its memory an array begins, and how many elements that has."""
    array = memory_of(array)
    if type(array) is MetaArray:
        return array.offset // array.itemsize, array.base.nbytes // array.itemsize
    root = owner_of(array)
    item = array.dtype.itemsize
    begin = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return begin // item, root.nbytes // item


as_strided_ = in_place_view(as_strided)


def view_dtype(input: Any, dtype: Any) -> Any:
    """The same memory as elements of another dtype."""
    array = input._array
    native = dtype.numpy
    if type(array) is ConjNegView:
        which = "conjugate view tensors" if array.conj else "tensors with negative bit set"
        raise errors.runtime_error(
            f"torch.Tensor.view is not supported for {which} when converting to a different dtype.",
            "resolve_conj() or resolve_neg() makes a copy.",
        )
    if native.itemsize != array.dtype.itemsize:
        names = f"{input.dtype.scalar_name} as {dtype.scalar_name} (different element sizes)"
        if not array.ndim:
            text = f"self.dim() cannot be 0 to view {names}"
            raise errors.runtime_error(text, "reshape(1) it first.")
        *strides, last = input.stride()
        ratio = native.itemsize // array.dtype.itemsize or 1
        _check_whole("size(-1)", array.shape[-1], ratio, names)
        _check_whole("storage_offset()", input.storage_offset(), ratio, names)
        if last != 1:
            text = f"self.stride(-1) must be 1 to view {names}, but got {last}"
            raise errors.runtime_error(text, "contiguous() makes a copy that is.")
        for i, step in enumerate(strides):
            _check_whole(f"stride({i})", step if array.size else 0, ratio, names)
    result = tensor_base.wrap(_seen_as(array, native))
    result._counter = INFERENCE if input._counter is INFERENCE else version_of(input)
    return result


def _check_whole(what: str, n: int, ratio: int, names: str) -> None:
    if n % ratio:
        text = f"self.{what} must be divisible by {ratio} to view {names}, but got {n}"
        advice = "Choose a smaller dtype, or clone() a part of the tensor that is whole."
        raise errors.runtime_error(text, advice)


def _seen_as(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An array's memory as another dtype; NumPy has no strides where there is no element."""
    if array.size or dtype.itemsize == array.dtype.itemsize:
        return array.view(dtype)
    n = array.shape[-1] * array.dtype.itemsize // dtype.itemsize
    return np.empty((*array.shape[:-1], n), dtype)


@require_tensors
def view_as_real(input: Tensor) -> Any:
    """Complex numbers as pairs (real part, imaginary part) along a new last dimension: a view.

    Shape: (...) to (..., 2).
    Raises: RuntimeError for real numbers.

    >>> torch.view_as_real(torch.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    if not input.dtype.is_complex:
        text = "view_as_real is only supported for complex tensors"
        raise errors.runtime_error(text, "A real tensor is its own real part.")
    if type(input._array) is ConjNegView and input._array.conj:
        raise errors.runtime_error(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate "
            "tensor so you can view it as real, use self.resolve_conj(); however, be warned that "
            "the resulting tensor will NOT alias the original.",
            "torch.view_as_real(x.resolve_conj()) is of a copy.",
        )
    return as_pairs(input)


@autocast
def view_as_complex(input: Tensor) -> Any:
    """Pairs along the last dimension as complex numbers: a view.

    Shape: (..., 2) to (...).
    Raises: RuntimeError for another dtype than float32 and float64, or no pairs next to each other.

    >>> torch.view_as_complex(torch.tensor([[1.0, 2.0]]))
    tensor([1.+2.j])
    """
    array = input._array
    problem = ""
    if array.dtype not in (np.float32, np.float64):
        problem = (
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {input.dtype.scalar_name}"
        )
    elif not array.ndim:
        problem = "Input tensor must have one or more dimensions"
    elif array.shape[-1] != 2:
        problem = "Tensor must have a last dimension of size 2"
    elif array.strides[-1] != array.dtype.itemsize:
        problem = "Tensor must have a last dimension with stride 1"
    elif any(s % (2 * array.dtype.itemsize) for s in array.strides[:-1]):
        problem = "Tensor must have a stride divisible by 2 for all but last dimension"
    if problem:
        raise errors.runtime_error(problem, "torch.complex(real, imag) makes a copy.")
    return from_pairs(input)


__all__ = ["as_strided", "view_as_complex", "view_as_real"]
__torch__ = "as_strided_"
