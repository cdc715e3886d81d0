"""How the numbers of one tensor are written: the same notation and the same width for all."""

from math import isfinite

import numpy as np


class WholeStyle:
    """Integers and booleans: as Python writes them."""

    def __init__(self, values):
        self.width = max(len(str(value)) for value in (values.min(), values.max()))

    def write(self, value) -> str:
        return str(value).rjust(self.width)


class FloatStyle:
    """Floating-point numbers: `1.` if all are whole, else fixed point or scientific."""

    def __init__(self, values, precision, scientific):
        # Zeros, nan and infinities have no say: they may stick out of their column.
        values = values[np.isfinite(values) & (values != 0)]
        whole = bool((values == np.ceil(values)).all())
        if values.size == 0:
            scientific = False
        elif scientific is None:
            scientific = _is_scientific(np.abs(values), whole)
        self._spec = f".{precision}e" if scientific else ".0f" if whole else f".{precision}f"
        self._point = "." if whole and not scientific else ""
        self.width = max((len(self._text(value)) for value in values.tolist()), default=1)

    def _text(self, value):
        text = format(value, self._spec)
        return text + self._point if isfinite(value) else text

    def write(self, value) -> str:
        return self._text(value).rjust(self.width)


def _is_scientific(sizes, whole):
    """Whether numbers of these absolute values are better read in scientific notation."""
    low, high = sizes.min().item(), sizes.max().item()  # Python's floats overflow silently
    return high / low > 1000 or high > 1e8 or (not whole and low < 1e-4)


class ComplexStyle:
    """Complex numbers: the real and the imaginary parts each have a style of their own."""

    def __init__(self, values, precision, scientific):
        self._real = FloatStyle(values.real, precision, scientific)
        self._imag = FloatStyle(values.imag, precision, scientific)
        self.width = self._real.width + self._imag.width + 1

    def write(self, value) -> str:
        imag = self._imag.write(value.imag).lstrip() + "j"
        sign = "" if imag[0] == "-" else "+"
        return self._real.write(value.real) + sign + imag


def style_of(values, precision, scientific=None):
    """The style that fits `values`, judged in double precision whatever their dtype.

    Args:
        values: array of any shape with at least one element.
        precision: digits after the decimal point.
        scientific: True or False to force the notation, None to let the values decide.

    >>> import numpy as np
    >>> style = style_of(np.array([1.5, -20.0]), precision=2)
    >>> style.width, style.write(1.5)
    (6, '  1.50')
    """
    kind = values.dtype.kind
    if kind in "iub":
        return WholeStyle(values)
    double = np.complex128 if kind == "c" else np.float64
    style = ComplexStyle if kind == "c" else FloatStyle
    return style(values.astype(double).reshape(-1), precision, scientific)
