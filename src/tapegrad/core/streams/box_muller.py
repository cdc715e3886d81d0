"""Pairs of independent normal numbers in float32: radius * cos(angle) and radius * sin(angle).

To the bit those of PyTorch's vector code on x86-64, whose logarithm, sine and cosine contract every
product that is added to something into one rounding. float64 holds such a product exactly, so each
step computes there and rounds to float32, in place and in rows that stay in the cache. There are
2**24 radii and as many angles: the tests compare every one with the formulas written out.

Source: Box and Muller, 1958; Moshier, Cephes Mathematical Library, 1989 (`logf`, `sinf`, `cosf`).
"""

import math
from typing import Any

import numpy as np

from tapegrad.core.streams import BLOCK

f32, f64, i32, i64 = np.float32, np.float64, np.int32, np.int64
add, subtract, multiply, xor = np.add, np.subtract, np.multiply, np.bitwise_xor
left_shift, right_shift, bitwise_and = np.left_shift, np.right_shift, np.bitwise_and

_LINE = 64  # bytes
_SHORT = 2048  # numbers
_HALF = np.dtype("V32")  # half a block, copied as a whole


def _single(x: float) -> np.ndarray:
    return np.array(x, f32)  # without dimensions: as an operand faster than a Python float


def _integer(x: int) -> np.ndarray:
    return np.array(x, i32)


def _wide(*given: float) -> list[np.ndarray]:
    """Numbers of float32 in float64."""
    return [np.array(f32(x), f64) for x in given]


