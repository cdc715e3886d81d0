"""Methods that change the dtype or the place."""

from __future__ import annotations

from typing import Any

from tapegrad.core.annotations import MemoryFormat
from tapegrad.core.dtype import (
    bfloat16,
    bool_,
    complex32,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from tapegrad.operators.conversion import to_type


class CastMethods:
    """Conversions."""

    __slots__ = ()
    to = to_type.to
    type = to_type.type_
    type_as = to_type.type_as
    cpu = to_type.cpu
    cuda = to_type.cuda

    def float(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.float32)`."""
        return to_type.cast_as(self, float32, memory_format)

    def double(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.float64)`."""
        return to_type.cast_as(self, float64, memory_format)

    def half(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.float16)`."""
        return to_type.cast_as(self, float16, memory_format)

    def bfloat16(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.bfloat16)`."""
        return to_type.cast_as(self, bfloat16, memory_format)

    def cfloat(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.complex64)`."""
        return to_type.cast_as(self, complex64, memory_format)

    def cdouble(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.complex128)`."""
        return to_type.cast_as(self, complex128, memory_format)

    def chalf(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.complex32)`: an error, no array has elements of that type."""
        return to_type.cast_as(self, complex32, memory_format)

    def long(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.int64)`."""
        return to_type.cast_as(self, int64, memory_format)

    def int(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.int32)`."""
        return to_type.cast_as(self, int32, memory_format)

    def short(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.int16)`."""
        return to_type.cast_as(self, int16, memory_format)

    def char(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.int8)`."""
        return to_type.cast_as(self, int8, memory_format)

    def byte(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.uint8)`."""
        return to_type.cast_as(self, uint8, memory_format)

    def bool(self, memory_format: MemoryFormat = None) -> Any:
        """`self.to(torch.bool)`."""
        return to_type.cast_as(self, bool_, memory_format)
