"""How arrays lie in memory: of values and arrays, which both have a shape, strides and a dtype."""

from math import prod

from tapegrad.core.annotations import Any


def size_of(x: Any) -> int:
    """How many elements."""
    return prod(x.shape)


def n_bytes(x: Any) -> int:
    """The bytes of all elements."""
    return size_of(x) * x.dtype.itemsize


def order_of(x: Any) -> tuple[int, ...]:
    """The axes from the slowest to the fastest."""
    return tuple(sorted(range(len(x.shape)), key=lambda i: (-x.strides[i], -x.shape[i], i)))


def is_dense(x: Any) -> bool:
    """Whether an array fills its memory without gaps, in some order of its axes."""
    if not n_bytes(x) or x.dtype.hasobject:
        return False
    step = x.dtype.itemsize
    for i in reversed(order_of(x)):
        if x.shape[i] > 1 and x.strides[i] != step:
            return False
        step *= x.shape[i]
    return True


def is_row_major(x: Any) -> bool:
    """Whether an array fills its memory without gaps, the last axis the fastest."""
    step = x.dtype.itemsize
    for n, stride in zip(reversed(x.shape), reversed(x.strides), strict=True):
        if n > 1 and stride != step:
            return False
        step *= n
    return True


def are_alike(a: Any, b: Any) -> bool:
    """Whether two arrays have the same shape, strides and dtype."""
    return (a.shape, a.strides, a.dtype) == (b.shape, b.strides, b.dtype)


def are_aligned(a: Any, b: Any) -> bool:
    """Whether the elements of two dense arrays of one shape follow each other in the same order."""
    if a.shape != b.shape or not is_dense(a) or not is_dense(b):
        return False
    size, other = a.dtype.itemsize, b.dtype.itemsize
    return all(
        n == 1 or s * other == t * size
        for n, s, t in zip(a.shape, a.strides, b.strides, strict=True)
    )
