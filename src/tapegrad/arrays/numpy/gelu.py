"""Kernels of GELU on NumPy arrays: x Phi(x), Phi the distribution function of the normal law.

In float32, Phi(x) is 1 / (1 + exp(-s)) with s = x P(x^2). For the approximation by tanh P has two
terms, because (1 + tanh z) / 2 = 1 / (1 + exp(-2 z)). For Phi itself P is fitted to the logarithm
of Phi(x) / Phi(-x): that takes a small part of the time of an error function, and is no less exact.
The exact derivative, Phi(x) + x Phi'(x), is 1/2 + x P(x^2) / Q(x^2): no exponentials at all.
Large arrays are worked on block by block, over threads.
"""

import math

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blas_threads import share_products
from tapegrad.arrays.numpy.memory_pool import memory_for
from tapegrad.core.annotations import Any, Array

_BLOCK = 1 << 16  # elements: with fewer the calls, and threads that wait for each other, cost more

_STEEP = -2 * math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _STEEP
_DENSITY = 1 / math.sqrt(2 * math.pi)


def _coefficients(*numbers: float) -> list[Array]:
    """Arrays without axes: a ufunc takes a number of Python's more slowly."""
    return [np.array(c, np.float32) for c in numbers]


# -s / x in powers of x^2, highest first. The exact one is log(Phi(-x) / Phi(x)) / x, fitted over
# 0 < x < 6.5 and weighted with what an error does to x Phi(x): 7e-8 at most
_POLYNOMIAL = {
    "none": _coefficients(
        -3.61135594e-09,
        2.66898349e-07,
        -7.93830898e-06,
        0.00011048098,
        6.62577642e-05,
        -0.0726685641,
        -1.59576843,
    ),
    "tanh": _coefficients(_CUBIC, _STEEP),
}
_BEYOND = {"none": 6.5, "tanh": 8.0}  # Phi is 0 or 1 there, and exp overflows

# ((x Phi(x))' - 1/2) / x in powers of x^2, highest first, the first of the denominator being 1:
# fitted over 0 < x < 5.6, where the derivative is 1 to 4e-7, and off by 1.3e-7 at most
_SLOPE_BEYOND = 5.6
_SLOPE_ABOVE = _coefficients(
    0.0214870535, 4.02923632, 2.46317053, 1598.15112, -3469.96436, 89695.4609
)
_SLOPE_BELOW = _coefficients(21.6585331, 396.249573, 4611.23877, 33123.8945, 112416.531)
_HALF, _ONE = _coefficients(0.5, 1)
_TANH_SLOPE, _TANH_STEEP = _coefficients(-3 * _CUBIC, _STEEP)


class _Curve:
    """Room for a block, and the curves in it."""

    def __init__(self, approximate: str, size: int):
        self.beyond = _BEYOND[approximate]
        self.polynomial = _POLYNOMIAL[approximate]
        self.room = np.empty((3, size), np.float32)

    def near(self, x: Array, beyond: float) -> tuple:
        """`x`, no further from zero than `beyond`, and x^2 in the first row; nan stays."""
        square = np.square(x, self.room[0, : x.size])
        if not square.max() <= beyond * beyond:
            x = np.minimum(np.maximum(x, -beyond), beyond)
            np.square(x, square)
        return x, square

    def odds(self, x: Array) -> tuple:
        """`x` and x^2 as `near` gives them, and 1 + Phi(-x) / Phi(x) in the second row."""
        x, square = self.near(x, self.beyond)
        s = self.room[1, : x.size]
        first, *between, last = self.polynomial
        np.multiply(square, first, s)
        for c in between:
            s += c
            s *= square
        s += last
        s *= x
        np.exp(s, s)
        s += _ONE
        return x, square, s

    def value(self, x: Array, out: Array) -> None:
        """x Phi(x)."""
        near, _, odds = self.odds(x)
        beyond = None if near is x else x < -self.beyond
        np.divide(x, odds, out)
        if beyond is not None:
            out[beyond] = -0.0

    def exact_back(self, g: Array, x: Array, out: Array) -> None:
        """g (Phi(x) + x Phi'(x))."""
        near, square = self.near(x, _SLOPE_BEYOND)
        above, below = self.room[1:, : x.size]
        first, *between, last = _SLOPE_ABOVE
        np.multiply(square, first, above)
        for c in between:
            above += c
            above *= square
        above += last
        first, *rest = _SLOPE_BELOW
        np.add(square, first, below)
        for c in rest:
            below *= square
            below += c
        above *= near
        above /= below
        above += _HALF
        if near is not x:
            above[x < -_SLOPE_BEYOND] = 0
            above[x > _SLOPE_BEYOND] = 1
        np.multiply(g, above, out)

    def tanh_back(self, g: Array, x: Array, out: Array) -> None:
        """The same for the approximation: Phi' is Phi (1 - Phi) times the slope of s."""
        near, square, odds = self.odds(x)
        rest = self.room[2, : x.size]
        np.multiply(square, _TANH_SLOPE, rest)
        rest -= _TANH_STEEP
        np.reciprocal(odds, square)
        rest *= square
        np.subtract(_ONE, square, square)
        rest *= square
        rest *= near
        rest *= g
        beyond = None if near is x else x < -self.beyond
        np.divide(g, odds, out)
        out += rest
        if beyond is not None:
            out[beyond] = 0


def gelu_into(out: Array, approximate: str, *arrays: Array) -> None:
    """`gelu`, or of two arrays `gelu_back`, of float32 in contiguous memory: perhaps theirs."""
    back = "exact_back" if approximate == "none" else "tanh_back"
    name = "value" if len(arrays) == 1 else back
    flat = [np.ascontiguousarray(x).reshape(-1) for x in arrays]
    out = out.reshape(-1)
    size = out.size

    def work(first: int, last: int) -> None:
        step = max(1, min(_BLOCK, last - first))
        run = getattr(_Curve(approximate, step), name)
        for i in range(first, last, step):
            j = min(i + step, last)
            run(*(x[i:j] for x in flat), out[i:j])

    share_products(size, 1, work)


@kernel(elementwise=True)
def gelu(x: Array, approximate: str) -> Any:
    """x Phi(x), or with "tanh" its approximation."""
    if x.dtype == np.float32:
        out = memory_for(x)
        gelu_into(out, approximate, x)
        return out
    return x * _phi(x, approximate)


@kernel(elementwise=True)
def gelu_back(g: Array, x: Array, approximate: str) -> Any:
    """`g` times the derivative of `gelu` at `x`."""
    if x.dtype == np.float32 == g.dtype and g.shape == x.shape:
        out = memory_for(x)
        gelu_into(out, approximate, g, x)
        return out
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
