"""Gamma and Dirichlet numbers, to the bit those of PyTorch."""

import math
from collections.abc import Callable

import numpy as np

from tapegrad.core.streams.mersenne_twister import TO_FRACTION_64, Twister
from tapegrad.core.streams.recorded import recorded

Draw = Callable[[], float]

_THIRD = float(np.float32(1 / 3))  # in single precision, as in the samples of PyTorch


@recorded
def standard_gamma(stream: Twister, shapes: np.ndarray) -> np.ndarray:
    """A number of rate 1 for each shape parameter, in float64.

    >>> import numpy as np
    >>> from tapegrad.core.streams.gamma import standard_gamma
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> standard_gamma(Twister(0), np.array([0.5, 2.0])).round(4)
    array([0.0008, 0.6315])
    """
    with stream.lock:

        def fraction() -> float:
            return float(stream.low53(1)[0]) * TO_FRACTION_64

        def normal() -> float:
            if stream.normal is not None:
                number, stream.normal = stream.normal, None
                return number
            angle, x = 2 * math.pi * fraction(), fraction()
            radius = math.sqrt(-2 * math.log1p(-x))
            stream.normal = radius * math.sin(angle)
            return radius * math.cos(angle)

        drawn = [_one(a, fraction, normal) for a in shapes.ravel().tolist()]
    return np.array(drawn, np.float64).reshape(shapes.shape)


def _one(a: float, fraction: Draw, normal: Draw) -> float:
    """Source: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000."""
    scale = 1.0
    if a < 1.0:  # section 6: a number of shape a + 1 and a power of a fraction
        if a == 0.0:
            return 0.0
        scale = (1 - fraction()) ** (1.0 / a) if a > 0 else math.nan
        a += 1.0
    d = a - _THIRD
    if not d > 0:
        return math.nan
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        y = 0.0
        while y <= 0:
            x = normal()
            y = 1.0 + c * x
        v = y * y * y
        u = 1 - fraction()
        squared = x * x
        if u < 1.0 - 0.0331 * squared * squared:
            return scale * d * v
        if math.log(u) < 0.5 * squared + d * (1.0 - v + math.log(v)):
            return scale * d * v
