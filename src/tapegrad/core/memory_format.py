"""Layouts and memory formats: the order of elements in memory, and the strides it means.

Every tensor here is strided. The other layouts have names, so that code which asks for one gets an
error that says so.
"""

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, DTypeLike


class _Named:
    """One of a fixed set of objects that print as their name."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple:
        return _named, (self.name,)


def _named(name: str) -> Any:
    """The object of that name, for pickle and copy."""
    return globals()[name]


class layout(_Named):
    """How the elements of a tensor are stored.

    >>> torch.ones(2).layout
    torch.strided
    """

    __slots__ = ()


class memory_format(_Named):
    """The order in which the dimensions of a tensor follow each other in memory.

    >>> x = torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    >>> x.stride()
    (60, 1, 15, 3)
    """

    __slots__ = ()


layout.__module__ = memory_format.__module__ = "torch"

strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
sparse_bsr = layout("sparse_bsr")
sparse_bsc = layout("sparse_bsc")
SPARSE_LAYOUTS = frozenset((sparse_coo, sparse_csr, sparse_csc))
"""Those of which there are tensors."""
jagged = layout("jagged")

contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
legacy_contiguous_format = contiguous_format

# The axes from the outermost to the innermost in memory, for tensors of that many dimensions.
_ORDERS: dict[memory_format | None, tuple[int, ...]] = {
    channels_last: (0, 2, 3, 1),
    channels_last_3d: (0, 2, 3, 4, 1),
}


def check_format(function: str, given: object, ndim: int) -> None:
    """Raise unless `given` is a memory format that a tensor of `ndim` dimensions can have."""
    if type(given) is not memory_format:
        raise errors.must_be(function, "memory_format", 0, "torch.memory_format", given)
    order = _ORDERS.get(given)
    if order is not None and len(order) != ndim:
        raise errors.runtime_error(
            f"required rank {len(order)} tensor to use {given.name} format",
            f"This one has {ndim} dimensions.",
        )


def order_of(format: memory_format) -> Any:
    """What `copied` of the array namespace calls a memory format."""
    return "K" if format is preserve_format else _ORDERS.get(format, "C")


def empty(shape: tuple[int, ...], dtype: Any, format: memory_format) -> np.ndarray:
    """An uninitialised array of `shape` whose axes lie in memory as `format` says.

    >>> from tapegrad.core import memory_format as arrangement
    >>> arrangement.empty((2, 3, 4, 5), "f4", torch.channels_last).strides
    (240, 4, 60, 12)
    """
    order = _ORDERS.get(format)
    return np.empty(shape, dtype) if order is None else permuted(shape, dtype, order)


def permuted(shape: tuple[int, ...], dtype: DTypeLike, order: tuple[int, ...]) -> np.ndarray:
    """An uninitialised array whose axes follow each other in memory in `order`."""
    inner = np.empty([shape[axis] for axis in order], dtype)
    return inner.transpose([order.index(axis) for axis in range(len(order))])


def preserved(array: np.ndarray, dtype: Any) -> np.ndarray:
    """An uninitialised array that lies in memory as `array` does, if that has no holes."""
    if array.flags.c_contiguous:
        return np.empty(array.shape, dtype)
    if not is_dense(array):
        return permuted(array.shape, dtype, axes_by_stride(array))
    return np.ndarray(
        array.shape,
        dtype,
        np.empty(array.size, dtype),
        0,
        [s // array.itemsize * np.dtype(dtype).itemsize for s in array.strides],
    )


def axes_by_stride(*arrays: np.ndarray) -> tuple[int, ...]:
    """The axes from the one whose elements are farthest apart to the one where they are closest.

    Of two axes the first array decides that takes a step along both. An axis of stride 0, along
    which there is one element only, stays where it is if it can. Arrays are broadcast.
    """
    if len(arrays) == 1:
        shape = arrays[0].shape
        if arrays[0].flags.c_contiguous:
            return tuple(range(len(shape)))
        operands = [arrays[0].strides]
    else:
        shape = np.broadcast_shapes(*[x.shape for x in arrays])
        operands = [_broadcast_strides(x, shape) for x in arrays]
    return axes_of_strides(shape, operands)


def axes_of_strides(shape: tuple[int, ...], operands: list) -> tuple[int, ...]:
    """What `axes_by_stride` says of operands of one shape, given their strides."""
    axes = list(range(len(shape) - 1, -1, -1))  # the closest first, to be sorted by insertion
    for i in range(1, len(axes)):
        place = i
        for j in range(i - 1, -1, -1):
            order = _compared(axes[j], axes[place], shape, operands)
            if order < 0:
                break
            if order > 0:
                axes[j], axes[place] = axes[place], axes[j]
                place = j
    return tuple(reversed(axes))


def _broadcast_strides(x: np.ndarray, shape: tuple[int, ...]) -> tuple[int, ...]:
    new = len(shape) - x.ndim
    steps = zip(x.shape, shape[new:], x.strides, strict=True)
    return (0,) * new + tuple([s if n == whole else 0 for n, whole, s in steps])


def _compared(a: int, b: int, shape: tuple[int, ...], operands: list) -> int:
    """Whether elements lie closer along axis `a` than along `b`: -1; farther: 1; not known: 0."""
    for strides in operands:
        if strides[a] == 0 or strides[b] == 0:
            continue
        if strides[a] != strides[b]:
            return -1 if strides[a] < strides[b] else 1
        if shape[a] > shape[b]:
            return 1
    return 0


def is_dense(array: np.ndarray) -> bool:
    """Whether the elements of `array` fill a stretch of memory, each place once."""
    expected = array.itemsize
    for step, n in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if step != expected:
            return False
        expected *= n
    return True


def has_format(array: np.ndarray, format: memory_format | None) -> bool:
    """Whether the elements of `array` lie in memory as `format` says."""
    order = _ORDERS.get(format)
    if order is None:
        return array.flags.c_contiguous
    return len(order) == array.ndim and array.transpose(order).flags.c_contiguous


def suggested(array: np.ndarray) -> memory_format:
    """The format that the strides of `array` tell: row by row where they tell several."""
    for format, order in ((channels_last, (1, 3, 2, 0)), (channels_last_3d, (1, 4, 3, 2, 0))):
        least = 0
        if array.ndim != len(order):
            continue
        for axis in order:
            n, step = array.shape[axis], array.strides[axis]
            if not n or step < least or (not axis and least == array.strides[1]):
                return contiguous_format
            least = step * n
        return format
    return contiguous_format


def require_strided(given: object) -> None:
    """Raise unless `given`, a `layout=` argument, is None or `torch.strided`."""
    if given is None or given is strided:
        return
    if type(given) is not layout:
        raise TypeError(f"argument 'layout' must be torch.layout, not {type(given).__name__}")
    raise errors.not_implemented(
        f"tapegrad has no tensors of layout {given}",
        "Leave layout= away: every tensor is torch.strided.",
    )


def span(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """How many elements of storage a tensor with these strides spans; strides count elements."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


__all__ = [
    "channels_last", "channels_last_3d", "contiguous_format", "jagged", "layout",
    "legacy_contiguous_format", "memory_format", "preserve_format", "sparse_bsc", "sparse_bsr",
    "sparse_coo", "sparse_csc", "sparse_csr", "strided",
]  # fmt: skip
