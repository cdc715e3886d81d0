"""Conjugate and negative views: memory read with its sign turned, as `x.conj()` and its `.imag`.

What stands behind such a tensor is no NumPy array but a `ConjNegView`: the array that has the
memory, and whether a reader conjugates, negates or both. So whatever asks for a NumPy array, all
fast paths among them, leaves it to the general way by the question it asks anyway, and a real
tensor pays nothing. There `dispatch.apply` gives an operator the numbers as they are read, and a
view operator the memory, of which the result is a view with the same turns. NumPy's functions see
through it too: they are given the numbers as they are read, and what they write is turned back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.meta_array import MetaArray

_READING = frozenset(  # methods of arrays that only read: of the numbers as they are read
    "T all any argmax argmin argsort astype copy cumprod cumsum diagonal flat flatten imag item "
    "max mean min nonzero prod ravel real repeat reshape squeeze std sum swapaxes take tobytes "
    "tolist trace transpose var".split()
)
_OF_MEMORY = (np.may_share_memory, np.shares_memory)


class ConjNegView(np.lib.mixins.NDArrayOperatorsMixin):
    """The memory of `raw`, conjugated, negated or both where it is read and where it is written."""

    __slots__ = ("__weakref__", "conj", "neg", "raw")

    def __init__(self, raw: np.ndarray, conj: bool, neg: bool):
        self.raw, self.conj, self.neg = raw, conj, neg

    # --- what it shares with its memory -----------------------------------------------------------

    @property
    def base(self) -> np.ndarray:
        """The array of the memory, as the base of a NumPy view."""
        return self.raw

    @property
    def shape(self) -> tuple[int, ...]:
        return self.raw.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self.raw.strides

    @property
    def dtype(self) -> Any:
        return self.raw.dtype

    @property
    def ndim(self) -> int:
        return self.raw.ndim

    @property
    def size(self) -> int:
        return self.raw.size

    @property
    def itemsize(self) -> int:
        return self.raw.itemsize

    @property
    def nbytes(self) -> int:
        return self.raw.nbytes

    @property
    def flags(self) -> Any:
        return self.raw.flags

    @property
    def ctypes(self) -> Any:
        return self.raw.ctypes

    def __len__(self) -> int:
        return len(self.raw)

    # --- reading ----------------------------------------------------------------------------------

    def resolved(self) -> np.ndarray:
        """The numbers as they are read, in memory of their own."""
        return self._turned(self.raw)

    def _turned(self, array: Any) -> Any:
        if self.conj:
            array = np.conjugate(array)
        if self.neg:
            if array.dtype.kind == "b":
                raise errors.not_implemented(
                    "\"neg_cpu\" not implemented for 'Bool'", "Truth values have no sign."
                )
            array = np.negative(array)
        return np.asarray(array) if isinstance(array, np.generic) else array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            text = "Unable to avoid copy while creating an array as requested."
            raise errors.value_error(text, "The memory has another sign: leave copy=False away.")
        found = self.resolved()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __getattr__(self, name: str) -> Any:
        if name in _READING:
            return getattr(self.resolved(), name)
        raise AttributeError(f"'ConjNegView' object has no attribute '{name}'")

    # --- views of it ------------------------------------------------------------------------------

    def through(self, view: Callable[..., Any], *args: Any, **params: Any) -> Any:
        """What a view function gives of the memory, turned as this is; a copy where it copies."""
        out = view(*args, self.raw, **params)
        # a batch of vmap has no such views, nor have the parts of conjugate numbers one sign
        if type(out) not in _VIEWS or (self.conj and getattr(out, "dtype", self.dtype).kind != "c"):
            return view(*args, self.resolved(), **params)
        if type(out) is tuple or type(out) is list:
            return type(out)([self._like(each) for each in out])
        return self._like(out)

    def _like(self, out: Any) -> Any:
        if type(out) is ConjNegView:
            return turned(out.raw, out.conj != self.conj, out.neg != self.neg)
        if out is not self.raw and not np.may_share_memory(out, self.raw) and out.size:
            return self._turned(out)
        return turned(out, self.conj, self.neg)

    def __getitem__(self, key: Any) -> Any:
        found = self.raw[key]
        if not isinstance(found, (np.ndarray, MetaArray)):
            return self._turned(found)[()]
        return self._like(found)

    # --- writing ----------------------------------------------------------------------------------

    def stored(self, values: Any) -> np.ndarray:
        """The numbers that lie in the memory where `values` are read."""
        array = resolved(values) if hasattr(values, "dtype") else np.asarray(values)
        if array.dtype.kind == "c" and self.dtype.kind != "c":
            array = array.real
        return self._turned(array.astype(self.dtype, copy=False))

    def __setitem__(self, key: Any, values: Any) -> None:
        self.raw[key] = self.stored(values)

    def fill(self, value: Any) -> None:
        """Write one number everywhere."""
        self.raw.fill(self.stored(value)[()])

    # --- NumPy's functions ------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", ())
        if method == "at":  # which writes to its first argument
            target, *others = args
            whole = resolved(target)
            ufunc.at(whole, *map(resolved, others))
            if type(target) is ConjNegView:
                target[...] = whole
            return None
        if not out:
            return getattr(ufunc, method)(*map(resolved, args), **kwargs)
        made = getattr(ufunc, method)(*map(resolved, args), **kwargs)
        for target, values in zip(out, made if type(made) is tuple else (made,), strict=True):
            target[...] = values
        return out if len(out) > 1 else out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.copyto:
            return _copy(*args, **kwargs)
        if function in _OF_MEMORY:
            return function(*map(memory_of, args), **kwargs)
        return function(*_resolved_all(args), **{k: resolved(v) for k, v in kwargs.items()})


def _resolved_all(values: Any) -> Any:
    return type(values)(
        [_resolved_all(x) if type(x) in (tuple, list) else resolved(x) for x in values]
    )


def _copy(target: Any, source: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if type(target) is not ConjNegView:
        np.copyto(target, resolved(source), casting=casting, where=where)
        return
    np.copyto(target.raw, target.stored(source), casting=casting, where=where)


_VIEWS = (np.ndarray, MetaArray, ConjNegView, tuple, list)


def turned(raw: np.ndarray, conj: bool, neg: bool) -> Any:
    """The memory of `raw` with these turns; a view of it where there is none."""
    return ConjNegView(raw, conj, neg) if conj or neg else raw[...]


def signs_of(array: Any) -> dict[str, bool]:
    """Of `neg` and `conj` those that hold for an array, as files of PyTorch note them."""
    if type(array) is not ConjNegView:
        return {}
    return {name: True for name in ("neg", "conj") if getattr(array, name)}


def turned_like(array: Any, like: Any) -> Any:
    """The memory of `array`, read as `like` is: a tensor keeps its sign when its memory changes."""
    raw = memory_of(array)
    return ConjNegView(raw, like.conj, like.neg) if type(like) is ConjNegView else raw


def resolved(array: Any) -> Any:
    """An array as it is read: memory of its own for a conjugate or negative view, else itself."""
    return array.resolved() if type(array) is ConjNegView else array


def memory_of(array: Any) -> Any:
    """The NumPy array that has the memory: that behind a conjugate or negative view, else itself.

    >>> import numpy as np
    >>> from tapegrad.core.conj_neg_view import memory_of, turned
    >>> x = np.array([1 + 2j])
    >>> memory_of(turned(x, True, False)) is x
    True
    """
    return array.raw if type(array) is ConjNegView else array
