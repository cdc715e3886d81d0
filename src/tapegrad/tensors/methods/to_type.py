"""Methods that change the dtype or the place."""

from tapegrad.core import dtype as _dtype
from tapegrad.core.annotations import Any, MemoryFormat
from tapegrad.operators.conversion import to_type as _cast


def _conversion(name: str, dtype: Any, remark: str = ".") -> Any:
    def convert(self: Any, memory_format: MemoryFormat = None) -> Any:
        return _cast.cast_as(self, dtype, memory_format)

    convert.__name__, convert.__qualname__ = name, f"CastMethods.{name}"
    convert.__doc__ = f"`self.to({dtype})`{remark}"
    return convert


class CastMethods:
    """Conversions."""

    __slots__ = ()
    to = _cast.to
    type = _cast.type_
    type_as = _cast.type_as
    cpu = _cast.cpu
    cuda = _cast.cuda

    float = _conversion("float", _dtype.float32)
    double = _conversion("double", _dtype.float64)
    half = _conversion("half", _dtype.float16)
    bfloat16 = _conversion("bfloat16", _dtype.bfloat16)
    cfloat = _conversion("cfloat", _dtype.complex64)
    cdouble = _conversion("cdouble", _dtype.complex128)
    chalf = _conversion("chalf", _dtype.complex32, ": an error, no array has such elements.")
    long = _conversion("long", _dtype.int64)
    int = _conversion("int", _dtype.int32)
    short = _conversion("short", _dtype.int16)
    char = _conversion("char", _dtype.int8)
    byte = _conversion("byte", _dtype.uint8)
    bool = _conversion("bool", _dtype.bool_)
