"""Arrays without elements, made; copies, casts and joins of them."""

from typing import Any

import numpy as np

from tapegrad.arrays.kernel import meta_rule
from tapegrad.arrays.meta.pointwise import spread
from tapegrad.core.conj_neg_view import turned
from tapegrad.core.memory_format import axes_by_stride
from tapegrad.core.meta_array import MetaArray, nowhere


def _made(shape: Any, dtype: Any) -> MetaArray:
    shape = (int(shape),) if hasattr(shape, "__index__") else tuple(shape)
    return nowhere(shape, np.float64 if dtype is None else dtype)


@meta_rule
def zeros(shape: Any, dtype: Any = None) -> Any:
    return _made(shape, dtype)


ones = meta_rule(zeros)
empty = meta_rule(zeros)


@meta_rule
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    return _made(shape, np.asarray(fill_value).dtype if dtype is None else dtype)


@meta_rule
def eye(n_rows: int, n_cols: int | None = None, k: int = 0, dtype: Any = None, **_: Any) -> Any:
    return _made((n_rows, n_rows if n_cols is None else n_cols), dtype)


@meta_rule
def arange(start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None) -> Any:
    first, last = (0, start) if stop is None else (start, stop)
    n = max(0, int(np.ceil((last - first) / step)))
    return _made((n,), np.result_type(first, last, step) if dtype is None else dtype)


@meta_rule
def linspace(start: Any, stop: Any, num: int, *, dtype: Any = None, **_: Any) -> Any:
    return _made((num,), dtype)


@meta_rule
def empty_like(x: Any, /, dtype: Any = None, order: str = "K", **_: Any) -> Any:
    axes = None if x.flags.c_contiguous or order == "C" else axes_by_stride(_raw(x))
    return nowhere(x.shape, x.dtype if dtype is None else dtype, axes)


zeros_like = meta_rule(empty_like)
ones_like = meta_rule(empty_like)


@meta_rule
def full_like(x: Any, /, fill_value: Any, dtype: Any = None, **_: Any) -> Any:
    return empty_like(x, dtype)


def _raw(x: Any) -> Any:
    return x.raw if type(x) is MetaArray else x


@meta_rule
def asarray(x: Any, /, *, dtype: Any = None, copy: bool | None = None) -> Any:
    if type(x) is not MetaArray:
        array = np.asarray(x, dtype=dtype)
        if not array.ndim:
            return array  # a number, which an operator may look at
        return nowhere(array.shape, array.dtype)
    if dtype is not None and dtype != x.dtype:
        return x.astype(dtype)
    return x.copy("K") if copy else x


@meta_rule
def astype(x: Any, dtype: Any, /, *, copy: bool | None = True) -> Any:
    dtype = getattr(dtype, "numpy", dtype)
    if x.dtype == dtype and not copy:
        return x
    return empty_like(x, dtype, "C" if 0 in x.strides else "K")


@meta_rule
def copied(x: Any, order: Any) -> Any:
    if type(order) is tuple:
        return nowhere(x.shape, x.dtype, order)
    return empty_like(x, None, "C" if 0 in x.strides else order)


@meta_rule
def reshape(x: Any, /, shape: Any, *, copy: Any = None, **_: Any) -> Any:
    return x.reshape(shape)


@meta_rule
def ravel(x: Any) -> Any:
    return x.ravel()


@meta_rule
def broadcast_to(x: Any, /, shape: Any, **_: Any) -> Any:
    if type(x) is not MetaArray:
        return np.broadcast_to(x, shape)
    return MetaArray(np.broadcast_to(x.raw, tuple(shape), subok=False))


