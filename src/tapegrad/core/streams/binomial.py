"""Binomial counts: how many of some trials succeed."""

import math
from collections.abc import Callable

import numpy as np

from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.core.streams.one_by_one import one_by_one
from tapegrad.core.streams.rounding import cast


def binomial(stream: Twister, trials: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """A count for each pair of elements, in the dtype of `trials`; the two broadcast.

    >>> import numpy as np
    >>> from tapegrad.core.streams.binomial import binomial
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> binomial(Twister(0), np.full(4, 10.0), np.array(0.3))
    array([6., 3., 3., 2.])
    """
    trials, chances = np.broadcast_arrays(trials, chances)
    with one_by_one(stream) as draw:
        counts = [
            _count(n, p, draw)
            for n, p in zip(trials.ravel().tolist(), chances.ravel().tolist(), strict=True)
        ]
    return cast(np.array(counts, np.float64), trials.dtype).reshape(trials.shape)


def _count(n: float, p: float, draw: Callable[[], float]) -> float:
    if math.isnan(n) or math.isnan(p):
        return math.nan
    if n <= 0 or p <= 0:
        return 0
    if p >= 1:
        return n
    if p > 0.5:
        return n - _count(n, 1 - p, draw)
    return _by_rejection(n, p, draw) if n * p >= 10 else _by_waiting(n, p, draw)


def _by_waiting(n: float, p: float, draw: Callable[[], float]) -> int:
    """Trials up to each success are added up. Source: Devroye, 1986, section X.4.3."""
    log_failure = math.log1p(-p)
    total, count = 0.0, 0
    while True:
        total += math.ceil(math.log(draw()) / log_failure)
        if total > n:
            return count
        count += 1


def _by_rejection(n: float, p: float, draw: Callable[[], float]) -> int:
    """Transformed rejection with squeeze. Source: Hörmann, 1993, algorithm BTRS."""
    deviation = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    v_r = 0.92 - 4.2 / b
    odds = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor((n + 1) * p)
    while True:
        u = draw() - 0.5
        v = draw()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + n * p + 0.5)
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or k > n:
            continue
        accepted = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * math.log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * math.log(odds * (n - k + 1) / (k + 1))
            + _tail(mode)
            + _tail(n - mode)
            - _tail(k)
            - _tail(n - k)
        )
        if math.log(v * alpha / (a / (us * us) + b)) <= accepted:
            return k


def _tail(k: float) -> float:
    """What Stirling's formula lacks of log(k!): its error at k + 1."""
    exact = math.lgamma(k + 1)
    return exact - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
