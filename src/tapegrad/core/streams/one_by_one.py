"""Fractions of a stream one at a time, for draws that take as many as it happens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tapegrad.core.streams.mersenne_twister import Twister

_AHEAD = 4096  # fractions drawn at a time


@contextmanager
def one_by_one(stream: Twister) -> Iterator[Callable[[], float]]:
    """A function that gives the next fraction; in the end the stream is behind the last one.

    >>> from tapegrad.core.streams.one_by_one import one_by_one
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> with one_by_one(Twister(0)) as draw:
    ...     round(draw(), 4)
    0.9701
    """
    with stream.lock:
        before = stream.pack()
        n_used = 0

        def fractions() -> Iterator[float]:
            nonlocal n_used
            while True:
                for x in stream.fractions64(_AHEAD).tolist():
                    n_used += 1
                    yield x

        try:
            yield fractions().__next__
        finally:
            stream.unpack(before)  # what was drawn ahead and not used is given back
            stream.u64(n_used)
