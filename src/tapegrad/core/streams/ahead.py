"""Few normal numbers at a time: radii and angles of the words that come next are there already.

Turning words into normal numbers takes a hundred calls of NumPy, be they few or many. So where few
are asked for again and again, words are drawn ahead, and what each of them stands for is kept until
it is asked for. Which two belong together is known then: it depends on the shapes. Where something
else is drawn, the stream goes back to the first word that was not asked for.
"""

from typing import Any

import numpy as np

from tapegrad.core.streams import BLOCK
from tapegrad.core.streams.box_muller import Blocks, scale

_FIRST, _MOST = 512, 4096  # words that are drawn ahead, more each time
_HALF = BLOCK // 2
_LOW_24 = np.array(2**24 - 1, np.int32)


class Ahead:
    """What the next words of a stream stand for.

    Attributes:
        radius: of each word, float32
        cos_sin: two rows, the cosine and the sine of its angle
        next: the first one that was not asked for yet
    """

    __slots__ = ("_bits", "_marks", "_room", "cos_sin", "next", "radius")

    def __init__(self, bits: Any) -> None:
        self._bits = bits  # NumPy's generator, which stands behind the last of these words
        self._room = Blocks(_MOST // _HALF)
        self._marks: list[tuple[int, Any]] = []  # its state before some of them
        self.radius = np.empty(0, np.float32)
        self.cos_sin = np.empty((2, 0), np.float32)
        self.next = 0

    def take(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Radii, and cosines and sines, of the next `n` words."""
        if self.next + n > self.radius.size:
            self._draw(max(n, min(_MOST, 4 * self.radius.size), _FIRST))
        start = self.next
        self.next += n
        return self.radius[start : self.next], self.cos_sin[:, start : self.next]

    def _draw(self, n: int) -> None:
        """Draw `n` more words; those before are forgotten."""
        gone, self.next = self.next, 0
        marks = [(at - gone, state) for at, state in self._marks]
        marks.append((self.radius.size - gone, self._bits.state))
        # of those before the first word that is left, the last one
        self._marks = [x for x in marks if x[0] <= 0][-1:] + [x for x in marks if x[0] > 0]
        words = self._bits.random_raw(n).astype(np.int32)
        radius, cos_sin = self._room.polar(np.bitwise_and(words, _LOW_24, words))
        self.radius = np.concatenate((self.radius[gone:], radius))
        self.cos_sin = np.concatenate((self.cos_sin[:, gone:], cos_sin), 1)

    def give_back(self) -> None:
        """Let the generator stand before the first word that was not asked for."""
        if self.next == self.radius.size:
            return
        at, state = [each for each in self._marks if each[0] <= self.next][-1]
        self._bits.state = state
        self._bits.random_raw(self.next - at, False)


def fill_few(ahead: Ahead, out: np.ndarray, mean: float, std: float) -> None:
    """Fill `out`, float32, with 16 numbers or more, in blocks; the last 16 are one of their own."""
    n = out.size
    n_full = n // BLOCK * BLOCK
    radius, cos_sin = ahead.take(n if n == n_full else n + BLOCK)
    _multiply(radius[:n_full], cos_sin[:, :n_full], out[:n_full])
    if n > n_full:  # what was drawn for the rest is not used
        _multiply(radius[n:], cos_sin[:, n:], out[n - BLOCK :])
    scale(out, np.empty(n) if mean else None, mean, std)


def _multiply(radius: np.ndarray, cos_sin: np.ndarray, out: np.ndarray) -> None:
    """Blocks of normal numbers: eight radii times the cosines, then the sines, of eight angles."""
    pairs = out.reshape(-1, 2, _HALF).transpose(1, 0, 2)
    angles = cos_sin.reshape(2, -1, 2, _HALF)[:, :, 1]
    np.multiply(radius.reshape(-1, 2, _HALF)[:, 0], angles, pairs)
