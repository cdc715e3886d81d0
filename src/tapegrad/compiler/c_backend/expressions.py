"""What NumPy's elementwise functions are in C.

A template has `{0}`, `{1}`, ... for its arguments, which have been taken in the dtypes of the loop
that NumPy would run, and `{t}` for the suffix of that dtype (`f32`). The first letter of a key is
the kind of the loop: f, i, u or b.
"""


def _all(template: str, kinds: str = "fiub") -> dict[str, str]:
    return dict.fromkeys(kinds, template)


def _math(name: str) -> dict[str, str]:
    """A function of the C library."""
    return {"f": f"tg_math_{name}_{{t}}({{0}})"}


TEMPLATES: dict[str, dict[str, str]] = {
    "add": {**_all("{0} + {1}", "fiu"), "b": "{0} | {1}"},
    "subtract": _all("{0} - {1}", "fiu"),
    "multiply": {**_all("{0} * {1}", "fiu"), "b": "{0} & {1}"},
    "divide": {"f": "{0} / {1}"},
    "negative": _all("-{0}", "fiu"),
    "positive": _all("{0}", "fiu"),
    "conjugate": _all("{0}", "fiu"),
    "square": _all("{0} * {0}", "fiu"),
    "reciprocal": {"f": "1 / {0}"},
    "absolute": {"f": "tg_abs_{t}({0})", "i": "{0} < 0 ? -{0} : {0}", **_all("{0}", "ub")},
    "fabs": {"f": "tg_abs_{t}({0})"},
    "sign": {
        "f": "{0} != {0} ? {0} : ({0} > 0) - ({0} < 0)",
        "i": "({0} > 0) - ({0} < 0)",
        "u": "{0} > 0",
    },
    "maximum": {
        "f": "{0} >= {1} || {0} != {0} ? {0} : {1}", **_all("{0} >= {1} ? {0} : {1}", "iub"),
    },
    "minimum": {
        "f": "{0} <= {1} || {0} != {0} ? {0} : {1}", **_all("{0} <= {1} ? {0} : {1}", "iub"),
    },
    "fmax": {
        "f": "{0} >= {1} || {1} != {1} ? {0} : {1}", **_all("{0} >= {1} ? {0} : {1}", "iub"),
    },
    "fmin": {
        "f": "{0} <= {1} || {1} != {1} ? {0} : {1}", **_all("{0} <= {1} ? {0} : {1}", "iub"),
    },
    "greater": _all("{0} > {1}"),
    "greater_equal": _all("{0} >= {1}"),
    "less": _all("{0} < {1}"),
    "less_equal": _all("{0} <= {1}"),
    "equal": _all("{0} == {1}"),
    "not_equal": _all("{0} != {1}"),
    "logical_and": _all("({0} != 0) & ({1} != 0)"),
    "logical_or": _all("({0} != 0) | ({1} != 0)"),
    "logical_xor": _all("({0} != 0) ^ ({1} != 0)"),
    "logical_not": _all("{0} == 0"),
    "bitwise_and": _all("{0} & {1}", "iub"),
    "bitwise_or": _all("{0} | {1}", "iub"),
    "bitwise_xor": _all("{0} ^ {1}", "iub"),
    "invert": {**_all("~{0}", "iu"), "b": "!{0}"},
    "left_shift": _all("tg_left_shift_{t}({0}, {1})", "iu"),
    "right_shift": _all("tg_right_shift_{t}({0}, {1})", "iu"),
    "floor_divide": _all("tg_floor_divide_{t}({0}, {1})", "fiu"),
    "remainder": _all("tg_remainder_{t}({0}, {1})", "fiu"),
    "isnan": {"f": "{0} != {0}", **_all("0", "iub")},
    "isinf": {"f": "tg_abs_{t}({0}) == INFINITY", **_all("0", "iub")},
    "isfinite": {"f": "tg_abs_{t}({0}) < INFINITY", **_all("1", "iub")},
    "signbit": {"f": "__builtin_signbit({0}) != 0"},
    "copysign": {"f": "tg_copysign_{t}({0}, {1})"},
    "sqrt": {"f": "tg_sqrt_{t}({0})"},
    "floor": {"f": "tg_floor_{t}({0})", **_all("{0}", "iub")},
    "ceil": {"f": "tg_ceil_{t}({0})", **_all("{0}", "iub")},
    "trunc": {"f": "tg_trunc_{t}({0})", **_all("{0}", "iub")},
    "rint": {"f": "tg_rint_{t}({0})"},
    "exp": {"f": "tg_exp_{t}({0})"},
    "log": {"f": "tg_log_{t}({0})"},
    "tanh": {"f": "tg_tanh_{t}({0})"},
    "sigmoid": {"f": "tg_sigmoid_{t}({0})"},
    "expm1": {"f": "tg_expm1_{t}({0})"},
    "log1p": {"f": "tg_log1p_{t}({0})"},
    "log2": {"f": "tg_log2_{t}({0})"},
    "log10": {"f": "tg_log10_{t}({0})"},
    "sin": {"f": "tg_sin_{t}({0})"},
    "cos": {"f": "tg_cos_{t}({0})"},
    "erf": {"f": "tg_erf_{t}({0})"},
    "erfc": {"f": "tg_erfc_{t}({0})"},
    "power": {"f": "tg_pow_{t}({0}, {1})"},
    "arctan2": {"f": "tg_math2_atan2_{t}({0}, {1})"},
    "hypot": {"f": "tg_math2_hypot_{t}({0}, {1})"},
    "fmod": {"f": "tg_math2_fmod_{t}({0}, {1})"},
    "nextafter": {"f": "tg_math2_nextafter_{t}({0}, {1})"},
    "where": _all("{0} ? {1} : {2}"),
    "copy": _all("{0}"),
    **{
        name: _math(c_name)
        for name, c_name in {
            "tan": "tan", "arcsin": "asin", "arccos": "acos",
            "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "arcsinh": "asinh",
            "arccosh": "acosh", "arctanh": "atanh", "exp2": "exp2", "cbrt": "cbrt",
        }.items()
    },
}  # fmt: skip
