"""Sizes: the same elements in row-major order, seen with another shape."""

from math import prod

from tapegrad.arrays.kernel import fallback, kernel_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, DTypeLike, MemoryFormat, Namespace, Shape, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending, require_tensors
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.overridable import overridable
from tapegrad.core.result_order import as_computed, as_first, keeping
from tapegrad.core.shape import (
    axis_of,
    inferred,
    ints_of,
    listed,
    missing_argument,
    reshaped_strides,
)
from tapegrad.core.tensor_base import TensorBase
from tapegrad.core.torch_function import overridden
from tapegrad.dispatch.op import linear, vjp


@vjp(x=lambda xp, g, x_like: xp.reshape(g, x_like.shape))
@linear(node="ViewBackward0", view=True)
def view_shape(xp, x, *, shape):
    """The same memory, seen with `shape`."""
    return xp.reshape(x, shape)


@vjp(x=lambda xp, g, x_like: xp.reshape(g, x_like.shape))
@linear(node="ReshapeAliasBackward0", view=True)
def reshape_alias(xp, x, *, shape):
    """The same memory, which is not row-major, seen with `shape`."""
    return xp.reshape(x, shape)


@vjp(x=lambda xp, g, x_like: xp.reshape(g, x_like.shape))
@linear(node="UnsafeViewBackward0", order=as_computed)
def unsafe_view(xp, x, *, shape):
    """A fresh tensor, seen with `shape`: nobody else holds its memory, so it is no view."""
    return xp.reshape(x, shape)


@fallback("copied")
def _copied(xp: Namespace, x: Array, order: str) -> Any:
    return xp.asarray(x, copy=True)


def copied(xp: Namespace, x: Array, order: str) -> Any:
    """A copy, laid out in memory as `x` is ("K") or in row-major order ("C"), where xp can say."""
    return kernel_of(xp, "copied")(x, order)


@keeping
def _copy_order(result: Any, operands: list, params: dict) -> Any:
    return as_first(result, operands) if params.get("order", "K") == "K" else result


@vjp(x=lambda g: g)
@linear(order=_copy_order)
def clone(xp, x, *, order="K"):
    """A copy, laid out in memory as `x` is ("K") or in row-major order ("C")."""
    return copied(xp, x, order)


def _viewable(array: Any, shape: tuple[int, ...]) -> bool:
    flags = getattr(array, "flags", None)
    if flags is None or flags.c_contiguous:
        return True
    return reshaped_strides(array.shape, array.strides, shape) is not None


def view(input: Tensor, *shape: Shape, size: Shape | None = None, dtype: DTypeLike = None) -> Any:
    """The same memory seen with another shape, or as elements of another dtype.

    >>> torch.arange(6).view(2, -1).shape
    torch.Size([2, 3])
    """
    if size is not None:
        shape = listed("view", "size", size)
    elif dtype is not None or (len(shape) == 1 and isinstance(shape[0], Dtype)):
        from tapegrad.operators.shape.as_strided import view_dtype

        return view_dtype(input, dtype or shape[0])
    if not shape:
        raise errors.type_error(
            "view() received an invalid combination of arguments - got (), but expected "
            "one of:\n * (torch.dtype dtype)\n * (tuple of ints size)\n",
            "Pass sizes; view(()) makes a 0-d tensor.",
        )
    array = input._array
    sizes = inferred(ints_of("view", "size", shape), array.size)
    if not _viewable(array, sizes):
        raise errors.runtime_error(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
            "reshape() copies where it must.",
        )
    return view_shape(input, shape=sizes)


