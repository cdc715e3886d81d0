"""C's names of dtypes, and numbers as C writes them."""

import math

import numpy as np

from tapegrad.core.annotations import Any, NativeDType

NAMES = {
    "f4": "float", "f8": "double", "b1": "uint8_t", "u1": "uint8_t", "i1": "int8_t",
    "i2": "int16_t", "u2": "uint16_t", "i4": "int32_t", "u4": "uint32_t", "i8": "int64_t",
    "u8": "uint64_t",
}  # fmt: skip
SUFFIXES = {
    "f4": "f32", "f8": "f64", "b1": "u8", "u1": "u8", "i1": "i8", "i2": "i16", "u2": "u16",
    "i4": "i32", "u4": "u32", "i8": "i64", "u8": "u64",
}  # fmt: skip


def has_name(dtype: Any) -> bool:
    """Whether C computes with the dtype."""
    return dtype.isnative and dtype.str[1:] in NAMES


def name(dtype: NativeDType) -> str:
    """The type in C; bytes for what C does not compute with."""
    return NAMES.get(dtype.str[1:], "char") if dtype.isnative else "char"


def suffix(dtype: NativeDType) -> str:
    return SUFFIXES[dtype.str[1:]]


def literal(x: Any, dtype: NativeDType) -> str:
    """A number as C writes it, in the dtype to which it is rounded."""
    if dtype.kind == "f":
        x = float(dtype.type(x))
        if math.isnan(x):
            return "NAN" if dtype.itemsize == 4 else "(double)NAN"
        if math.isinf(x):
            text = "INFINITY" if dtype.itemsize == 4 else "(double)INFINITY"
            return text if x > 0 else f"-{text}"
        text = f"{float(f'{x:.9g}')!r}f" if dtype.itemsize == 4 else repr(x)
        return f"({text})" if text[0] == "-" else text
    if dtype.kind == "b":
        return "1" if x else "0"
    x = int(np.asarray(x).astype(dtype))
    if dtype.itemsize == 8:
        if x == -(2**63):
            return "INT64_MIN"
        return f"UINT64_C({x})" if dtype.kind == "u" else f"INT64_C({x})"
    return str(x) if x >= 0 else f"({x})"


def cast(text: str, have: NativeDType, want: NativeDType) -> str:
    """An expression of one dtype in another."""
    if have == want:
        return text
    if want.kind == "b":
        return f"({text} != 0)"
    return f"({name(want)}){text}"
