"""Elementwise operators of tensors under the array standard's names."""

from __future__ import annotations

from tapegrad.ops.arithmetic import add, multiply, negative, positive, subtract
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
from tapegrad.ops.division import divide, floor_divide, fmod, reciprocal, remainder
from tapegrad.ops.exponential import exp, exp2, expm1, log, log1p, log2, log10
from tapegrad.ops.extremum import fmax, fmin, maximum, minimum
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
    "copysign",
    "cos",
    "cosh",
    "digamma",
    "divide",
    "equal",
    "erf",
    "erfc",
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
    "isfinite",
    "isinf",
    "isnan",
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
]
