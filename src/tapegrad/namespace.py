"""The Tensor namespace: the array standard's names for tensors.

Rules run on it when a derivative is itself differentiated, and array-API libraries find it through
`Tensor.__array_namespace__`. Every name here is an operator under its standard name and arguments.
"""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.find import namespace_of, native_dtype
from tapegrad.arrays.tensor_elementwise import *
from tapegrad.arrays.tensor_index import *
from tapegrad.arrays.tensor_linalg import *
from tapegrad.arrays.tensor_reduce import *
from tapegrad.arrays.tensor_shape import *
from tapegrad.dtype import of
from tapegrad.ops import cast, create, reduce
from tapegrad.shape import axes_of
from tapegrad.tensor import wrap


def zeros(size: Any, *, dtype: Any = None) -> Any:
    return create.zeros(size, dtype=None if dtype is None else of(dtype))


def _filled(name: str, x: Any, dtype: Any) -> Any:
    """In the array library of `x`."""
    xp = namespace_of((x._array,))
    native = None if dtype is None else native_dtype(xp, of(dtype))
    return wrap(getattr(xp, name)(x._array, dtype=native))


def zeros_like(x: Any, /, *, dtype: Any = None) -> Any:
    return _filled("zeros_like", x, dtype)


def ones_like(x: Any, /, *, dtype: Any = None) -> Any:
    return _filled("ones_like", x, dtype)


def ones(size: Any, *, dtype: Any = None) -> Any:
    return create.ones(size, dtype=None if dtype is None else of(dtype))


def astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    if x.dtype.is_complex and not of(dtype).is_complex:
        x = real(x)
    return cast.cast(x, of(dtype))
