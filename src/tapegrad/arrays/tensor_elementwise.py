"""Elementwise operators of tensors under the array standard's names."""

from __future__ import annotations

from typing import Any

from tapegrad.ops import extremum as _extremum
from tapegrad.ops.arithmetic import add, multiply, negative, positive, subtract
from tapegrad.ops.bessel import i0, i0e, i1, i1e
from tapegrad.ops.choice import choose, clip
from tapegrad.ops.compare import (
    eq,
    ge,
    gt,
    isfinite,
    isinf,
    isnan,
    le,
    lt,
    ne,
)
from tapegrad.ops.complex_part import conj, imag, real
from tapegrad.ops.division import div, divide, reciprocal
from tapegrad.ops.exponential import exp, exp2, expm1, log, log1p, log2, log10
from tapegrad.ops.extremum import fmax, fmin
from tapegrad.ops.gaussian import erfcx
from tapegrad.ops.incomplete import zeta
from tapegrad.ops.leftover import fmod, remainder
from tapegrad.ops.logic import (
    bitwise_and,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from tapegrad.ops.logistic import logaddexp
from tapegrad.ops.number import ldexp
from tapegrad.ops.plane import atan2, copysign, hypot
from tapegrad.ops.power import pow, sqrt, square
from tapegrad.ops.rounding import abs, ceil, floor, round, sgn, trunc
from tapegrad.ops.special_function import digamma, erf, erfc, erfinv, higher_digamma, lgamma
from tapegrad.ops.trigonometry import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)

equal, not_equal = eq, ne
less, less_equal = lt, le
greater, greater_equal = gt, ge
bitwise_invert = bitwise_not
sign = sgn
where = choose
polygamma = higher_digamma

_KINDS = {
    "bool": "bool",
    "signed integer": "int8 int16 int32 int64",
    "unsigned integer": "uint8 uint16 uint32 uint64",
    "integral": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "real floating": "float16 bfloat16 float32 float64",
    "complex floating": "complex64 complex128",
    "numeric": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128",
}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is another, or of a kind the standard names."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    return dtype.name in _KINDS[kind].split() if isinstance(kind, str) else dtype is kind


def floor_divide(x1: Any, x2: Any, /) -> Any:
    """The floored quotient with a derivative, zero: rules are differentiated, too."""
    return div(x1, x2, rounding_mode="floor")


__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "digamma",
    "divide",
    "equal",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "greater",
    "greater_equal",
    "hypot",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "imag",
    "isdtype",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "polygamma",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "where",
    "zeta",
]


def maximum(x: Any, y: Any, /) -> Any:
    """The larger of two; a number stands for a tensor of the other's dtype."""
    return _extremum.maximum(*_two_tensors(x, y))


def minimum(x: Any, y: Any, /) -> Any:
    """The smaller of two; a number stands for a tensor of the other's dtype."""
    return _extremum.minimum(*_two_tensors(x, y))


def _two_tensors(x: Any, y: Any) -> tuple:
    if not hasattr(y, "_array"):
        return x, _number_like(y, x)
    return (x if hasattr(x, "_array") else _number_like(x, y)), y


def _number_like(number: Any, x: Any) -> Any:
    """A 0-d tensor of the library and dtype of `x`."""
    from tapegrad.arrays.find import namespace_of
    from tapegrad.tensor import wrap

    return wrap(namespace_of((x._array,)).asarray(number, dtype=x._array.dtype))
