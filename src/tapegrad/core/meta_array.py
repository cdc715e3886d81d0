"""Meta arrays: shape, dtype and strides of an array whose elements are nowhere.

What stands behind a tensor of the device "meta" is a `MetaArray`. It holds a NumPy array at an
address where there is no memory, which nobody reads: what NumPy's views do with shapes, strides and
offsets is done by NumPy itself, and whatever would read or write elements is a rule of shapes in
`tapegrad.arrays.meta`. A `MetaArray` is no NumPy array, so that what asks for one never gets there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tapegrad.core import errors
from tapegrad.core.device import CPU, META
from tapegrad.core.memory_format import axes_by_stride, is_dense
from tapegrad.core.registration import META_NAMESPACE

_START = 1 << 44 if np.dtype(np.intp).itemsize == 8 else 1 << 29  # never read: any number does


class _Nowhere:
    """So many bytes at an address that is not asked."""

    __slots__ = ("__array_interface__", "__weakref__", "nbytes")

    def __init__(self, nbytes: int):
        self.nbytes = nbytes
        self.__array_interface__ = {
            "version": 3,
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (_START, False),
        }


def nowhere(shape: tuple[int, ...], dtype: Any, order: tuple[int, ...] | None = None) -> MetaArray:
    """A meta array with memory of its own, its axes in memory in `order`, by default as they are.

    >>> from tapegrad.core.meta_array import nowhere
    >>> nowhere((100_000, 100_000), "f4", (1, 0)).strides
    (4, 400000)
    """
    dtype = np.dtype(dtype)
    axes = range(len(shape)) if order is None else order
    steps, step = [0] * len(shape), dtype.itemsize
    for axis in reversed(axes):
        steps[axis] = step
        step *= max(shape[axis], 1)
    return nowhere_strided(shape, dtype, tuple(steps))


def nowhere_strided(shape: Any, dtype: Any, strides: tuple[int, ...]) -> MetaArray:
    """A meta array with memory of its own, of which it has these strides, in bytes."""
    dtype = np.dtype(dtype)
    nbytes = dtype.itemsize
    for n, step in zip(shape, strides, strict=True):
        nbytes = 0 if not n else nbytes + (n - 1) * step if nbytes else 0
    if nbytes >= 2**63:
        raise OverflowError(f"{nbytes} bytes are more than an array can have")
    memory = np.asarray(_Nowhere(nbytes))
    return MetaArray(np.ndarray(tuple(shape), dtype, memory, 0, strides))


def _read(name: str, text: str, advice: str, kind: type = NotImplementedError) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise errors.advised(kind(text), advice)

    method.__name__ = name
    return method


_NO_DATA = "Cannot copy out of meta tensor; no data!"
NO_DATA_ADVICE = (
    "A tensor on the meta device has a shape and no elements: make it with device='cpu'."
)
_NO_NUMPY = (
    "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
    "memory first."
)


def no_data() -> NotImplementedError:
    """Elements were asked for where there are none."""
    return errors.not_implemented(_NO_DATA, NO_DATA_ADVICE)


def _through(name: str) -> Any:
    """A property that is the array's."""
    return property(lambda self: getattr(self.raw, name))


