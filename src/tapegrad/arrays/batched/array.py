"""Batched arrays: an array whose first axis is hidden, because a function is mapped over it.

    Batched(level, value)              `value` has the batch along its first axis
    Batched(level, value, False)       the same values for each sample of the batch
    units(level, factors)              unit vectors, whose value is made when it is asked for

`shape`, `ndim` and `dtype` are those of one sample. What is below, `value`, is a NumPy array or a
batched array of an outer level. A `Level` is one call of `vmap`; the level made last is outermost
in an array, so that arrays of several levels meet in one order.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from math import prod

import numpy as np

from tapegrad.arrays.batched.refusal import inplace_error, no_branch, no_item, no_storage
from tapegrad.arrays.namespaces import is_recorded
from tapegrad.core.annotations import Any, Array, Dim, NativeDType, Tensor
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.registration import BATCHED_NAMESPACE

ndarray = np.ndarray
_numbers = count(1)


class Level:
    """One mapping of a function over a batch: its size, and what random operators do."""

    __slots__ = ("depth", "number", "randomness", "size", "transforms")

    def __init__(self, size: int, randomness: str = "error", depth: int = 1):
        self.number = next(_numbers)
        self.size = size
        self.randomness = randomness
        self.depth = depth  # how many transforms are around it, itself included
        self.transforms: Any = ()  # where it is one of `vmap`: TRANSFORMS inside it


def _binary(function: Callable) -> tuple[Any, Any]:
    """One of Python's operators with two operands, and the same with this one as the second."""
    return (
        lambda self, other: pair(function, self, other),
        lambda self, other: pair(function, other, self),
    )


def _reduction(name: str) -> Any:
    def reduced(self: Any, axis: Dim = None, **kwargs: object) -> Any:
        return getattr(self.__array_namespace__(), name)(self, axis=axis, **kwargs)

    return reduced


