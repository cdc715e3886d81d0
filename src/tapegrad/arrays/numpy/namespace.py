"""The array namespace of the CPU: NumPy under the array standard's names, and our kernels.

Where NumPy's own wrapper costs more than its ufunc (`np.sum` is three times `np.add.reduce`), the
ufunc is called here. Kernels beyond the standard are functions of the families in this folder.
"""

import numpy as np
from numpy import concat, float32, float64

from tapegrad.arrays.float8 import is_float8, to_float8
from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blocks import PRODUCT
from tapegrad.arrays.numpy.kernel_table import KERNELS
from tapegrad.arrays.numpy.memory_pool import SMALLEST
from tapegrad.arrays.numpy.memory_pool import empty as empty_array
from tapegrad.core.annotations import Any, Array, Dim, NativeDType, Sequence
from tapegrad.core.dtype import FLOAT8_IN_USE
from tapegrad.core.lazy import found

_NUMPYS = """
abs acos acosh add arange asarray asin asinh atan atan2 atanh bitwise_and bitwise_invert
bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bool broadcast_arrays ceil
complex64 complex128 copysign cos cosh diff divide e empty empty_like equal exp exp2 expm1 eye
finfo floor floor_divide fmax fmin fmod frexp from_dlpack full full_like gcd greater
greater_equal hypot iinfo imag inf int8 int16 int32 int64 isfinite isinf isnan lcm ldexp less
less_equal linalg linspace log log1p log2 logaddexp logical_and logical_not logical_or
logical_xor meshgrid moveaxis multiply nan negative newaxis nextafter nonzero not_equal ones
ones_like pi positive pow real reciprocal remainder result_type roll round searchsorted
sign signbit sin sinh sqrt square squeeze subtract take tan tanh tensordot tile tril triu trunc
uint8 uint16 uint32 uint64 unique_all unique_counts unique_inverse unique_values zeros zeros_like
"""
"""What NumPy has under the standard's names."""

globals().update({name: getattr(np, name) for name in _NUMPYS.split()})

_SMALL = 4096  # elements: below it a filled array is cheaper than a broadcast view
_LARGE = 1 << 14  # elements: below it NumPy's own sum is as quick as ours


_LETTERS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "fV",  # V: bfloat16, which NumPy's own does not take
    "complex floating": "c",
    "numeric": "iufVc",
}


_F32, _F64 = np.dtype(float32), np.dtype(float64)
_LARGE_PRODUCT = SMALLEST // 4  # elements of a product for which used memory is looked for


def isdtype(dtype: Any, kind: Any) -> Any:
    if type(kind) is str:
        return dtype.kind in _LETTERS[kind]
    if type(kind) is tuple:
        for each in kind:
            if isdtype(dtype, each):
                return True
        return False
    return dtype == kind


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Any:
    first = arrays[0]
    new = (slice(None),) * (axis if axis >= 0 else axis + first.ndim + 1) + (None,)
    for x in arrays:
        if x.shape != first.shape:
            raise ValueError("all input arrays must have the same shape")
    return concat([x[new] for x in arrays], axis=axis)


def unstack(x: Array, /, *, axis: int = 0) -> Any:
    return tuple(np.moveaxis(x, axis, 0))  # as NumPy's own, which is new in 2.1


def matmul(x: Any, y: Any, /) -> Any:
    dtype = x.dtype
    if dtype is _F32 or dtype is _F64:
        if dtype is y.dtype and 1 <= x.ndim <= 2 and 1 <= y.ndim <= 2:
            if x.ndim == y.ndim == 2 and x.size * y.shape[1] >= PRODUCT:
                from tapegrad.arrays.numpy.blas_threads import product

                return product(x, y)
            # the same BLAS call with less around it, and for columns by rows four times as quick
            if x.ndim == y.ndim == 2 and len(x) * y.shape[1] >= _LARGE_PRODUCT:
                shape = (len(x), y.shape[1])
                return np.dot(x, y, empty_array(shape[0] * shape[1], dtype).reshape(shape))
            return np.dot(x, y)
        if dtype is y.dtype and x.ndim > 2 and y.ndim > 2:
            if x.size * y.shape[-1] >= PRODUCT:
                from tapegrad.arrays.numpy.blas_threads import products

                return products(x, y)
    elif dtype.itemsize == 2 and dtype.kind in "fV":  # summed in float32, as in PyTorch
        return np.matmul(x.astype(float32), y.astype(float32)).astype(dtype)
    return np.matmul(x, y)


