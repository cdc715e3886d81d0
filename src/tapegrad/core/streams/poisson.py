"""Poisson counts. How many fractions one takes is known only once it is drawn: a loop."""

import math
from collections.abc import Callable

import numpy as np

from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.core.streams.one_by_one import one_by_one
from tapegrad.core.streams.rounding import cast


def poisson(stream: Twister, rates: np.ndarray) -> np.ndarray:
    """A count for each rate, in the dtype of `rates`.

    >>> import numpy as np
    >>> from tapegrad.core.streams.poisson import poisson
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> poisson(Twister(0), np.full(4, 5.0))
    array([8., 4., 6., 4.])
    """
    with one_by_one(stream) as draw:
        counts = [_count(rate, draw) for rate in rates.ravel().tolist()]
    return cast(np.array(counts, np.float64), rates.dtype).reshape(rates.shape)


def _count(rate: float, draw: Callable[[], float]) -> int:
    if rate == 0:
        return 0
    return _by_rejection(rate, draw) if rate >= 10 else _by_product(rate, draw)


def _by_product(rate: float, draw: Callable[[], float]) -> int:
    """Fractions are multiplied until they are below exp(-rate). Source: Knuth, 1969."""
    limit = math.exp(-rate)
    product, count = draw(), 0
    while product > limit:
        product *= draw()
        count += 1
    return count


def _by_rejection(rate: float, draw: Callable[[], float]) -> int:
    """Transformed rejection with squeeze. Source: Hörmann, 1993, algorithm PTRS."""
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = math.log(1.1239 + 1.1328 / (b - 3.4))
    v_r = 0.9277 - 3.6224 / (b - 2)
    log_rate = math.log(rate)
    while True:
        u = draw() - 0.5
        v = draw()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        accepted = -rate + k * log_rate - math.lgamma(k + 1)
        if math.log(v) + log_inverse_alpha - math.log(a / (us * us) + b) <= accepted:
            return k
