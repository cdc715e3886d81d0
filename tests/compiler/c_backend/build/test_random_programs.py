"""Random programs of views, writes, reductions, products and calls of Python.

Each is drawn from a seed, recorded, compiled, and run twice on the same memory: compiled and
recorded programs have to give the same and to leave the same in their inputs.
"""

import random

import numpy as np
import pytest

from tapegrad.arrays.traced import namespace as xp
from tapegrad.arrays.traced.program import Program
from tests.compiler.c_programs import built, needs_compiler

pytestmark = needs_compiler()

SLICES = [slice(None), slice(None, None, -1), slice(0, 2), slice(1, None), slice(None, None, 2)]


class Draw:
    """One program: `steps` times something happens to arrays that it has."""

    def __init__(self, seed):
        self.choice, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.inputs = [self.array() for _ in range(self.choice.randint(2, 4))]
        self.outputs = []
        with Program() as self.program, np.errstate(all="ignore"):
            self.rate = self.program.number(0.5)
            self.values = [self.program.input(x.copy("K")) for x in self.inputs]
            for _ in range(self.choice.randint(5, 30)):
                kind = self.choice.choice(KINDS)
                found = kind(self, self.part())
                if found is not None:
                    self.values.append(found)
                    if self.choice.random() < 0.3:
                        self.outputs.append(found)
            self.outputs.append(self.values[-1])

    def array(self):
        shape = [self.choice.randint(1, 5) for _ in range(self.choice.randint(1, 3))]
        x = (self.numbers.standard_normal(shape) * 2).astype(self.choice.choice("ffd"))
        return np.asfortranarray(x) if self.choice.random() < 0.3 else x

    def part(self):
        """A view of one of the last values, or the value."""
        x = self.choice.choice(self.values[-10:])
        kind = self.choice.random()
        if kind < 0.3 and x.ndim > 1:
            return xp.permute_dims(x, tuple(self.choice.sample(range(x.ndim), x.ndim)))
        if kind < 0.6 and x.ndim:
            return x[tuple(self.choice.choice(SLICES) for _ in range(x.ndim))]
        if kind < 0.75:
            return xp.reshape(x, (-1,))
        return xp.expand_dims(x, axis=0) if kind < 0.8 and x.ndim < 3 else x

    def other(self, x, within=False):
        """A second operand: an array that broadcasts, or a number."""
        y = self.part()
        try:
            shape = np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            shape = None
        if shape is None or (within and shape != x.shape) or np.prod(shape) > 300:
            return self.choice.choice([2, 0.5, self.rate, -1.5])
        return y

    def given(self):
        return [0.5, *[x.copy("K") for x in self.inputs]]


def pair(draw, x):
    function = draw.choice.choice([np.add, np.subtract, np.multiply, np.maximum, np.minimum])
    return function(x, draw.other(x))


def single(draw, x):
    return draw.choice.choice([np.tanh, np.negative, np.abs, np.square, np.sin])(x)


def reduction(draw, x):
    if not x.size:
        return None
    axis = draw.choice.choice([None, *range(x.ndim)])
    function = draw.choice.choice([xp.sum, xp.max, xp.min, xp.mean])
    return function(x, axis=axis, keepdims=draw.choice.random() < 0.5)


def write(draw, x):
    y = draw.other(x, within=True)
    if not x.ndim or not x.flags.writeable:
        return None
    kind = draw.choice.choice("amsc")
    if kind in "am":
        (np.add if kind == "a" else np.multiply)(x, y, out=x, casting="unsafe")
    elif kind == "s":
        x[...] = y
    else:
        np.copyto(x, y, casting="unsafe")
    return x


def write_ufunc(draw, x):
    y = draw.other(x, within=True)
    if not x.ndim or not x.flags.writeable or getattr(y, "dtype", x.dtype) != x.dtype:
        return None
    return np.add(x, y, out=x)


def product(draw, x):
    return xp.matmul(x, xp.matrix_transpose(x)) if x.ndim == 2 else None


def of_python(draw, x):
    return np.sort(x, axis=-1) if x.ndim else None


def read(draw, x):
    if x.size:
        (x.sum() > -1e30).item()


def joined(draw, x):
    return xp.concat([x, x], axis=0) if x.ndim and x.size < 100 else None


KINDS = [pair, pair, single, reduction, write, write_ufunc, product, of_python, read, joined]


def close(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    size = np.max(np.abs(b[np.isfinite(b)]), initial=1.0)
    return np.allclose(a, b, rtol=1e-3, atol=1e-3 * size, equal_nan=True)


@pytest.mark.parametrize("start", [0, 30])
def test_random_programs(start, tmp_path):
    draws = [Draw(seed) for seed in range(start, start + 30)]
    cases = [(x.program, [y.place for y in x.outputs]) for x in draws]
    for seed, (draw, runner) in enumerate(zip(draws, built(cases, tmp_path), strict=True), start):
        recorded = draw.program.function(draw.outputs)
        first, second = draw.given(), draw.given()
        for _ in range(2):
            with np.errstate(all="ignore"):
                want, found = recorded(*first), runner(*second)
            pairs = [*zip(found, want, strict=True), *zip(second, first, strict=True)]
            assert all(close(a, b) for a, b in pairs), seed