def add_product(input: Any, a: Any, b: Any, /) -> Any:
    """input + a @ b of matrices, in the memory of the product; `input` broadcasts."""
    y = matmul(a, b)
    y += input
    return y


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: Any = None) -> Any:
    return x.reshape(shape)


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Any:
    return x.transpose(axes)


@kernel(elementwise=True)
def log10(x: Array, /) -> Any:
    """In double precision: NumPy's own of float32 misses the powers of ten by an ulp."""
    if x.dtype == np.float32:
        return np.asarray(np.log10(x, dtype=np.float64)).astype(np.float32)
    return np.log10(x)


@kernel(trailing=True)
def matrix_transpose(x: Array, /) -> Any:
    return x.mT


def expand_dims(x: Array, /, *, axis: int | tuple[int, ...] = 0) -> Any:
    if type(axis) is int and 0 <= axis <= x.ndim:
        return x[(slice(None),) * axis + (None,)]  # a tenth of the time
    return np.expand_dims(x, axis)


def flip(x: Array, /, *, axis: Any = None) -> Any:
    return np.flip(x, axis)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Any:
    # Counts are int64; where NumPy's indices have 32 bits, as in a browser, it takes no larger.
    return np.repeat(x, np.asarray(repeats).astype(np.intp, copy=False), axis)


@kernel(elementwise=True)
def conj(x: Array, /) -> Any:
    return np.conjugate(x)


def astype(x: Array, dtype: NativeDType, /, *, copy: bool | None = True) -> Any:
    """A real result of a complex array drops the imaginary part without a warning."""
    dtype = getattr(dtype, "numpy", dtype)
    if FLOAT8_IN_USE and is_float8(dtype):
        return to_float8(x, dtype)
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        x = x.real
    return x.astype(dtype, "C" if 0 in x.strides else "K", copy=copy)


_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


_summed: list = []


def _total() -> Any:
    """The sum of large arrays, imported when there is one."""
    if not _summed:
        from tapegrad.arrays.numpy.sum_prod import total

        _summed.append(total)
    return _summed[0]


def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    if x.size >= _LARGE and dtype is None and (x.dtype is _F32 or x.dtype is _F64):
        found = _total()(x, axis, keepdims)
        if found is not None:
            return found
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV" and dtype is None:
        from tapegrad.arrays.numpy import sum_prod

        return sum_prod.reduced(np.add, x, axis, keepdims)
    return np.add.reduce(x, axis, dtype, None, keepdims)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Any:
    if x1.size >= _LARGE and x1.ndim == 1 and x1.dtype is x2.dtype and x1.shape == x2.shape:
        if (x1.dtype is _F32 or x1.dtype is _F64) and x1.flags.c_contiguous:
            from tapegrad.arrays.numpy.sum_prod import inner

            return inner(x1, x2)
    return np.vecdot(x1, x2, axis=axis)


