"""Small C functions that expressions call, each emitted where it is used.

What is frequent is vector math; what is rare calls the C library. Names end in the suffix of their
dtype.
"""

import re

from tapegrad.compiler.c_backend import vector_math
from tapegrad.compiler.c_backend.templates import basics, library

HEADER = """\
#include <math.h>
#include <stdint.h>
#include <string.h>
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline)) /* copies of a loop in each place only take long */
#ifdef __clang__ /* what calls the loops one after the other is long, and runs in no time */
#define ONCE __attribute__((noinline, optnone))
#define TILES __attribute__((noinline, min_vector_width(512))) /* else it halves vectors */
#else
#define ONCE __attribute__((optimize("O0")))
#define TILES __attribute__((noinline)) /* inside of others they have too few registers */
#endif
#ifdef __AVX512F__ /* bytes of a vector */
#define TG_WIDE 64
#elif defined __AVX__
#define TG_WIDE 32
#else
#define TG_WIDE 16
#endif
#if defined __AVX512F__ && !defined __clang__ /* else it takes half of a vector */
#define WHOLE __attribute__((noinline, target("prefer-vector-width=512")))
#else
#define WHOLE
#endif
"""

_REAL = {"f32": ("float", "f"), "f64": ("double", "")}
_INTEGER = {
    "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t",
    "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
}  # fmt: skip

_SIMPLE = {
    "abs": "__builtin_fabs{c}(x)",
    "floor": "__builtin_floor{c}(x)",
    "ceil": "__builtin_ceil{c}(x)",
    "trunc": "__builtin_trunc{c}(x)",
    "rint": "__builtin_rint{c}(x)",
}

FUNCTIONS: dict[str, str] = {}
for _t, (_real, _c) in _REAL.items():
    for _name, _body in _SIMPLE.items():
        FUNCTIONS[f"tg_{_name}_{_t}"] = (
            f"INLINE {_real} tg_{_name}_{_t}({_real} x) {{ return {_body.format(c=_c)}; }}\n"
        )
    FUNCTIONS[f"tg_copysign_{_t}"] = (
        f"INLINE {_real} tg_copysign_{_t}({_real} x, {_real} y)"
        f" {{ return __builtin_copysign{_c}(x, y); }}\n"
    )
    FUNCTIONS[f"tg_remainder_{_t}"] = f"""\
INLINE {_real} tg_remainder_{_t}({_real} x, {_real} y) {{ /* with the sign of y, as in Python */
    {_real} r = fmod{_c}(x, y);
    if (y == 0) return r;
    if (r == 0) return __builtin_copysign{_c}(0, y);
    return (y < 0) != (r < 0) ? r + y : r;
}}
"""
    FUNCTIONS[f"tg_floor_divide_{_t}"] = f"""\
INLINE {_real} tg_floor_divide_{_t}({_real} x, {_real} y) {{ /* as in Python */
    {_real} r = fmod{_c}(x, y), d = (x - r) / y;
    if (y == 0) return x / y;
    if (r != 0 && (y < 0) != (r < 0)) d -= 1;
    if (d == 0) return __builtin_copysign{_c}(0, x / y);
    {_real} f = __builtin_floor{_c}(d);
    return d - f > ({_real})0.5 ? f + 1 : f;
}}
"""
for _t, _integer in _INTEGER.items():
    _bits = int(_t[1:])
    _signed = _t[0] == "i"
    FUNCTIONS[f"tg_left_shift_{_t}"] = (
        f"INLINE {_integer} tg_left_shift_{_t}({_integer} x, {_integer} n)"
        f" {{ return (uint64_t)n < {_bits} ? ({_integer})((uint64_t)x << n) : 0; }}\n"
    )
    _rest = "x < 0 ? -1 : 0" if _signed else "0"
    FUNCTIONS[f"tg_right_shift_{_t}"] = (
        f"INLINE {_integer} tg_right_shift_{_t}({_integer} x, {_integer} n)"
        f" {{ return (uint64_t)n < {_bits} ? x >> n : ({_rest}); }}\n"
    )
    _down = "q - ((x % y != 0) & ((x < 0) != (y < 0)))" if _signed else "q"
    _least = "if (y == -1) return -x; " if _signed else ""
    FUNCTIONS[f"tg_floor_divide_{_t}"] = (
        f"INLINE {_integer} tg_floor_divide_{_t}({_integer} x, {_integer} y) {{"
        f" if (y == 0) return 0; {_least}{_integer} q = x / y; return {_down}; }}\n"
    )
    _up = "r != 0 && (r < 0) != (y < 0) ? r + y : r" if _signed else "r"
    _least = "if (y == -1) return 0; " if _signed else ""
    FUNCTIONS[f"tg_remainder_{_t}"] = (
        f"INLINE {_integer} tg_remainder_{_t}({_integer} x, {_integer} y) {{"
        f" if (y == 0) return 0; {_least}{_integer} r = x % y; return {_up}; }}\n"
    )


_CALLED = re.compile(r"\btg_\w+(?=\()")
_OF_LIBRARY = re.compile(r"tg_math(2?)_(\w+)_(f32|f64)")


def definition(name: str) -> str | None:
    """The C text of a function; None for one that is no function of ours."""
    found = FUNCTIONS.get(name)
    of_library = _OF_LIBRARY.fullmatch(name)
    if found is not None or of_library is None:
        return found
    second, function, t = of_library.groups()
    real, c = _REAL[t]
    if second:
        return f"INLINE {real} {name}({real} x, {real} y) {{ return {function}{c}(x, y); }}\n"
    return f"INLINE {real} {name}({real} x) {{ return {function}{c}(x); }}\n"


def used_by(source: str) -> str:
    """The definitions of all functions that a source calls, in an order in which they compile."""
    done: dict[str, str] = {}

    def define(name: str) -> None:
        text = definition(name)
        if name in done or text is None:
            return
        for each in _CALLED.findall(text):
            if each != name:
                define(each)
        done[name] = text

    called = dict.fromkeys(_CALLED.findall(source))
    for name in called:
        define(name)
    text = "".join(done.values())
    named = [*called, *_CALLED.findall(text)]
    of_templates = [x for x in named if x not in basics().definitions and definition(x) is None]
    texts = library() if of_templates else basics()
    vector = [x for x in named if x in texts.definitions]
    if not vector:
        return text
    needed = texts.source(vector)
    vector += [f"tg_gemm_type_{t}" for t in _REAL if f"gemm_{t}(" in needed]
    found = []
    for name in texts.needed(vector):
        each = texts.definitions[name].text
        if name in vector_math.LIBRARY.definitions:
            # a loop is vectorised where all that it calls is inside it
            each = each.replace("static inline ", "INLINE ")
        found.append((name, re.sub(r"^tg_gemm_type_", "static tg_gemm_type_", each, flags=re.M)))
    order = {name: i for i, name in enumerate(texts.definitions)}
    found.sort(key=lambda each: order[each[0]])
    return "\n".join(each for _, each in found) + "\n" + text
