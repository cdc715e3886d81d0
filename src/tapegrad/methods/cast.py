"""Methods that change the dtype or the place."""

from __future__ import annotations

from typing import Any

from tapegrad import dtype as _dtype
from tapegrad.ops import cast as _cast


class CastMethods:
    """Conversions."""

    __slots__ = ()
    to = _cast.to
    type = _cast.type_
    type_as = _cast.type_as
    cpu = _cast.cpu
    cuda = _cast.cuda

    def float(self, memory_format: Any = None) -> Any:
        """`self.to(torch.float32)`."""
        return _cast.cast_as(self, _dtype.float32, memory_format)

    def double(self, memory_format: Any = None) -> Any:
        """`self.to(torch.float64)`."""
        return _cast.cast_as(self, _dtype.float64, memory_format)

    def half(self, memory_format: Any = None) -> Any:
        """`self.to(torch.float16)`."""
        return _cast.cast_as(self, _dtype.float16, memory_format)

    def bfloat16(self, memory_format: Any = None) -> Any:
        """`self.to(torch.bfloat16)`."""
        return _cast.cast_as(self, _dtype.bfloat16, memory_format)

    def cfloat(self, memory_format: Any = None) -> Any:
        """`self.to(torch.complex64)`."""
        return _cast.cast_as(self, _dtype.complex64, memory_format)

    def cdouble(self, memory_format: Any = None) -> Any:
        """`self.to(torch.complex128)`."""
        return _cast.cast_as(self, _dtype.complex128, memory_format)

    def chalf(self, memory_format: Any = None) -> Any:
        """`self.to(torch.complex32)`: an error, no array has elements of that type."""
        return _cast.cast_as(self, _dtype.complex32, memory_format)

    def long(self, memory_format: Any = None) -> Any:
        """`self.to(torch.int64)`."""
        return _cast.cast_as(self, _dtype.int64, memory_format)

    def int(self, memory_format: Any = None) -> Any:
        """`self.to(torch.int32)`."""
        return _cast.cast_as(self, _dtype.int32, memory_format)

    def short(self, memory_format: Any = None) -> Any:
        """`self.to(torch.int16)`."""
        return _cast.cast_as(self, _dtype.int16, memory_format)

    def char(self, memory_format: Any = None) -> Any:
        """`self.to(torch.int8)`."""
        return _cast.cast_as(self, _dtype.int8, memory_format)

    def byte(self, memory_format: Any = None) -> Any:
        """`self.to(torch.uint8)`."""
        return _cast.cast_as(self, _dtype.uint8, memory_format)

    def bool(self, memory_format: Any = None) -> Any:
        """`self.to(torch.bool)`."""
        return _cast.cast_as(self, _dtype.bool_, memory_format)