# log(1 + x) = x - x**2 / 2 + x**3 * polynomial(x), for sqrt(1/2) <= 1 + x < sqrt(2)
_LOG = _wide(
    *(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
_LOG2_HIGH, _LOG2_LOW = _single(0.693359375), _single(-2.12194440e-4)  # their sum is log(2)

# cos(x) = 1 + x**2 * (c - 1/2), sin(x) = x * (1 + s): c and s are x**2 times these polynomials
_COS_SIN = [
    np.array(pair).reshape(2, 1)
    for pair in (
        _wide(2.443315711809948e-5, -1.9515295891e-4),
        _wide(-1.388731625493765e-3, 8.3321608736e-3),
        _wide(4.166664568298827e-2, -1.6666654611e-1),
    )
]
_OFFSETS = np.array([[-0.5], [1.0]])

# What the two are after a step lies between two powers of two: adding this and taking it away again
# rounds it to the 24 bits that float32 has there.
_ROUNDER = 1.5 * np.array([[2.0 ** (52 - 33)], [2.0 ** (52 - 30)]])
_ADDED_AND_ROUNDER = _COS_SIN[1] + _ROUNDER

# Rounds to float32 in place, in half the time of casts; no sum of a logarithm's is halfway between
# two numbers of float32 and would have to go to the even one.
_HALF_UNIT, _SINGLE_BITS = np.array(2**28, i64), np.array(-(2**29), i64)

_TURN = 2**24  # in words
_PER_WORD = _single(2 * math.pi / _TURN)
_QUARTER_TURN = np.array(2 * sum(_wide(0.78515625, 2.4187564849853515625e-4, 3.77489497744594e-8)))

_ROOT_BITS = int(f32(0.707106781186547524).view(i32))  # of the square root of 1/2
_SQRT_HALF, _EXPONENT_BASE = _integer(_ROOT_BITS), _integer(_ROOT_BITS + (24 << 23))
_EXPONENT_AT, _MANTISSA = _integer(23), _integer(2**23 - 1)
_EIGHTH, _QUARTER_AT = _integer(_TURN // 8), _integer(22)  # a quarter of a turn is bit 22
_SIGN, _ODD_TO_SIGN, _HALF_TO_SIGN = map(_integer, (-(2**31), 31, 30))

_ALL, _ONE, _MINUS_HALF, _MINUS_TWO, _ZERO = map(_single, (_TURN, 1, -0.5, -2, 0))


def _rows(n: int, size: int, dtype: type) -> np.ndarray:
    """Rows of any values that start at cache lines: vectors across two of them take twice as long.

    They are five lines further apart than they need be, so that no two have the same cache sets;
    but where they are short, without gaps, for NumPy to go through several of them in one loop.
    """
    if size < _SHORT:
        return np.empty((n, size), dtype)
    step = (-(-size * np.dtype(dtype).itemsize // _LINE) + 5) * _LINE
    room = np.empty(n * step + _LINE, np.uint8)
    start = -room.ctypes.data % _LINE
    return room[start : start + n * step].reshape(n, step).view(dtype)


class Blocks:
    """Turns blocks of sixteen words of 24 bits into normal numbers; holds room for `n` of them.

    >>> import numpy as np
    >>> from tapegrad.core.streams.box_muller import Blocks
    >>> words, out = np.arange(2**20, 2**20 + 16, dtype=np.int32), np.empty(16, np.float32)
    >>> Blocks(1).transform(words, out, 0.0, 1.0)
    >>> out.round(3)
    array([0.332, 0.332, 0.332, 0.332, 0.332, 0.332, 0.332, 0.332, 0.137,
           0.137, 0.137, 0.137, 0.137, 0.137, 0.137, 0.137], dtype=float32)
    """

    __slots__ = ("_singles", "_wide", "_words", "n")

    def __init__(self, n: int) -> None:
        self.n = n
        size = n * BLOCK // 2
        self._words = _rows(2, size, i32)
        self._singles = _rows(8, size, f32)
        self._wide = _rows(6, size, f64)

    def transform(self, words: np.ndarray, out: np.ndarray, mean: float, std: float) -> None:
        """Fill `out`, float32, with what becomes of `words`, int32; both are whole blocks."""
        room = slice(words.size // 2)
        halves, singles, wide = self._words[:, room], self._singles[:, room], self._wide[:, room]
        halves.view(_HALF)[...] = words.view(_HALF).reshape(-1, 2).T
        radius, cos_sin = _polar(halves, singles, wide)
        pairs = multiply(cos_sin, radius, cos_sin)
        scale(pairs, wide[:2], mean, std)
        out.view(_HALF).reshape(-1, 2).T[...] = pairs.view(_HALF)

    def polar(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The radius that each word stands for, and the cosine and sine of its angle."""
        room = slice(words.size)
        halves = self._words[:, room]
        halves[...] = words
        radius, cos_sin = _polar(halves, self._singles[:, room], self._wide[:, room])
        bits, sign = radius.view(i32), halves[0]
        bitwise_and(bits, _SIGN, sign)  # which is the angle's
        xor(bits, sign, bits)
        xor(cos_sin.view(i32), sign, cos_sin.view(i32))
        return radius.copy(), cos_sin.copy()


def scale(pairs: np.ndarray, wide: Any, mean: float, std: float) -> None:
    """Multiply normal numbers by `std` and add `mean`, rounding once; `wide`: room in float64."""
    if mean:
        wide[...] = pairs
        wide *= f64(f32(std))
        wide += f64(f32(mean))
        pairs[...] = wide
    else:
        if std != 1:
            multiply(pairs, f32(std), pairs)
        add(pairs, _ZERO, pairs)  # -0 becomes 0


def _polar(words: np.ndarray, singles: np.ndarray, wide: np.ndarray) -> tuple:
    """The radius for the first row of words, and cosine and sine of the angle for the second one.

    The radius is sqrt(-2 log(1 - word / 2**24)), the angle 2 pi word / 2**24. The radius is
    negative where cosine and sine have to be negated; both are rows of `singles`. `words` is used
    up.
    """
    exponent, quarter = words
    x, x_squared, angle, square, scaled, y, cos, _sin = singles
    x_wide, square_wide, angle_wide, y_wide, _cos_wide, _sin_wide = wide
    cos_sin, cos_sin_wide = singles[6:], wide[4:]

    # 1 - word / 2**24 = 2**exponent * (1 + x)
    x[...] = words[0]
    subtract(_ALL, x, x)
    bits = x.view(i32)
    subtract(bits, _EXPONENT_BASE, bits)
    right_shift(bits, _EXPONENT_AT, exponent)
    bitwise_and(bits, _MANTISSA, bits)
    add(bits, _SQRT_HALF, bits)
    subtract(x, _ONE, x)
    x_wide[...] = x
    multiply(x, x, x_squared)

    # the angle without its nearest quarters of a turn
    angle[...] = words[1]
    multiply(angle, _PER_WORD, angle)
    add(quarter, _EIGHTH, quarter)
    right_shift(quarter, _QUARTER_AT, quarter)
    angle_wide[...] = angle
    square_wide[...] = quarter
    multiply(square_wide, _QUARTER_TURN, square_wide)
    subtract(angle_wide, square_wide, angle_wide)
    angle[...] = angle_wide
    angle_wide[...] = angle
    multiply(angle, angle, square)
    square_wide[...] = square

    # the polynomials, each step rounded
    multiply(x_wide, _LOG[0], y_wide)
    add(y_wide, _LOG[1], y_wide)
    y_bits = y_wide.view(i64)
    for c in _LOG[2:]:
        add(y_bits, _HALF_UNIT, y_bits)
        bitwise_and(y_bits, _SINGLE_BITS, y_bits)
        multiply(y_wide, x_wide, y_wide)
        add(y_wide, c, y_wide)
    multiply(square_wide, _COS_SIN[0], cos_sin_wide)
    add(cos_sin_wide, _ADDED_AND_ROUNDER, cos_sin_wide)
    subtract(cos_sin_wide, _ROUNDER, cos_sin_wide)
    multiply(cos_sin_wide, square_wide, cos_sin_wide)
    add(cos_sin_wide, _COS_SIN[2], cos_sin_wide)
    singles[5:] = wide[3:]
    multiply(y, x, y)
    multiply(cos_sin, square, cos_sin)
    wide[3:] = singles[5:]

    # log(1 - word / 2**24) = exponent * log(2) + (x + (x_squared * y - x_squared / 2)), and so on
    scaled[...] = exponent
    x_wide[...] = x_squared
    add(cos_sin_wide, _OFFSETS, cos_sin_wide)
    multiply(wide[3:], wide[:3], wide[3:])
    multiply(scaled, _LOG2_LOW, y)
    x_wide[...] = y
    add(y_wide, x_wide, y_wide)
    singles[5:] = wide[3:]
    multiply(x_squared, _MINUS_HALF, x_squared)
    add(y, x_squared, y)
    add(x, y, x)
    multiply(scaled, _LOG2_HIGH, scaled)
    add(x, scaled, x)
    multiply(x, _MINUS_TWO, x)
    np.sqrt(x, x)
    add(cos, _ONE, cos)

    # back to the quarter: swapped in two of them, negated in two each; as bits, without branches
    radius, both = x.view(i32), cos_sin.view(i32)
    odd, differing = exponent, y.view(i32)
    left_shift(quarter, _ODD_TO_SIGN, odd)
    right_shift(odd, _ODD_TO_SIGN, odd)
    xor(both[0], both[1], differing)
    bitwise_and(differing, odd, differing)
    xor(both, differing, both)
    bitwise_and(odd, _SIGN, odd)
    xor(both[0], odd, both[0])
    left_shift(quarter, _HALF_TO_SIGN, quarter)
    bitwise_and(quarter, _SIGN, quarter)
    xor(radius, quarter, radius)
    return x, cos_sin
