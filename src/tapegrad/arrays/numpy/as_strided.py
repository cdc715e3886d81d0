"""Kernels of views by strides: windows, patterns over the memory, diagonals; and their reverse."""

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array, Shape
from tapegrad.core.memory_format import permuted, span
from tapegrad.core.storage import owner_of


@kernel
def copied(x: Array, order: Any) -> Any:
    """A copy in row-major order ("C"), laid out as `x` is ("K"), or with its axes in `order`."""
    if type(order) is tuple:
        out = permuted(x.shape, x.dtype, order)
        np.copyto(out, x)
        return out
    return x.copy("C" if 0 in x.strides else order)


@kernel
def view_to(x: Array, /, shape: tuple[int, ...]) -> Any:
    """A view of `x` broadcast to `shape`, however small, that can be written part by part."""
    extra = len(shape) - x.ndim
    whole = x[(None,) * extra + (...,)]
    if whole.shape == shape:
        return whole
    strides = [
        s if n == m else 0 for n, m, s in zip(whole.shape, shape, whole.strides, strict=True)
    ]
    return seen_as(whole, shape, strides)


def seen_as(x: Array, shape: Any, strides: Any) -> Any:
    """A view of the memory of `x`, from its first element on, that can be written."""
    if x.flags.c_contiguous and x.dtype.kind != "V" and x.size:
        return np.ndarray(shape, x.dtype, x, 0, strides)  # a fraction of the cost of as_strided
    return as_strided(x, shape, strides)


@kernel
def pad_select(x: Array, shape: Shape, axis: int, index: int) -> Any:
    """Zeros of `shape` with `x` at `index` of `axis`."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * axis + (index,)] = x
    return out


@kernel
def pad_slice(x: Array, shape: Shape, axis: int, start: int, stop: int, step: int) -> Any:
    """Zeros of `shape` with `x` in the places start, start + step, ... below stop of `axis`."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * axis + (slice(start, stop, step),)] = x
    return out


@kernel
def windows(x: Array, axis: int, size: int, step: int) -> Any:
    """Windows of `size` along `axis`, one every `step`, as a view; a number has one window."""
    if not x.ndim:
        return x.reshape((size,)) if size else x.reshape(1)[:0]
    n = (x.shape[axis] - size) // step + 1
    shape = (*x.shape[:axis], n, *x.shape[axis + 1 :], size)
    stride = x.strides[axis]
    strides = (*x.strides[:axis], stride * step, *x.strides[axis + 1 :], stride)
    return seen_as(x, shape, strides)