def _named(name: str) -> Any:
    """A method that is the function of the namespace."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(META_NAMESPACE(), name)(self, *args, **kwargs)

    method.__name__ = name
    return method


def _reduction(name: str) -> Any:
    def method(self: Any, axis: Any = None, dtype: Any = None, **kwargs: Any) -> Any:
        kwargs = {"keepdims": kwargs.get("keepdims", False)}
        if dtype is not None:
            kwargs["dtype"] = dtype
        return getattr(META_NAMESPACE(), name)(self, axis=axis, **kwargs)

    method.__name__ = name
    return method


class MetaArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array without elements."""

    __slots__ = ("__weakref__", "raw")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, raw: np.ndarray):
        self.raw = raw

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        return META_NAMESPACE()

    shape, strides, dtype, ndim, size, itemsize, nbytes, flags = map(
        _through, "shape strides dtype ndim size itemsize nbytes flags".split()
    )

    @property
    def base(self) -> Any:
        """What stands for the memory: views of one array have one base."""
        base: Any = self.raw
        while type(base) is not _Nowhere:
            base = base.base
        return base

    @property
    def offset(self) -> int:
        """How many bytes of the memory lie before the first element."""
        return self.raw.__array_interface__["data"][0] - _START if self.size else 0

    def memory(self) -> MetaArray:
        """All of the memory, as bytes."""
        return MetaArray(np.asarray(self.base))

    def strided(self, offset: int, shape: Any, strides: Any) -> MetaArray:
        """Another view of the memory: `offset` and `strides` count bytes."""
        memory = np.asarray(self.base)
        return MetaArray(np.ndarray(tuple(shape), self.dtype, memory, offset, tuple(strides)))

    def __reduce__(self) -> tuple:
        return nowhere_strided, (self.shape, self.dtype, self.strides)

    def __deepcopy__(self, memo: dict) -> MetaArray:
        memory = memo.get(id(self.base))
        if memory is None:
            memory = memo[id(self.base)] = nowhere((self.base.nbytes,), np.uint8)
        return MetaArray(np.ndarray(self.shape, self.dtype, memory.raw, self.offset, self.strides))

    def __len__(self) -> int:
        return len(self.raw)

    def __iter__(self) -> Iterator:
        return iter([self[i] for i in range(len(self))])

    def __repr__(self) -> str:
        return f"MetaArray(shape={self.shape}, dtype={self.dtype}, strides={self.strides})"

    # --- there are no elements ----------------------------------------------------------------

    item = _read(
        "item", "Tensor.item() cannot be called on meta tensors", NO_DATA_ADVICE, RuntimeError
    )
    __bool__ = __int__ = __float__ = __complex__ = __index__ = item
    tolist = tobytes = __dlpack__ = _read("tolist", _NO_DATA, NO_DATA_ADVICE)
    __array__ = _read("__array__", _NO_NUMPY, NO_DATA_ADVICE, TypeError)

    # --- views ----------------------------------------------------------------------------------

    def through(self, view: Callable, *args: Any, **params: Any) -> Any:
        """What a function that reads nothing gives of the array: views of it."""
        return wrapped(view(self.raw, *args, **params))

    @property
    def T(self) -> MetaArray:
        return MetaArray(self.raw.T)

    @property
    def mT(self) -> MetaArray:
        return MetaArray(np.swapaxes(self.raw, -1, -2))

    @property
    def real(self) -> MetaArray:
        return MetaArray(self.raw.real)

    @property
    def imag(self) -> MetaArray:
        if self.dtype.kind == "c":
            return MetaArray(self.raw.imag)
        return nowhere(self.shape, self.dtype)

    def view(self, dtype: Any) -> MetaArray:
        return MetaArray(self.raw.view(dtype))

    def transpose(self, *axes: Any) -> MetaArray:
        return MetaArray(self.raw.transpose(*axes))

    def swapaxes(self, a: int, b: int) -> MetaArray:
        return MetaArray(self.raw.swapaxes(a, b))

    def squeeze(self, axis: Any = None) -> MetaArray:
        return MetaArray(self.raw.squeeze(axis))

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> MetaArray:
        """A view where the strides allow it, else as a copy."""
        given = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
        sizes = tuple(map(int, given))
        unknown = [i for i, n in enumerate(sizes) if n < 0]
        if unknown:
            known = 1
            for n in sizes:
                known *= n if n >= 0 else 1
            if len(unknown) > 1 or not known or self.size % known:
                raise ValueError(f"cannot reshape array of size {self.size} into shape {sizes}")
            sizes = tuple([self.size // known if n < 0 else n for n in sizes])
        strides = strides_reshaped(self.shape, self.strides, self.itemsize, sizes)
        if strides is None:
            return nowhere(sizes, self.dtype)
        return MetaArray(as_strided(self.raw, sizes, strides))

    def ravel(self) -> MetaArray:
        return self.reshape((self.size,))

    def flatten(self) -> MetaArray:
        return nowhere((self.size,), self.dtype)

    def __getitem__(self, key: Any) -> Any:
        whole = key if type(key) is tuple else (key,)
        if all(
            [k is None or k is Ellipsis or isinstance(k, (int, slice, np.integer)) for k in whole]
        ):
            if not any([k is Ellipsis for k in whole]):
                whole = (*whole, Ellipsis)  # else NumPy would read the only element
            return MetaArray(self.raw[whole])
        return META_NAMESPACE().read_at(self, key)

    # --- copies -----------------------------------------------------------------------------------

    def astype(self, dtype: Any, order: str = "K", *, copy: bool | None = True, **_: Any) -> Any:
        dtype = np.dtype(getattr(dtype, "numpy", dtype))
        if not copy and dtype == self.dtype:
            return self
        return self._copied(order, dtype)

    def copy(self, order: str = "C") -> MetaArray:
        return self._copied(order, self.dtype)

    def _copied(self, order: str, dtype: Any) -> MetaArray:
        keeps = order != "C" and not self.raw.flags.c_contiguous
        return nowhere(self.shape, dtype, axes_by_stride(self.raw) if keeps else None)

    def fill(self, value: Any) -> None:
        """Nothing to be filled."""

    def __setitem__(self, key: Any, value: Any) -> None:
        part = self[key]
        shape = getattr(value, "shape", ())
        if np.broadcast_shapes(part.shape, shape) != part.shape:
            ones = len(shape) - part.ndim
            if ones < 0 or shape[:ones] != (1,) * ones:
                text = f"could not broadcast input array from shape {shape} into shape {part.shape}"
                raise ValueError(text)

    conj = conjugate = _named("conj")
    sum, prod, mean, any, all = map(_reduction, "sum prod mean any all".split())
    max, min, argmax, argmin = map(_reduction, "max min argmax argmin".split())
    take, repeat, cumsum, cumprod, argsort = map(
        _named, "take repeat cumulative_sum cumulative_prod argsort".split()
    )

    # --- NumPy hands over -------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        return META_NAMESPACE().of_ufunc(ufunc, method, args, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return META_NAMESPACE().of_function(function, args, kwargs)


def preserved_nowhere(array: Any, dtype: Any) -> MetaArray:
    """An array without elements that lies in memory as `array` does, if that has no holes."""
    raw = array.raw if type(array) is MetaArray else array
    if raw.flags.c_contiguous:
        return nowhere(array.shape, dtype)
    if not is_dense(raw):
        return nowhere(array.shape, dtype, axes_by_stride(raw))
    item = np.dtype(dtype).itemsize
    return nowhere_strided(
        array.shape, dtype, tuple([s // raw.itemsize * item for s in raw.strides])
    )


def device_of(array: Any) -> Any:
    """Where an array's elements are: the CPU, or nowhere, which is the meta device."""
    while True:
        if type(array) is MetaArray:
            return META
        if getattr(array, "factors", None) is not None:
            return CPU  # unit vectors, whose value would be made
        below = getattr(array, "value", None)  # of a batch of `vmap`
        if below is None:
            below = getattr(array, "raw", None)  # of a conjugate or negative view
        if below is None:
            return CPU
        array = below


def wrapped(out: Any) -> Any:
    """What a view function gave of an array without elements, wrapped again."""
    if type(out) is tuple or type(out) is list:
        return type(out)([wrapped(x) for x in out])
    return MetaArray(out) if isinstance(out, np.ndarray) else out


def strides_reshaped(shape: Any, strides: Any, itemsize: int, new: Any) -> Any:
    """The strides, in bytes, of a view of another shape; None where there is none.

    >>> from tapegrad.core.meta_array import strides_reshaped
    >>> strides_reshaped((2, 3), (12, 4), 4, (3, 2)), strides_reshaped((2, 3), (4, 8), 4, (6,))
    ((8, 4), None)
    """
    size = 1
    for n in shape:
        size *= n
    wanted = 1
    for n in new:
        wanted *= n
    if size != wanted:
        raise ValueError(f"cannot reshape array of size {size} into shape {tuple(new)}")
    row_major, step = [], itemsize
    for n in reversed(new):
        row_major.append(step)
        step *= max(n, 1)
    row_major.reverse()
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    if not size or not old:
        return tuple(row_major)
    found = [0] * len(new)
    i = len(new) - 1
    k = len(old) - 1
    while k >= 0:
        # a run of axes that lie as one
        run, step = old[k][0], old[k][1]
        while k and old[k - 1][1] == old[k][1] * old[k][0]:
            k -= 1
            run *= old[k][0]
        while i >= 0 and (run > 1 or new[i] == 1):
            if run % new[i]:
                return None
            found[i] = step
            step *= new[i]
            run //= new[i]
            i -= 1
        if run != 1:
            return None
        k -= 1
    while i >= 0:
        found[i] = step
        i -= 1
    return tuple(found)