@meta_rule
def concat(arrays: Any, /, axis: int | None = 0, **_: Any) -> Any:
    arrays = list(arrays)
    dtype = np.result_type(*[x.dtype for x in arrays])
    if axis is None:
        return nowhere((sum([x.size for x in arrays]),), dtype)
    first = arrays[0]
    axis %= first.ndim
    for x in arrays:
        rest = [n for i, n in enumerate(x.shape) if i != axis]
        if rest != [n for i, n in enumerate(first.shape) if i != axis]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis "
                "must match exactly"
            )
    size = sum([x.shape[axis] for x in arrays])
    return nowhere((*first.shape[:axis], size, *first.shape[axis + 1 :]), dtype)


@meta_rule
def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    first = arrays[0]
    axis %= first.ndim + 1
    if any([x.shape != first.shape for x in arrays]):
        raise ValueError("all input arrays must have the same shape")
    dtype = np.result_type(*[x.dtype for x in arrays])
    return nowhere((*first.shape[:axis], len(arrays), *first.shape[axis:]), dtype)


@meta_rule
def tile(x: Any, repetitions: Any, /) -> Any:
    times = (repetitions,) if hasattr(repetitions, "__index__") else tuple(repetitions)
    n = max(len(times), x.ndim)
    sizes = (1,) * (n - x.ndim) + x.shape
    times = (1,) * (n - len(times)) + times
    return nowhere(tuple([a * b for a, b in zip(sizes, times, strict=True)]), x.dtype)


@meta_rule
def repeat(x: Any, repeats: Any, /, axis: int | None = None) -> Any:
    if type(repeats) is MetaArray:
        from tapegrad.core import errors

        raise errors.runtime_error(
            "cannot repeat_interleave a meta tensor without output_size",
            "How often each element comes is not known where there are no elements.",
        )
    shape = (x.size,) if axis is None else x.shape
    axis = 0 if axis is None else axis % x.ndim
    counts = np.asarray(repeats)
    size = int(shape[axis] * counts) if counts.size == 1 else int(counts.sum())
    return nowhere((*shape[:axis], size, *shape[axis + 1 :]), x.dtype)


@meta_rule
def meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    sizes = [x.size for x in arrays]
    if indexing == "xy":
        sizes[:2] = sizes[:2][::-1]
    return [nowhere(tuple(sizes), x.dtype) for x in arrays]


@meta_rule
def tril(x: Any, /, *args: Any, **_: Any) -> Any:
    return nowhere(x.shape, x.dtype)


triu = meta_rule(tril)


@meta_rule
def flip(x: Any, /, *args: Any, **_: Any) -> Any:
    return empty_like(x)


@meta_rule
def roll(x: Any, /, *args: Any, **_: Any) -> Any:
    return empty_like(x)


@meta_rule
def conj(x: Any, /) -> Any:
    return spread(np.ones((), x.dtype), [x])


# --- parts and patterns ---------------------------------------------------------------------------


@meta_rule
def pad_select(x: Any, shape: Any, *_: Any) -> Any:
    return nowhere(tuple(shape), x.dtype)


pad_slice = meta_rule(pad_select)
pad_diagonal = meta_rule(pad_select)
sum_windows = meta_rule(pad_select)
sum_strided = meta_rule(pad_select)


@meta_rule
def write_diagonal(x: Any, *_: Any) -> Any:
    return empty_like(x)


@meta_rule
def strided(x: Any, shape: Any, strides: Any, offset: int, own: Any) -> Any:
    from tapegrad.arrays.numpy.as_strided import strided as plain

    item = x.dtype.itemsize
    if any(n > 1 and s != item * o for n, s, o in zip(x.shape, x.strides, own, strict=True)):
        return nowhere(tuple(shape), x.dtype)
    return MetaArray(plain(x.raw, shape, strides, offset, own))


@meta_rule
def conj_view(x: Any) -> Any:
    return turned(x, True, False) if x.dtype.kind == "c" else x[...]


@meta_rule
def neg_view(x: Any) -> Any:
    return turned(x, False, True)


@meta_rule
def real(x: Any, /) -> Any:
    return x.real


@meta_rule
def imag(x: Any, /) -> Any:
    return x.imag
