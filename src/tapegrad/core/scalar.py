"""Single numbers as operands: what counts as one, and how it becomes an element of a dtype."""

from math import inf
from operator import index
from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.dtype import FLOAT8, float32
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.limits import finfo, iinfo

# What PyTorch's messages call the element types.
_C_NAMES = {
    "bool": "bool", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t",
    "uint64": "uint64_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    **{each.name: f"c10::{each.scalar_name}" for each in FLOAT8},
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def number_of(function: str, argument: str, position: int, given: Any) -> Any:
    """The Python number meant by `given`: a number, NumPy's too, or a 0-d tensor without grad."""
    if isinstance(given, (bool, int, float, complex)):
        if type(given) is int and not -(2**63) <= given < 2**64:
            raise errors.advised(
                OverflowError("int too big to convert"),
                "Integers of a tensor have at most 64 bits; write it as a float.",
            )
        return given
    if isinstance(given, np.bool_):
        return float(given)  # as PyTorch reads it
    if isinstance(given, np.number):
        return given.item()
    array = getattr(given, "_array", None)
    if array is not None and array.ndim == 0 and not given.requires_grad:
        return given.item()
    raise errors.must_be(function, argument, position, "Number", given)


def int_of(function: str, argument: str, position: int, given: Any) -> int:
    """The integer meant by `given`: a Python or NumPy integer, or a 0-d tensor of one."""
    if type(given) is int:
        return given
    if not isinstance(given, (bool, np.bool_)):
        try:
            return index(given)
        except TypeError:
            pass
    raise errors.must_be(function, argument, position, "int", given)


def float_of(function: str, argument: str, position: int, given: Any) -> float:
    """The float meant by `given`: a real number, NumPy's too, or a 0-d tensor without grad."""
    if type(given) is float:
        return given
    if isinstance(given, (float, int, np.number)) and not isinstance(given, np.complexfloating):
        return float(given)
    array = getattr(given, "_array", None)
    if array is not None and array.ndim == 0 and array.dtype.kind not in "cV":
        if not given.requires_grad:
            return float(array)
    raise errors.must_be(function, argument, position, "float", given, "Pass a number.")


def fitted(value: Any, dtype: Dtype) -> Any:
    """`value` as an element of `dtype`: fractions are cut off for integers, and negative numbers
    wrap around in unsigned types; numbers too large for the dtype are refused.

    >>> from tapegrad.core.scalar import fitted
    >>> fitted(3.7, torch.int32), fitted(-1, torch.uint8)
    (3, 255)
    """
    kind = dtype.category
    if kind == 0:
        return bool(plain(value))
    low, limit = _LIMITS.get(dtype) or _limits(dtype)
    if kind > 1:
        if type(value) is float and low <= value <= limit and kind == 2:
            return value
        if isinstance(value, complex):
            if not dtype.is_complex and value.imag != 0:
                raise overflow(dtype)
            parts = [value.real, value.imag]
        else:
            parts = [float(plain(value))]
        if any(limit < abs(part) < inf for part in parts) or parts[0] < low > 0:
            raise overflow(dtype)
        return complex(*parts) if dtype.is_complex else parts[0]
    if isinstance(value, complex):
        if value.imag != 0:
            raise overflow(dtype)
        value = value.real
    value = plain(value)
    # a negative integer wraps around in an unsigned type, a negative fraction does not
    if isinstance(value, int) and not dtype.is_signed:
        low = -limit
    if not low <= value <= limit:  # nan, too
        raise overflow(dtype)
    return int(value) % (limit + 1) if value < 0 and not dtype.is_signed else int(value)


def plain(value: Any) -> Any:
    """A number as it is; a tensor must have no dimensions and no gradient to stand for one.

    The error is for `require_tensors`, which says in PyTorch's words which argument it is.
    """
    if hasattr(value, "_array") and (value._array.ndim or value.requires_grad):
        raise errors.type_error("a tensor with dimensions or a gradient is no number", "item() is.")
    return value


def factor_of(value: Any, dtype: Dtype) -> Any:
    """`value` as a factor of elements of `dtype`: of 16-bit floats one of float32.

    Factors of dtypes that are not floating-point are left to the kernel to refuse.
    """
    if (type(value) is float and -1e38 < value < 1e38) or dtype.category < 2:
        return value
    return fitted(value, float32 if dtype.itemsize == 2 else dtype)


_LIMITS: dict[Dtype, tuple] = {}


def _limits(dtype: Dtype) -> tuple:
    found = iinfo(dtype) if dtype.category == 1 else finfo(dtype)
    _LIMITS[dtype] = (found.min, found.max)
    return _LIMITS[dtype]


def overflow(dtype: Dtype, advice: str = "") -> RuntimeError:
    """A number that no element of a dtype can hold."""
    return errors.runtime_error(
        f"value cannot be converted to type {_C_NAMES[dtype.name]} without overflow",
        advice or f"Choose a number that {dtype} can hold, or another dtype.",
    )