class Batched:
    """An array with a hidden batch axis.

    `entered` is None, or the array that came into the level and which of its axes the batch is.
    """

    __slots__ = ("__weakref__", "dtype", "entered", "factors", "level", "mapped", "shape", "value")

    def __init__(self, level: Level, value: Array, mapped: bool = True):
        self.level = level
        self.value = value
        self.mapped = mapped
        self.shape = value.shape[1:] if mapped else value.shape
        self.dtype = value.dtype
        self.factors: Any = None  # of unit vectors: units.py
        self.entered: Any = None

    def __getattr__(self, name: str) -> Any:
        """The value of unit vectors, which are nothing else from then on."""
        if name != "value":
            raise AttributeError(f"a batched array has no {name}")
        from tapegrad.arrays.batched.unit_vectors import all_members

        self.value, self.factors = all_members(self.factors), None
        return self.value

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        return BATCHED_NAMESPACE()

    # --- what it is, for one sample -------------------------------------------------------------

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        if self.factors is not None and self.factors.flags.c_contiguous:
            return self.factors.strides
        return self.value.strides[1:] if self.mapped else self.value.strides

    @property
    def flags(self) -> Any:
        """Those of one sample's memory."""
        value = self.value
        while type(value) is Batched or value.ndim > len(self.shape):
            if type(value) is Batched:
                value = value.value
            else:
                value = value[0] if len(value) else np.empty(value.shape[1:], value.dtype)
        return value.flags

    @property
    def __array_interface__(self) -> dict:
        if not self.mapped:
            return np.asarray(self.value).__array_interface__
        raise no_storage()

    @property
    def ctypes(self) -> Any:
        return elements(self).ctypes

    @property
    def base(self) -> Any:
        """What holds the memory: views of one array have one base."""
        return self.value

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator:
        return iter([self[i] for i in range(len(self))])

    def __repr__(self) -> str:
        what = repr(self.value).replace("\n", "\n    ")
        return f"Batched(level={self.level.depth}, mapped={self.mapped}, value=\n    {what}\n)"

    # --- what cannot be asked of a batch --------------------------------------------------------

    def item(self) -> Any:
        if not self.mapped:
            return self.value.item()
        raise no_item()

    __int__ = __float__ = __complex__ = __index__ = item

    def __bool__(self) -> bool:
        if not self.mapped:
            return bool(self.value)
        raise no_branch()

    def tolist(self) -> Any:
        if not self.mapped:
            return self.value.tolist()
        raise no_storage()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.mapped:
            return np.asarray(self.value, *args, **kwargs)
        raise no_storage()

    # --- NumPy hands over ------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Tensor, **kwargs: object) -> Any:
        if method != "__call__" or kwargs.get("out") is not None:
            raise TypeError(f"{ufunc.__name__}.{method} of a batched array, into another array")
        return pointwise(ufunc, inputs, kwargs)

    def __array_function__(
        self, function: Callable, types: Any, args: Sequence, kwargs: Any
    ) -> Any:
        if function is np.copyto:
            return _copy_to(*args[:2])
        if function is np.dot:  # of matrices and vectors: our own kernels call it for no others
            return self.__array_namespace__().matmul(*args)
        if function is np.may_share_memory:
            return np.may_share_memory(*[elements(x) for x in args[:2]])
        return NotImplemented

    # --- methods that kernels and rules use beside the standard's names --------------------------

    @property
    def T(self) -> Any:
        return self.transpose(tuple(range(len(self.shape)))[::-1])

    @property
    def mT(self) -> Any:
        return Batched(self.level, self.value.mT, self.mapped)

    @property
    def real(self) -> Any:
        return Batched(self.level, self.value.real, self.mapped)

    @property
    def imag(self) -> Any:
        return Batched(self.level, self.value.imag, self.mapped)

    def reshape(self, *shape: Any) -> Any:
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        whole = (self.value.shape[0], *shape) if self.mapped else tuple(shape)
        if self.mapped and -1 in shape and not self.value.shape[0]:
            known = -prod(shape)
            whole = (0, *[self.size // known if n == -1 else n for n in shape])
        return Batched(self.level, self.value.reshape(whole), self.mapped)

    def transpose(self, *axes: Any) -> Any:
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        axes = tuple(a % len(self.shape) for a in given)
        if not self.mapped:
            return Batched(self.level, self.value.transpose(axes), False)
        return Batched(self.level, self.value.transpose((0, *[a + 1 for a in axes])))

    def ravel(self) -> Any:
        return self.reshape((self.size,))

    def astype(self, dtype: NativeDType, order: str = "K", *, copy: bool = True) -> Any:
        return Batched(self.level, self.value.astype(dtype, order, copy=copy), self.mapped)

    def copy(self, order: str = "C") -> Any:
        return Batched(self.level, self.value.copy(order), self.mapped)

    def fill(self, value: Array) -> None:
        self.value.fill(value)

    def conj(self) -> Any:
        return Batched(self.level, self.value.conj(), self.mapped)

    sum, max, min, all, any = map(_reduction, ("sum", "max", "min", "all", "any"))

    # --- elements ---------------------------------------------------------------------------------

    def __getitem__(self, key: Array) -> Any:
        from tapegrad.arrays.batched.getitem_setitem import read

        found = read(self, key)
        if key is Ellipsis and self.entered is not None:
            whole, axis = self.entered
            found.entered = whole[...], axis
        return found

    def __setitem__(self, key: Array, value: Array) -> None:
        from tapegrad.arrays.batched.getitem_setitem import read

        part = read(self, key)
        if part.base is None:
            raise TypeError("a batched array is written through slices and numbers only")
        _copy_to(part, value)

    # --- Python's operators -----------------------------------------------------------------------

    def __neg__(self) -> Any:
        return Batched(self.level, -self.value, self.mapped)

    def __pos__(self) -> Any:
        return Batched(self.level, +self.value, self.mapped)

    def __abs__(self) -> Any:
        return Batched(self.level, abs(self.value), self.mapped)

    def __invert__(self) -> Any:
        return Batched(self.level, ~self.value, self.mapped)

    __add__, __radd__ = _binary(operator.add)
    __sub__, __rsub__ = _binary(operator.sub)
    __truediv__, __rtruediv__ = _binary(operator.truediv)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow)
    __and__, __rand__ = _binary(operator.and_)
    __or__, __ror__ = _binary(operator.or_)
    __xor__, __rxor__ = _binary(operator.xor)
    __lshift__, __rshift__ = _binary(operator.lshift)[0], _binary(operator.rshift)[0]
    __eq__, __ne__ = _binary(operator.eq)[0], _binary(operator.ne)[0]
    __lt__, __le__ = _binary(operator.lt)[0], _binary(operator.le)[0]
    __gt__, __ge__ = _binary(operator.gt)[0], _binary(operator.ge)[0]

    def __iadd__(self, other: Array) -> Any:  # type: ignore[misc]
        """In this object: a sum that several names hold is one sum."""
        total = pair(operator.add, self, other)
        self.value, self.mapped = total.value, total.mapped
        return self

    def __mul__(self, other: Array) -> Any:
        if self.factors is not None:
            from tapegrad.arrays.batched.unit_vectors import scaled

            found = scaled(self, other)
            if found is not None:
                return found
        return pair(operator.mul, self, other)

    def __rmul__(self, other: Array) -> Any:
        return self * other

    def __matmul__(self, other: Array) -> Any:
        return self.__array_namespace__().matmul(self, other)

    def __rmatmul__(self, other: Array) -> Any:
        return self.__array_namespace__().matmul(other, self)

    __hash__ = None  # type: ignore[assignment]


def elements(x: Array) -> Any:
    """The NumPy array of all samples."""
    while type(x) is Batched:
        x = x.value
    return x


# --- the values below -----------------------------------------------------------------------------


def top_level(arrays: Sequence[Array]) -> Any:
    """The outermost level among arrays; None if none of them is batched."""
    level = None
    for x in arrays:
        if type(x) is Batched and (level is None or x.level.number > level.number):
            level = x.level
    return level


def opened(arrays: Sequence[Array]) -> tuple[Any, list, list]:
    """The outermost level, what lies below it, and which of that has the batch as first axis."""
    level = top_level(arrays)
    values, mapped = [], []
    for x in arrays:
        if type(x) is Batched and x.level is level:
            values.append(x.value)
            mapped.append(x.mapped)
        else:
            values.append(x)
            mapped.append(False)
    return level, values, mapped


def closed(level: Level, out: Array, mapped: bool) -> Any:
    """What a function below gave, as batched arrays."""
    if type(out) is ndarray or type(out) is Batched or type(out) is MetaArray:
        return Batched(level, out, mapped)
    if isinstance(out, np.generic):
        return Batched(level, np.asarray(out), mapped)
    if isinstance(out, tuple):
        parts = [closed(level, x, mapped) for x in out]
        return type(out)._make(parts) if hasattr(out, "_make") else tuple(parts)
    if isinstance(out, list):
        return [closed(level, x, mapped) for x in out]
    return Batched(level, out, mapped) if is_recorded(out) else out


def widened(value: Array, ndim: int) -> Any:
    """A mapped value with axes of one element after the batch axis, so that samples have `ndim`."""
    have = value.ndim - 1
    if have == ndim:
        return value
    shape = value.shape
    return value.reshape((shape[0], *(1,) * (ndim - have), *shape[1:]))


def pair(function: Callable, x: Array, y: Array) -> Any:
    """An elementwise function of two, of which at least one is batched."""
    if type(x) is Batched and type(y) is Batched and x.level is y.level:
        a, b = x.value, y.value
        if len(x.shape) == len(y.shape) or not (x.mapped or y.mapped):
            return closed(x.level, function(a, b), x.mapped or y.mapped)
    elif type(y) is float or type(y) is int:
        return closed(x.level, function(x.value, y), x.mapped)
    elif type(y) is ndarray and (y.ndim <= len(x.shape) or not x.mapped):
        return closed(x.level, function(x.value, y), x.mapped)
    return pointwise(function, (x, y), {})


def pointwise(function: Callable, arrays: Sequence[Array], kwargs: dict) -> Any:
    """An elementwise function of any number of arrays, numbers and None."""
    level, values, mapped = opened(arrays)
    if True not in mapped:
        return closed(level, function(*values, **kwargs), False)
    ndim = 0
    for x in arrays:
        n = len(getattr(x, "shape", ()))
        if n > ndim:
            ndim = n
    values = [widened(v, ndim) if m else v for v, m in zip(values, mapped, strict=True)]
    return closed(level, function(*values, **kwargs), True)


def spread(value: Array, size: int) -> Any:
    """The same values for each of `size` members, with the batch as first axis: a view."""
    shape = (size, *value.shape)
    if type(value) is ndarray:
        return np.broadcast_to(value, shape)
    from tapegrad.arrays.namespaces import namespace_of

    return namespace_of((value,)).broadcast_to(value, shape)


def _copy_to(target: Array, source: Array) -> None:
    """Write `source` into the memory of `target`."""
    if type(source) is Batched:
        other = type(target) is not Batched or source.level.number > target.level.number
        if source.mapped and (other or (source.level is target.level and not target.mapped)):
            raise inplace_error("copy_", source.level, target, source)
        if other:
            _copy_to(target, source.value)
            return
    if type(target) is Batched:
        value = source
        if type(source) is Batched and source.level is target.level:
            value = widened(source.value, len(target.shape)) if source.mapped else source.value
        _copy_to(target.value, value)
        return
    if source.dtype.kind == "c" and target.dtype.kind not in "cb":
        source = source.real
    np.copyto(target, source, casting="unsafe")
