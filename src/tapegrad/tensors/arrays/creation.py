"""Making and converting tensors under the array standard's names; dtypes and constants.

`dtype=` takes NumPy's dtypes as well as ours: rules pass on what an array said it has.
"""

import builtins
from math import e, inf, nan, pi

import numpy as np

from tapegrad.arrays.namespaces import namespace_of, native_dtype
from tapegrad.core.annotations import Any, Array, DeviceLike, DTypeLike, Scalar, Shape
from tapegrad.core.dtype import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    of,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tapegrad.core.dtype import bool_ as bool
from tapegrad.core.limits import finfo, iinfo
from tapegrad.core.promote_types import can_cast, promote
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.operators.conversion import to_type
from tapegrad.operators.conversion.item_numpy_tolist import from_dlpack, item
from tapegrad.operators.creation import arange as _arange
from tapegrad.operators.creation import from_numpy_asarray, linspace_logspace, zeros_eye
from tapegrad.operators.pointwise.real_imag_conj_angle import real

newaxis = None


def _ours(dtype: DTypeLike) -> Any:
    return None if dtype is None else of(dtype)


def astype(
    x: Array, dtype: DTypeLike, /, *, copy: builtins.bool = True, device: DeviceLike = None
) -> Any:
    """A tensor in another dtype; a real result of complex numbers drops the imaginary part."""
    dtype = of(dtype)
    if x.dtype.is_complex and not dtype.is_complex and dtype is not bool:
        x = real(x)
    if x.dtype is dtype:
        return x.clone() if copy else x
    return to_type.cast(x, dtype)


def asarray(x: Array, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    """`x` as a tensor."""
    if dtype is not None and isinstance(x, (int, float, complex)):  # at once, in full precision
        return from_numpy_asarray.asarray(x, dtype=of(dtype), device=device, copy=copy)
    result = (
        x if isinstance(x, TensorBase) else from_numpy_asarray.asarray(x, device=device, copy=copy)
    )
    if dtype is not None and result.dtype is not of(dtype):
        if copy is False:
            raise ValueError("another dtype needs memory of its own: leave copy=False away")
        return astype(result, dtype)
    return result.clone() if copy and result is x else result


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return zeros_eye.empty(_shape(shape), dtype=_ours(dtype), device=device)


def zeros(shape: Shape, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Any:
    return zeros_eye.zeros(_shape(shape), dtype=_ours(dtype), device=device)


def ones(shape: Shape, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Any:
    return zeros_eye.ones(_shape(shape), dtype=_ours(dtype), device=device)


def full(
    shape: Shape, fill_value: Scalar, *, dtype: DTypeLike = None, device: DeviceLike = None
) -> Any:
    return zeros_eye.full(_shape(shape), fill_value, dtype=_ours(dtype), device=device)


def _shape(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def _like(name: str, x: Array, args: tuple, dtype: DTypeLike) -> Any:
    """Made by the library of the array that `x` holds."""
    xp = namespace_of((x._array,))
    native = None if dtype is None else native_dtype(xp, of(dtype))
    return wrap(getattr(xp, name)(x._array, *args, dtype=native))


def empty_like(x: Array, /, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Any:
    return _like("empty_like", x, (), dtype)


def zeros_like(x: Array, /, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Any:
    return _like("zeros_like", x, (), dtype)


def ones_like(x: Array, /, *, dtype: DTypeLike = None, device: DeviceLike = None) -> Any:
    return _like("ones_like", x, (), dtype)


def full_like(
    x: Array, /, fill_value: Scalar, *, dtype: DTypeLike = None, device: DeviceLike = None
) -> Any:
    value = item(fill_value) if isinstance(fill_value, TensorBase) else fill_value
    return _like("full_like", x, (value,), dtype)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """As the standard has it: empty where start and stop are on the wrong side of each other."""
    first, last = (0, start) if stop is None else (start, stop)
    if (last - first) * step < 0:
        last = first
    return _arange.arange(first, last, step, dtype=_ours(dtype), device=device)


def linspace(
    start: Scalar,
    stop: Any,
    /,
    num: int,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    endpoint: builtins.bool = True,
) -> Any:
    if endpoint:
        return linspace_logspace.linspace(start, stop, num, dtype=_ours(dtype), device=device)
    return linspace_logspace.linspace(start, stop, num + 1, dtype=_ours(dtype), device=device)[:-1]


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
) -> Any:
    columns = n_rows if n_cols is None else n_cols
    whole = np.eye(n_rows, columns, k, dtype=(_ours(dtype) or zeros_eye.default()).numpy)
    return from_numpy_asarray.from_numpy(whole)


def result_type(*operands: Array) -> Any:
    """The dtype of a computation on tensors, dtypes and numbers."""
    arrays = [
        x._array
        if isinstance(x, TensorBase)
        else x
        if isinstance(x, (builtins.bool, int, float, complex))
        else np.empty(1, of(x).numpy)
        for x in operands
    ]
    return promote(arrays)


__all__ = [
    "arange", "asarray", "astype", "bfloat16", "bool", "can_cast", "complex64", "complex128", "e",
    "empty", "empty_like", "eye", "finfo", "float16", "float32", "float64", "from_dlpack", "full",
    "full_like", "iinfo", "inf", "int8", "int16", "int32", "int64", "linspace", "nan", "newaxis",
    "ones", "ones_like", "pi", "result_type", "uint8", "uint16", "uint32", "uint64", "zeros",
    "zeros_like",
]  # fmt: skip