@require_tensors
def view_as(input: Any, other: Any) -> Any:
    """The same memory, seen with the shape of `other`.

    >>> torch.arange(4).view_as(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return view(input, other.shape)


@mending
def reshape(input: Tensor = MISSING, shape: Shape = MISSING, *extra: Any, **names: Any) -> Any:
    """The same elements with another shape: a view where the memory allows it, else a copy.

    Shape: the one given, with as many elements; one size may be -1.
    Raises: RuntimeError where the numbers of elements differ.

    >>> torch.reshape(torch.arange(6), (3, -1)).shape
    torch.Size([3, 2])
    """
    if names or extra or not isinstance(shape, (tuple, list)):
        return mended(reshape, None, (input, shape, *extra), names)
    return _reshaped(reshape, input, (shape,))


@mending
def reshape_method(self: Tensor = MISSING, *sizes: Any, shape: Any = None, **names: Any) -> Any:
    """The same elements with another shape, whose sizes are given one by one or in a tuple.

    >>> torch.arange(6).reshape(3, -1).shape
    torch.Size([3, 2])
    """
    if names or self is MISSING:
        given = names if shape is None else names | {"shape": shape}
        return mended(reshape_method, None, (self, *sizes), given)
    if shape is not None:
        sizes = (listed("reshape", "shape", shape),)
    return _reshaped(reshape_method, self, sizes)


reshape_method.__name__ = "reshape"


def _reshaped(public: Any, input: Any, given: tuple) -> Any:
    try:
        array = input._array
    except AttributeError:
        again = overridden(public, (input, *given), above=3)
        if again is not None:
            return again()
        errors.need_tensors("reshape", input=input)
        raise
    if not given:
        raise missing_argument("reshape", "shape")
    found = inferred(ints_of("reshape", "shape", given), array.size)
    flags = getattr(array, "flags", None)
    if flags is None or flags.c_contiguous:
        return view_shape(input, shape=found)
    if reshaped_strides(array.shape, array.strides, found) is not None:
        return reshape_alias(input, shape=found)
    return unsafe_view(clone(input, order="C"), shape=found)


@overridable
def reshape_as(input: Any, other: Any = MISSING, *, x2: Any = MISSING) -> Any:
    """The same elements with the shape of `other`.

    >>> torch.arange(4).reshape_as(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return reshape(input, (x2 if other is MISSING else other).shape)


def contiguous(input: Tensor, memory_format: MemoryFormat = None) -> Any:
    """The tensor itself where it lies in memory in row-major order, else a copy that does."""
    flags = getattr(input._array, "flags", None)
    return input if flags is None or flags.c_contiguous else clone(input, order="C")


@require_tensors
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` to `end_dim`, both included, joined to one.

    Shape: the input's with the product of those sizes in their place; () to (1,).
    Raises: RuntimeError where `start_dim` comes after `end_dim`.

    >>> torch.zeros(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    try:
        shape = input._array.shape
    except AttributeError:
        errors.need_tensors("flatten", input=input)
        raise
    first, last = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    if first > last:
        text = "flatten() has invalid args: start_dim cannot come after end_dim"
        raise errors.runtime_error(text, f"They are dimensions {first} and {last} of {len(shape)}.")
    if not shape:
        return reshape(input, (1,))
    if first == last:
        return input
    return reshape(input, (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]))


@require_tensors
def ravel(input: Tensor) -> Any:
    """The elements in row-major order, in one dimension.

    Shape: any to (number of elements,).

    >>> torch.zeros(2, 3).ravel().shape
    torch.Size([6])
    """
    return view(contiguous(input), -1)


@require_tensors
def unflatten(input: Tensor, dim: int, sizes: Shape) -> Any:
    """The dimension `dim` divided into several; one of `sizes` may be -1.

    Shape: the input's with `sizes`, whose product is the size, at `dim`.
    Raises: RuntimeError where the product differs.

    >>> torch.zeros(2, 12).unflatten(1, (3, -1)).shape
    torch.Size([2, 3, 4])
    """
    shape = input._array.shape
    axis = axis_of(dim, len(shape))
    sizes = listed("unflatten", "sizes", sizes, 3)
    if not sizes:
        raise errors.runtime_error("unflatten: sizes must be non-empty", "Give at least one size.")
    if not shape:
        raise errors.runtime_error(
            "unflatten got an unexpected error:\nDimension specified as 0 but tensor has no "
            "dimensions",
            "reshape() gives a 0-d tensor dimensions of size 1.",
        )
    size = shape[axis]
    if sizes.count(-1) > 1:
        text = "unflatten got an unexpected error:\nonly one dimension can be inferred"
        raise errors.runtime_error(text, "Give all sizes but one.")
    known = prod(n for n in sizes if n != -1)
    if known != size if -1 not in sizes else not known or size % known:
        raise errors.runtime_error(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim "
            f"{axis} ({size}) in the input tensor",
            f"Their product must be {size}.",
        )
    return view(input, (*shape[:axis], *inferred(sizes, size), *shape[axis + 1 :]))


def _raised(name: str, tensors: tuple, one: Any) -> Any:
    """`atleast_nd` of one tensor, of several, or of one sequence of them."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        return tuple(map(one, tensors[0]))
    for x in tensors:
        if not isinstance(x, TensorBase):
            raise errors.type_error(
                f"{name}() received an invalid combination of arguments - got "
                f"({', '.join(type(t).__name__ for t in tensors)}), but expected one of:\n"
                " * (Tensor input)\n * (tuple of Tensors tensors)\n",
                "Make tensors of numbers first: torch.tensor(...).",
            )
    return one(tensors[0]) if len(tensors) == 1 else tuple(map(one, tensors))


@require_tensors
def atleast_1d(*tensors: Tensor) -> Any:
    """A 0-d tensor with one dimension, others as they are.

    Shape: () to (1,); others stay.

    >>> torch.atleast_1d(torch.tensor(1.0))
    tensor([1.])
    """
    return _raised("atleast_1d", tensors, lambda x: x if x.ndim else reshape(x, (1,)))


@require_tensors
def atleast_2d(*tensors: Tensor) -> Any:
    """Dimensions put in front until there are two.

    Shape: () to (1, 1), (n,) to (1, n); others stay.

    >>> torch.atleast_2d(torch.ones(3)).shape
    torch.Size([1, 3])
    """
    from tapegrad.operators.shape.squeeze_unsqueeze import unsqueeze

    def one(x: Tensor) -> Any:
        if not x.ndim:
            return reshape(x, (1, 1))
        return unsqueeze(x, 0) if x.ndim == 1 else x

    return _raised("atleast_2d", tensors, one)


@require_tensors
def atleast_3d(*tensors: Tensor) -> Any:
    """Dimensions added at both ends, last at the end, until there are three.

    Shape: () to (1, 1, 1), (n,) to (1, n, 1), (m, n) to (m, n, 1); others stay.

    >>> torch.atleast_3d(torch.ones(3)).shape
    torch.Size([1, 3, 1])
    """
    from tapegrad.operators.shape.squeeze_unsqueeze import unsqueeze

    def one(x: Tensor) -> Any:
        if not x.ndim:
            return reshape(x, (1, 1, 1))
        if x.ndim == 1:
            x = unsqueeze(x, 0)
        return unsqueeze(x, -1) if x.ndim == 2 else x

    return _raised("atleast_3d", tensors, one)


__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "flatten", "ravel", "reshape", "unflatten"]