@kernel
def sum_windows(g: Array, shape: Any, axis: int, size: int, step: int) -> Any:
    """Windows added up where they came from."""
    out = np.zeros(shape, g.dtype)
    if not out.ndim:
        return g.sum().reshape(()) if size else out
    n = g.shape[axis]
    before = (slice(None),) * axis
    if size <= step or step == 1:
        for i in range(size):
            out[(*before, slice(i, i + n * step, step))] += g[..., i]
        return out
    # windows overlap: cut into pieces of `step` elements, those of one place lie side by side
    pieces = -(-size // step)
    windows = np.moveaxis(g, axis, -2)
    line = np.zeros((*windows.shape[:-2], n + pieces - 1, step), g.dtype)
    for i in range(pieces):
        piece = windows[..., i * step : (i + 1) * step]
        line[..., i : i + n, : piece.shape[-1]] += piece
    length = min(shape[axis], line.shape[-2] * step)
    flat = line.reshape(*line.shape[:-2], -1)[..., :length]
    out[(*before, slice(0, length))] = np.moveaxis(flat, -1, axis)
    return out


def _places(shape: Any, strides: Any, offset: int) -> Any:
    """The number of the memory's element behind each element of a pattern."""
    places = np.full(shape, offset, np.intp)
    for axis, (n, stride) in enumerate(zip(shape, strides, strict=True)):
        places += (np.arange(n) * stride).reshape((n,) + (1,) * (len(shape) - axis - 1))
    return places


@kernel
def strided(x: Array, shape: Any, strides: Any, offset: int, own: Any) -> Any:
    """The pattern over the memory of `x`: a view if `x` has the strides `own`, else a copy.

    Places that are no memory of `x` are zero: of a gradient nothing lies there.
    """
    item = x.dtype.itemsize
    if any(
        n > 1 and s != item * o for n, s, o in zip(x.shape, x.strides, own, strict=True)
    ) or not _holds(x, shape, strides, offset):
        memory, start = _spread(x, own, shape, strides, offset)
        return memory[_places(shape, strides, offset - start)]
    if 0 in shape:
        start = x  # the offset may lie anywhere
    elif offset >= 0:
        start = as_strided(x, (offset + 1,), (item,))[offset:]
    else:
        start = as_strided(x, (1 - offset,), (-item,))[-offset:]
    return as_strided(start, shape, tuple([s * item for s in strides]))


def _holds(x: Array, shape: Any, strides: Any, offset: int) -> bool:
    """Whether a pattern that begins `offset` elements behind `x` stays in the memory of `x`."""
    if 0 in shape:
        return True
    low, high = byte_bounds(owner_of(x))
    first = x.__array_interface__["data"][0] + offset * x.itemsize
    return low <= first and first + span(shape, strides) * x.itemsize <= high


def _spread(x: Array, own: Any, shape: Any, strides: Any, offset: int) -> tuple:
    """Memory with `x` laid out by the strides `own`, and where in it the element 0 of `x` is."""
    ends = [offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))]
    ends += [sum((n - 1) * s for n, s in zip(x.shape, own, strict=True)), offset, 0]
    start = min(ends)
    memory = np.zeros(max(ends) - start + 1, x.dtype)
    memory[_places(x.shape, own, -start)] = x
    return memory, start


@kernel
def sum_strided(g: Array, shape: Shape, strides: Shape, offset: int, own: Any) -> Any:
    """Elements of a pattern added up at their places in an array of `shape` with strides `own`.

    Where several elements of that array share a place they share its sum in equal parts.
    """
    places = _places(g.shape, strides, offset)
    mine = _places(shape, own, 0)
    start = min(places.min(initial=0), mine.min(initial=0))
    memory = np.zeros(max(places.max(initial=0), mine.max(initial=0)) - start + 1, g.dtype)
    np.add.at(memory, places - start, g)
    shared = np.bincount((mine - start).ravel(), minlength=memory.size)
    return memory[mine - start] / shared[mine - start].astype(g.real.dtype)


@kernel(trailing=True)
def diagonal_view(x: Array, offset: int) -> Any:
    """The diagonal of the last two axes, as a view that can be written."""
    out = np.diagonal(x, offset, -2, -1)
    if x.flags.writeable:
        out.flags.writeable = True
    return out


@kernel
def pad_diagonal(x: Array, shape: Shape, offset: int) -> Any:
    """Zeros of `shape` with the last axis of `x` on a diagonal of the last two axes."""
    out = np.zeros(shape, x.dtype)
    diagonal_view(out, offset)[...] = x
    return out


@kernel
def write_diagonal(x: Array, values: Array, offset: int) -> Any:
    """A copy of `x` with `values` on a diagonal of the last two axes."""
    out = np.array(x)
    diagonal_view(out, offset)[...] = values
    return out


@kernel(trailing=True)
def as_pairs(x: Array) -> Any:
    """Complex numbers as pairs (real part, imaginary part) along a new last axis: a view."""
    real = np.asarray(x).real  # of a NumPy scalar it would be a copy, without the imaginary part
    return as_strided(real, (*x.shape, 2), (*x.strides, real.dtype.itemsize))


@kernel(trailing=True)
def from_pairs(x: Array) -> Any:
    """Pairs along the last axis as complex numbers: a view."""
    return x.view(np.complex64 if x.dtype == np.float32 else np.complex128)[..., 0]
