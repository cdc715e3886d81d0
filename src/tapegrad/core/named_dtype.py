"""Dtypes that have a name and no arrays: integers of less than a byte, bits, quantised numbers.

Programs mention them, in tables of what they know; a tensor of one is refused.
"""

from tapegrad.core.dtype import _INTEGER, _make, dtype
from tapegrad.core.errors import runtime_error

__torch__ = (
    "bits16 bits1x8 bits2x4 bits4x2 bits8 int1 int2 int3 int4 int5 int6 int7 qint32 qint8 "
    "quint2x4 quint4x2 quint8 uint1 uint2 uint3 uint4 uint5 uint6 uint7"
)

_NEITHER = 4  # after booleans, integers, fractions and complex numbers


def _scalar_name(name: str) -> str:
    """What messages call it: "UInt4", "QInt8", "Bits1x8"."""
    head, rest = name[:1].upper(), name[1:]
    return head + rest.replace("uint", "UInt").replace("int", "Int", name[:1] in "qu")


def _named(name: str) -> dtype:
    bits = name.lstrip("bitsqun")
    kind = "u" if name[0] == "u" else "i"
    size = 8 if "x" in bits else int(bits)
    category = _INTEGER if name[:3] in ("int", "uin") else _NEITHER
    made = _make(name, f"{kind}{size}", _scalar_name(name), category)
    if category == _NEITHER:
        object.__delattr__(made, "is_signed")
    return made


def promote(a: dtype, b: dtype) -> dtype:
    """Unsigned integers become the fraction beside them; there is no other rule."""
    names = f"{a.scalar_name} and {b.scalar_name}"
    if any(each.name[0] == "q" for each in (a, b)):
        text = (
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct "
            f"rules should be, offending types: {a.scalar_name} {b.scalar_name}"
        )
    elif any(each.category == _NEITHER for each in (a, b)):
        text = f"Promotion from {names} is unsupported."
    elif any(each.abbr[:2] == "f8" for each in (a, b)):
        text = f"Promotion for Float8 Types is not supported, attempted to promote {names}"
    else:
        for one, other in ((a, b), (b, a)):
            if one.name[0] == "u" and other.is_floating_point:
                return other
        text = (
            "Promotion for uint16, uint32, uint64 types is not supported, "
            f"attempted to promote {names}"
        )
    raise runtime_error(text, "A type of whole bytes, such as torch.int8, has rules.")


def __getattr__(name: str) -> dtype:
    if name not in __torch__.split():
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    made = globals()[name] = _named(name)
    return made
