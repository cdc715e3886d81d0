"""Elementwise operators of tensors under the array standard's names."""

from __future__ import annotations

from tapegrad.ops.arithmetic import add, multiply, negative, positive, subtract
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
from tapegrad.ops.logistic import logaddexp
from tapegrad.ops.power import pow, sqrt, square
from tapegrad.ops.rounding import abs, ceil, floor, round, sgn, trunc
from tapegrad.ops.choice import choose, clip
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
sign = sgn
where = choose

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "divide",
    "equal",
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
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
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
