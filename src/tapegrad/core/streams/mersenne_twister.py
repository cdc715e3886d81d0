"""The source of all random numbers: a 32-bit Mersenne twister.

Source: Matsumoto and Nishimura, "Mersenne Twister", 1998. NumPy's generator of that name, seeded
the old way, draws the numbers PyTorch draws; it is imported when the first one is needed.
"""

from _thread import RLock
from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.memory_format import axes_by_stride
from tapegrad.core.streams.recorded import recorded


def laid_out_like(array: np.ndarray, draw: Callable) -> np.ndarray:
    """`draw(shape)`, called with the axes of `array` in the order of its memory, turned back.

    >>> import numpy as np
    >>> from tapegrad.core.streams.mersenne_twister import laid_out_like
    >>> laid_out_like(np.empty((2, 3)).T, lambda shape: np.arange(6).reshape(shape))
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    axes = axes_by_stride(array)
    drawn = draw(tuple(array.shape[axis] for axis in axes))
    return drawn if array.flags.c_contiguous else drawn.transpose(np.argsort(axes))


STATE_BYTES = 5056
_WORDS = 624  # 32-bit words of state

# PyTorch's state as bytes: seed, draws left + 1, seeded, next word, one word in each 8 bytes, and
# the normal number kept for the next call. The offsets were read off its states.
_SEED, _LEFT, _SEEDED, _NEXT = slice(0, 8), slice(8, 12), slice(12, 16), slice(16, 24)
_KEY, _NORMAL, _HAS_NORMAL = slice(24, 5016), slice(5024, 5032), slice(5040, 5044)

_FEW = 4096  # words: below, NumPy's raw draws cost less than its draws from a range
_HIGH = np.uint64(32)
_LOW_53 = np.int64(2**53 - 1)
_LOW_24 = np.array(2**24 - 1, np.int32)  # an array: as an operand it is faster than a number
TO_FRACTION_64 = 2.0**-53  # of what `low53` draws
TO_FRACTION_32 = np.array(2.0**-24, np.float32)  # of what `low24` draws


DRAWS = [0]
"""How often words were drawn, from any stream: whether some code draws is seen from outside."""


class Twister:
    """A stream of random words, and the one normal number that outlives a call.

    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> Twister(42).u32(2)
    array([1608637542, 3421126067], dtype=uint32)
    """

    __slots__ = (
        *("_ahead", "_bits", "_drawn", "_stale", "_words"),
        *("asked_for_few", "lock", "normal", "rooms", "seed"),
    )

    seed: int
    normal: float | None
    rooms: list  # where `normal` works, one for each thread
    asked_for_few: bool  # whether few normal numbers were drawn last
    _ahead: Any  # words that are drawn, but not asked for yet

    def __init__(self, seed: int) -> None:
        self.lock = RLock()
        self._bits: Any = None
        self.rooms = []
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start again from the low 32 bits of `seed`; the kept normal number is dropped."""
        with self.lock:
            self.seed = seed % 2**64
            self.normal = None
            self._ahead = None
            self.asked_for_few = False
            self._stale = True  # the seed has not been given to NumPy yet
            self._drawn = False

    def u32(self, n: int) -> np.ndarray:
        """`n` words of 32 bits."""
        with self.lock:
            self._ready(n)
            if n < _FEW:
                return self._bits.random_raw(n).astype(np.uint32)
            return self._words.randint(0, 2**32, n, np.uint32)

    def u64(self, n: int) -> np.ndarray:
        """`n` words of 64 bits, each from two of 32: the high half is drawn first."""
        with self.lock:
            self._ready(n)
            if n < _FEW // 2:
                halves = self._bits.random_raw(2 * n)
                return (halves[0::2] << _HIGH) | halves[1::2]
            return self._words.randint(0, 2**64, n, np.uint64)

    def low24(self, n: int) -> np.ndarray:
        """The low 24 bits of `n` words of 32, as int32."""
        with self.lock:
            return self.locked_low24(n)

    def locked_low24(self, n: int) -> np.ndarray:
        """As `low24`, for threads that take turns while another one holds the lock for them."""
        self._ready(n)
        if n < _FEW:
            words = self._bits.random_raw(n).astype(np.int32)
            return np.bitwise_and(words, _LOW_24, words)
        return self._words.randint(0, 2**24, n, np.int32)

    def locked_ahead(self) -> Any:
        """What draws words of 24 bits before they are asked for, until something else is drawn."""
        if self._ahead is None:
            from tapegrad.core.streams.ahead import Ahead

            self._ready()
            self._ahead = Ahead(self._bits)
        self._drawn = True
        DRAWS[0] += 1
        return self._ahead

    def low53(self, n: int) -> np.ndarray:
        """The low 53 bits of `n` words of 64, as int64."""
        with self.lock:
            return self.locked_low53(n)

    def locked_low53(self, n: int) -> np.ndarray:
        """As `low53`, for threads that take turns while another one holds the lock for them."""
        self._ready(n)
        if n < _FEW // 2:
            halves = self._bits.random_raw(2 * n)
            words = ((halves[0::2] << _HIGH) | halves[1::2]).view(np.int64)
            return np.bitwise_and(words, _LOW_53, words)
        return self._words.randint(0, 2**53, n, np.int64)

    def fractions64(self, n: int) -> np.ndarray:
        """`n` float64 in [0, 1), of 53 bits each."""
        return self.low53(n) * TO_FRACTION_64

    def _ready(self, n: int = 0) -> None:
        """Hand NumPy the seed if it does not have it; `n` words will be drawn."""
        if self._bits is None:
            from numpy.random import MT19937, RandomState

            self._bits = MT19937()
            self._words = RandomState(self._bits)  # two faces of one state
        if self._stale:
            self._words.seed(self.seed % 2**32)
            self._stale = False
        if self._ahead is not None:
            self._ahead.give_back()
            self._ahead = None
        if n:
            self.asked_for_few = False
            self._drawn = True
            DRAWS[0] += 1

    def snapshot(self) -> Any:
        """Where the stream stands, for `restore`."""
        with self.lock:
            self._ready()
            return self._bits.state, self.normal, self._drawn

    def restore(self, snapshot: Any) -> None:
        """Go back to where the stream stood."""
        with self.lock:
            self._ahead = None
            self._bits.state, self.normal, self._drawn = snapshot

    def pack(self) -> np.ndarray:
        """The state as the bytes PyTorch makes of it, shape (5056,)."""
        state = np.zeros(STATE_BYTES, np.uint8)
        with self.lock:
            self._ready()
            words = self._bits.state["state"]
            position = words["pos"]
            state[_SEED].view(np.uint64)[0] = self.seed
            state[_LEFT].view(np.int32)[0] = _WORDS + 1 - position
            state[_SEEDED].view(np.int32)[0] = 1
            state[_NEXT].view(np.uint64)[0] = position if self._drawn else 0
            state[_KEY].view(np.uint64)[:] = words["key"]
            if self.normal is not None:
                state[_NORMAL].view(np.float64)[0] = self.normal
                state[_HAS_NORMAL].view(np.int32)[0] = 1
        return state

    def unpack(self, state: np.ndarray) -> None:
        """Continue where the generator whose `pack` this is stood."""
        state = np.ascontiguousarray(state)
        left = int(state[_LEFT].view(np.int32)[0])
        position = int(state[_NEXT].view(np.uint64)[0])
        seeded = int(state[_SEEDED].view(np.int32)[0])
        # with left == 1 all words are used up, wherever the next one is said to be
        if not seeded or position > _WORDS or (left != 1 and left + position != _WORDS + 1):
            raise errors.runtime_error(
                "Invalid mt19937 state",
                "The bytes are not what get_state() or get_rng_state() returned.",
            )
        key = state[_KEY].view(np.uint64).astype(np.uint32)
        with self.lock:
            self._stale = True
            self._ready()
            self._bits.state = {
                "bit_generator": "MT19937",
                "state": {"key": key, "pos": _WORDS + 1 - left},
            }
            self.seed = int(state[_SEED].view(np.uint64)[0])
            self._drawn = position > 0
            has_normal = int(state[_HAS_NORMAL].view(np.int32)[0])
            self.normal = float(state[_NORMAL].view(np.float64)[0]) if has_normal else None


@recorded
def state_of(stream: Twister) -> np.ndarray:
    """`stream.pack()`."""
    return stream.pack()


@recorded
def continue_from(stream: Twister, state: np.ndarray) -> None:
    """`stream.unpack(state)`."""
    stream.unpack(state)


@recorded
def start_from(stream: Twister, seed: int) -> None:
    """`stream.reseed(seed)`."""
    stream.reseed(seed)
