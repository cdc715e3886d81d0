"""The limits of each dtype: `finfo` for fractions, `iinfo` for integers."""

from functools import cache

from tapegrad.core.dtype import (
    BY_NAME,
    as_dtype,
    bfloat16,
    bool_,
    default,
    dtype,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
)
from tapegrad.core.errors import type_error

# Stored bits of the fraction, largest exponent: all the rest follows from these two.
_FORMATS = {float16: (10, 15), bfloat16: (7, 127), float32: (23, 127), float64: (52, 1023)}

# Where codes of inf and nan are used otherwise: eps, largest number, least normal number.
_FORMATS_OF_8 = {
    float8_e4m3fn: (2.0**-3, 448.0, 2.0**-6),
    float8_e4m3fnuz: (2.0**-3, 240.0, 2.0**-7),
    float8_e5m2: (2.0**-2, 57344.0, 2.0**-14),
    float8_e5m2fnuz: (2.0**-3, 57344.0, 2.0**-15),
    float8_e8m0fnu: (1.0, 2.0**127, 2.0**-127),
}


class _Limits:
    __slots__ = ()

    def __setattr__(self, name, value):
        owner = type(self)
        if name in owner.__slots__:
            raise AttributeError(
                f"attribute '{name}' of 'torch.{owner.__name__}' objects is not writable"
            )
        raise AttributeError(f"'torch.{owner.__name__}' object has no attribute '{name}'")

    def __eq__(self, other):  # and no __hash__, as in PyTorch
        if type(other) is not type(self):
            return NotImplemented
        return self.dtype == other.dtype

    def __reduce__(self):
        name = type(self).__name__
        raise type_error(f"cannot pickle '{name}' object", "Pickle the dtype, and ask again.")

    def _fill(self, **fields):
        for name, value in fields.items():
            object.__setattr__(self, name, value)


class finfo(_Limits):
    """The limits of a floating-point type, or of the parts of a complex one.

    >>> torch.finfo(torch.float32).eps
    1.1920928955078125e-07
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    bits: int
    eps: float
    max: float
    min: float
    resolution: float
    smallest_normal: float
    tiny: float

    def __init__(self, type: dtype | None = None):
        given = default() if type is None else as_dtype(type, "finfo", "type", 1)
        if not given.is_floating_point and not given.is_complex:
            raise type_error(
                "torch.finfo() requires a floating point input type. "
                "Use torch.iinfo to handle 'torch.finfo'",
                f"torch.iinfo(torch.{given.name}) has the limits of this type.",
            )
        real = given.to_real()
        self._fill(bits=real.itemsize * 8, dtype=real.name)
        if real in _FORMATS_OF_8:
            eps, largest, smallest = _FORMATS_OF_8[real]
            least = -largest if real.is_signed else smallest
            self._fill(eps=eps, max=largest, min=least, resolution=1.0)
            self._fill(smallest_normal=smallest, tiny=smallest)
            return
        if real not in _FORMATS:
            raise type_error(
                "bad argument type for built-in operation",
                f"The limits of torch.{real.name} are those of its halves of a byte, -6 and 6.",
            )
        n_fraction, top = _FORMATS[real]
        largest = (2.0 - 2.0**-n_fraction) * 2.0**top
        smallest = 2.0 ** (1 - top)
        self._fill(eps=2.0**-n_fraction, max=largest, min=-largest)
        self._fill(smallest_normal=smallest, tiny=smallest)
        # As many decimal digits as always survive a round trip: n_fraction * log10(2) of them.
        self._fill(resolution=float(f"1e-{n_fraction * 30103 // 100000}"))

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, "
            f"tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Limits):
    """The limits of an integer type.

    >>> torch.iinfo(torch.int8).max
    127
    """

    __slots__ = ("bits", "dtype", "max", "min")

    bits: int
    max: int
    min: int

    def __init__(self, type: dtype):
        given = as_dtype(type, "iinfo", "type", 1)
        if given.is_floating_point or given.is_complex or given.name not in BY_NAME:
            raise type_error(
                "torch.iinfo() requires an integer input type. "
                "Use torch.finfo to handle 'torch.iinfo'",
                f"torch.{given.name} is no integer type of whole bytes.",
            )
        if given is bool_:
            raise type_error(
                "torch.bool is not supported by torch.iinfo", "Pass an integer type: torch.uint8."
            )
        bits = given.itemsize * 8
        self._fill(bits=bits, dtype=given.name)
        if given.is_signed:
            self._fill(min=-(2 ** (bits - 1)), max=2 ** (bits - 1) - 1)
        else:
            self._fill(min=0, max=2**bits - 1)

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


@cache
def largest(floating: dtype) -> float:
    """The largest number of a floating-point dtype."""
    return finfo(floating).max
