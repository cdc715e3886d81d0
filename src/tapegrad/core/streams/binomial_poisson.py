"""Binomial counts, of trials that succeed, and Poisson counts, of events at a rate."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from operator import length_hint

import numpy as np

from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.core.streams.recorded import recorded
from tapegrad.core.streams.rounding import cast

_AHEAD = 4096  # fractions drawn at a time


@contextmanager
def one_by_one(stream: Twister) -> Iterator[Callable[[], float]]:
    """A function that gives the next fraction; in the end the stream is behind the last one.

    >>> from tapegrad.core.streams.binomial_poisson import one_by_one
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> with one_by_one(Twister(0)) as draw:
    ...     round(draw(), 4)
    0.9701
    """
    with stream.lock:
        before = stream.pack()
        n_drawn, ahead = 0, iter([0.0][:0])

        def runs() -> Iterator[Iterator[float]]:
            nonlocal n_drawn, ahead
            while True:
                ahead = iter(stream.fractions64(_AHEAD).tolist())
                n_drawn += _AHEAD
                yield ahead

        try:
            yield chain.from_iterable(runs()).__next__
        finally:
            stream.unpack(before)  # what was drawn ahead and not used is given back
            stream.u64(n_drawn - length_hint(ahead))


@recorded
def binomial(stream: Twister, trials: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """A count for each pair of elements, in the dtype of `trials`; the two broadcast.

    >>> import numpy as np
    >>> from tapegrad.core.streams.binomial_poisson import binomial
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> binomial(Twister(0), np.full(4, 10.0), np.array(0.3))
    array([6., 3., 3., 2.])
    """
    trials, chances = np.broadcast_arrays(trials, chances)
    with one_by_one(stream) as draw, np.errstate(all="ignore"):
        counts = [
            _count(n, p, draw, terms) for n, p, *terms in zip(*_terms(trials, chances), strict=True)
        ]
    return cast(np.array(counts, np.float64), trials.dtype).reshape(trials.shape)


def _terms(trials: np.ndarray, chances: np.ndarray) -> Iterator[list]:
    """Each pair and what a draw by rejection needs of it, rounded to their dtype."""

    def rounded(x: np.ndarray) -> np.ndarray:
        return x.astype(trials.dtype).astype(np.float64)

    n = trials.astype(np.float64)
    p = np.minimum(chances, 1 - chances).astype(np.float64)  # of what is rarer
    mean, failure = rounded(n * p), rounded(1 - p)
    deviation = rounded(np.sqrt(rounded(mean * failure)))
    b = rounded(1.15 + 2.53 * deviation)
    a = rounded(-0.0873 + 0.0248 * b + 0.01 * p)
    v_r = rounded(0.92 - 4.2 / b)
    odds = rounded(p / failure)
    alpha = rounded((2.83 + 5.1 / b) * deviation)
    mode = np.floor(rounded(rounded(n + 1) * p))
    return (each.ravel().tolist() for each in (trials, chances, mean, a, b, v_r, odds, alpha, mode))


def _count(n: float, p: float, draw: Callable[[], float], terms: list[float]) -> float:
    if math.isnan(n) or math.isnan(p):
        return math.nan
    if n <= 0 or p <= 0:
        return 0
    if p >= 1:
        return n
    if p > 0.5:
        return n - _count(n, 1 - p, draw, terms)
    return _by_rejection(n, draw, *terms) if terms[0] >= 10 else _by_waiting(n, p, draw)


def _by_waiting(n: float, p: float, draw: Callable[[], float]) -> int:
    """Trials up to each success are added up. Source: Devroye, 1986, section X.4.3."""
    log_failure = math.log1p(-p)
    total, count = 0.0, 0
    while True:
        total += math.ceil(math.log(draw()) / log_failure)
        if total > n:
            return count
        count += 1


def _by_rejection(
    n: float,
    draw: Callable[[], float],
    mean: float,
    a: float,
    b: float,
    v_r: float,
    odds: float,
    alpha: float,
    mode: float,
) -> int:
    """Transformed rejection with squeeze. Source: Hörmann, 1993, algorithm BTRS."""
    while True:
        u = draw() - 0.5
        v = draw()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + mean + 0.5)
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


@recorded
def poisson(stream: Twister, rates: np.ndarray) -> np.ndarray:
    """A count for each rate, in the dtype of `rates`.

    >>> import numpy as np
    >>> from tapegrad.core.streams.binomial_poisson import poisson
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> poisson(Twister(0), np.full(4, 5.0))
    array([8., 4., 6., 4.])
    """
    with one_by_one(stream) as draw:
        counts = [_poisson_count(rate, draw) for rate in rates.ravel().tolist()]
    return cast(np.array(counts, np.float64), rates.dtype).reshape(rates.shape)


def _poisson_count(rate: float, draw: Callable[[], float]) -> int:
    if rate == 0:
        return 0
    return _poisson_by_rejection(rate, draw) if rate >= 10 else _by_product(rate, draw)


def _by_product(rate: float, draw: Callable[[], float]) -> int:
    """Fractions are multiplied until they are below exp(-rate). Source: Knuth, 1969."""
    limit = math.exp(-rate)
    product, count = draw(), 0
    while product > limit:
        product *= draw()
        count += 1
    return count


@lru_cache(1024)  # of a tensor most rates are often the same
def _rejection_constants(rate: float) -> tuple[float, float, float, float, float]:
    b = 0.931 + 2.53 * math.sqrt(rate)
    log_inverse_alpha = math.log(1.1239 + 1.1328 / (b - 3.4))
    return -0.059 + 0.02483 * b, b, log_inverse_alpha, 0.9277 - 3.6224 / (b - 2), math.log(rate)


def _poisson_by_rejection(rate: float, draw: Callable[[], float]) -> int:
    """Transformed rejection with squeeze. Source: Hörmann, 1993, algorithm PTRS."""
    a, b, log_inverse_alpha, v_r, log_rate = _rejection_constants(rate)
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