def prod(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    if x.size >= _LARGE and axis is None and not keepdims and x.dtype.char in "fd":
        if dtype is None and x.flags.c_contiguous:
            from tapegrad.arrays.numpy.sum_prod import product

            return product(x)
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV" and dtype is None:
        from tapegrad.arrays.numpy import sum_prod

        return sum_prod.reduced(np.multiply, x, axis, keepdims)
    return np.multiply.reduce(x, axis, dtype, None, keepdims)


def cumulative_sum(x: Array, /, *, axis: Dim = None) -> Any:
    return _accumulated(np.add, x, axis)


def cumulative_prod(x: Array, /, *, axis: Dim = None) -> Any:
    return _accumulated(np.multiply, x, axis)


def _accumulated(ufunc: Any, x: Array, axis: Any) -> Any:
    """`ufunc.accumulate` in a wider type where the dtype calls for it, in row-major order."""
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
        from tapegrad.arrays.numpy import sum_prod

        found = sum_prod.accumulated(ufunc, x, axis)
    elif x.dtype is _F32:
        from tapegrad.arrays.numpy import cumsum_cumprod

        found = cumsum_cumprod.accumulated(ufunc, x, axis)
    else:
        found = ufunc.accumulate(x, 0 if axis is None else axis, x.dtype)
    return found if found.flags.c_contiguous else np.ascontiguousarray(found)


def max(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return np.maximum.reduce(x, axis, None, None, keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    return np.minimum.reduce(x, axis, None, None, keepdims)


def all(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return np.logical_and.reduce(x, axis, None, None, keepdims)


def any(x: Array, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    return np.logical_or.reduce(x, axis, None, None, keepdims)


def count_nonzero(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    if axis is None or (type(axis) is tuple and len(axis) == x.ndim):
        return np.full((1,) * x.ndim if keepdims else (), np.count_nonzero(x))
    return np.count_nonzero(x, axis=axis, keepdims=keepdims)


def mean(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    if x.dtype is _F32 or x.dtype is _F64:
        found = sum(x, axis=axis, keepdims=keepdims)
        return found / (x.size // found.size if found.size else 1)
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
        from tapegrad.arrays.numpy import sum_prod

        return sum_prod.mean(x, axis, keepdims)
    return np.mean(x, axis=axis, keepdims=keepdims)


def argmax(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return x.argmax(axis, keepdims=keepdims)


def argmin(x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    return x.argmin(axis, keepdims=keepdims)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: Any = True) -> Any:
    if descending:
        return np.take_along_axis(x, argsort(x, axis=axis, descending=True), axis)
    return np.sort(x, axis=axis, stable=stable)


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: Any = True) -> Any:
    if x.size >= _SMALL:
        from tapegrad.arrays.numpy.argsort import order, sortable

        if sortable(x):
            return order(x, axis, descending)
    if descending:  # stable: sort the reversed array upwards, and read it backwards
        n = x.shape[axis] if x.ndim else 1
        backwards = np.argsort(np.flip(x, axis), axis=axis, stable=stable)
        return n - 1 - np.flip(backwards, axis)  # an array of its own: no negative strides
    return np.argsort(x, axis=axis, stable=stable)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Any:
    if x.ndim == 1 and indices.ndim == 1:
        return x.take(indices.astype(np.intp, copy=False))
    axis = axis if axis >= 0 else axis + x.ndim
    shape, have = x.shape, indices.shape
    if shape[:axis] == have[:axis] and shape[axis + 1 :] == have[axis + 1 :]:
        from tapegrad.arrays.numpy.getitem_setitem import gather_along

        return gather_along(x, indices, axis)
    return np.take_along_axis(x, indices, axis)


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Any:
    """A view, or for a small result a filled array, which is several times cheaper to make."""
    size = 1
    for n in shape:
        size *= n
    if size > _SMALL:
        return np.broadcast_to(x, shape)
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


# --- kernels beyond the standard -------------------------------------------------------------


# --- indices, which are int64 ---

_NARROW = np.dtype(np.intp).itemsize < 8  # as in a browser: NumPy's own are int32 there
_INDICES = (
    "argmax argmin argsort kth_index median_index mode_index nonzero running_extremum top_indices"
).split()


def _widened(function: Any) -> Any:
    """A function of this namespace, its indices in 64 bits."""

    def widened(*args: Any, **options: Any) -> Any:
        made = function(*args, **options)
        if isinstance(made, tuple):
            return tuple([each.astype(np.int64) for each in made])
        return made.astype(np.int64)

    return widened


if _NARROW:

    def take(x: Array, indices: Any, /, *, axis: int | None = None) -> Any:
        return np.take(x, np.asarray(indices).astype(np.intp, copy=False), axis)

    for _name in _INDICES:
        if _name in globals():
            globals()[_name] = _widened(globals()[_name])


def __getattr__(name: str) -> Any:
    """A kernel of a file that is loaded on its first use, or NumPy's package of transforms."""
    function = np.fft if name == "fft" else found(KERNELS, name)
    if function is None:
        raise AttributeError(f"the namespace {__package__} has no {name}")
    if _NARROW and name in _INDICES:
        function = _widened(function)
    globals()[name] = function
    return function
