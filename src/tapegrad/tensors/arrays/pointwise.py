"""Elementwise operators of tensors under the array standard's names."""

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array
from tapegrad.core.tensor_base import wrap
from tapegrad.operators.pointwise import maximum_minimum as _extremum
from tapegrad.operators.pointwise.arithmetic import add, multiply, negative, positive, subtract
from tapegrad.operators.pointwise.atan2_hypot_copysign import atan2, copysign, hypot
from tapegrad.operators.pointwise.bitwise import (
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
from tapegrad.operators.pointwise.comparison import eq, ge, gt, isfinite, isinf, isnan, le, lt, ne
from tapegrad.operators.pointwise.divide_reciprocal import div, divide, reciprocal
from tapegrad.operators.pointwise.exp_log import exp, exp2, expm1, log, log1p, log2, log10
from tapegrad.operators.pointwise.frexp_nextafter_heaviside import ldexp
from tapegrad.operators.pointwise.maximum_minimum import fmax, fmin
from tapegrad.operators.pointwise.pow_sqrt_square import pow, sqrt, square
from tapegrad.operators.pointwise.real_imag_conj_angle import conj, conj_view, imag, neg_view, real
from tapegrad.operators.pointwise.remainder_fmod import fmod, remainder
from tapegrad.operators.pointwise.rounding_abs_sign import abs, ceil, floor, round, sgn, trunc
from tapegrad.operators.pointwise.sigmoid_logit_xlogy import logaddexp
from tapegrad.operators.pointwise.special.bessel import i0, i0e, i1, i1e
from tapegrad.operators.pointwise.special.erf_gamma import (
    digamma,
    erf,
    erfc,
    erfinv,
    higher_digamma,
    lgamma,
)
from tapegrad.operators.pointwise.special.incomplete_gamma import zeta
from tapegrad.operators.pointwise.special.ndtr_entr import erfcx
from tapegrad.operators.pointwise.trigonometry import (
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
from tapegrad.operators.pointwise.where_clamp import choose, clip

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


def floor_divide(x1: Array, x2: Array, /) -> Any:
    """The floored quotient with a derivative, zero: rules are differentiated, too."""
    return div(x1, x2, rounding_mode="floor")


__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "ceil", "clip", "conj", "conj_view", "copysign", "cos", "cosh", "digamma", "divide",
    "equal", "erf", "erfc", "erfcx", "erfinv", "exp", "exp2", "expm1", "floor", "floor_divide",
    "fmax", "fmin", "fmod", "greater", "greater_equal", "hypot", "i0", "i0e", "i1", "i1e",
    "imag", "isdtype", "isfinite", "isinf", "isnan", "ldexp", "less", "less_equal", "lgamma",
    "log", "log1p", "log2", "log10", "logaddexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "maximum", "minimum", "multiply", "neg_view", "negative", "not_equal",
    "polygamma", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "sin",
    "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc", "where", "zeta",
]  # fmt: skip


def maximum(x: Array, y: Array, /) -> Any:
    """The larger of two; a number stands for a tensor of the other's dtype."""
    return _extremum.maximum(*_two_tensors(x, y))


def minimum(x: Array, y: Array, /) -> Any:
    """The smaller of two; a number stands for a tensor of the other's dtype."""
    return _extremum.minimum(*_two_tensors(x, y))


def _two_tensors(x: Array, y: Array) -> tuple:
    if not hasattr(y, "_array"):
        return x, _number_like(y, x)
    return (x if hasattr(x, "_array") else _number_like(x, y)), y


def _number_like(number: Any, x: Array) -> Any:
    """A 0-d tensor of the library and dtype of `x`."""
    return wrap(namespace_of((x._array,)).asarray(number, dtype=x._array.dtype))
