"""Kernels of GELU on NumPy arrays: x Phi(x), Phi the distribution function of the normal law.

In float32, Phi(x) is 1 / (1 + exp(-s)) with s = x P(x^2). For the approximation by tanh P has two
terms, because (1 + tanh z) / 2 = 1 / (1 + exp(-2 z)). For Phi itself P is fitted to the logarithm
of Phi(x) / Phi(-x): that takes a small part of the time of an error function, and is no less exact.
Large arrays are worked on block by block, over threads.
"""

import math

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blas_threads import share_products
from tapegrad.arrays.numpy.memory_pool import empty
from tapegrad.core.annotations import Any, Array

_BLOCK = 1 << 17  # elements: with fewer the calls cost more than the cache brings

# -s / x in powers of x^2, highest first. The exact one is log(Phi(-x) / Phi(x)) / x, fitted over
# 0 < x < 6.5 and weighted with what an error does to x Phi(x): 7e-8 at most
_EXACT = (
    -3.61135594e-09,
    2.66898349e-07,
    -7.93830898e-06,
    0.00011048098,
    6.62577642e-05,
    -0.0726685641,
    -1.59576843,
)
_STEEP = -2 * math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _STEEP
_POLYNOMIAL = {"none": _EXACT, "tanh": (_CUBIC, _STEEP)}
_BEYOND = {"none": 6.5, "tanh": 8.0}  # Phi is 0 or 1 there, and exp overflows
_DENSITY = 1 / math.sqrt(2 * math.pi)


class _Curve:
    """Room for a block, and the curves in it."""

    def __init__(self, approximate: str, size: int):
        self.is_exact = approximate == "none"
        self.beyond = _BEYOND[approximate]
        self.polynomial = _POLYNOMIAL[approximate]
        self.room = np.empty((3, size), np.float32)

    def odds(self, x: Array) -> tuple:
        """1 + Phi(-x) / Phi(x) in the first row of the room, x^2 in the second; and `x`.

        All is for `x` without what is far from zero; nan stays.
        """
        s, square = self.room[0, : x.size], np.square(x, self.room[1, : x.size])
        if not square.max() <= self.beyond * self.beyond:
            x = np.minimum(np.maximum(x, -self.beyond), self.beyond)
            np.square(x, square)
        first, *between, last = self.polynomial
        np.multiply(square, first, s)
        for c in between:
            s += c
            s *= square
        s += last
        s *= x
        np.exp(s, s)
        s += 1
        return s, x

    def value(self, x: Array, out: Array) -> None:
        """x Phi(x)."""
        odds, near = self.odds(x)
        np.divide(x, odds, out)
        if near is not x:
            out[x < -self.beyond] = -0.0

    def back(self, g: Array, x: Array, out: Array) -> None:
        """g times the derivative of x Phi(x), which is Phi(x) + x Phi'(x)."""
        odds, near = self.odds(x)
        square, rest = self.room[1:, : x.size]
        if self.is_exact:  # Phi' is the density
            np.multiply(square, -0.5, rest)
            np.exp(rest, rest)
            rest *= _DENSITY
        else:  # Phi' is Phi (1 - Phi) times the slope of s
            np.multiply(square, -3 * _CUBIC, rest)
            rest -= _STEEP
            np.reciprocal(odds, square)
            rest *= square
            np.subtract(1, square, square)
            rest *= square
        rest *= near
        rest *= g
        np.divide(g, odds, out)
        out += rest
        if near is not x:
            out[x < -self.beyond] = 0


def _in_blocks(name: str, approximate: str, *arrays: Any) -> Any:
    flat = [np.ascontiguousarray(x).reshape(-1) for x in arrays]
    size = flat[0].size
    out = empty(size, flat[0].dtype)

    def work(first: int, last: int) -> None:
        step = max(1, min(_BLOCK, last - first))
        run = getattr(_Curve(approximate, step), name)
        for i in range(first, last, step):
            j = min(i + step, last)
            run(*(x[i:j] for x in flat), out[i:j])

    share_products(size, 1, work)
    return out.reshape(arrays[0].shape)


@kernel(elementwise=True)
def gelu(x: Array, approximate: str) -> Any:
    """x Phi(x), or with "tanh" its approximation."""
    if x.dtype == np.float32:
        return _in_blocks("value", approximate, x)
    return x * _phi(x, approximate)


@kernel(elementwise=True)
def gelu_back(g: Array, x: Array, approximate: str) -> Any:
    """`g` times the derivative of `gelu` at `x`."""
    if x.dtype == np.float32 == g.dtype and g.shape == x.shape:
        return _in_blocks("back", approximate, g, x)
    phi = _phi(x, approximate)
    if approximate == "none":
        return g * (phi + x * np.exp(x * x * -0.5) * _DENSITY)
    steep = -_STEEP - 3 * _CUBIC * x * x
    return g * (phi + x * phi * (1 - phi) * steep)


def _phi(x: Array, approximate: str) -> Any:
    if approximate == "none":
        from scipy.special import erf

        return 0.5 * (1 + erf(x * 0.7071067811865476))
    return 0.5 * (1 + np.tanh(x * (math.sqrt(2 / math.pi) * (1 + 0.044715 * x * x))))
