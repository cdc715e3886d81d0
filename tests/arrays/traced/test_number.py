"""Numbers whose arithmetic is written down: whoever takes the number itself says so."""

import copy
import fractions
import math
import statistics
import struct

import numpy as np
import pytest

import tapegrad as torch
from tests.compiler.side_by_side import compare

TAKEN = {
    "floor division": lambda s: s // 0.75,
    "of another": lambda s: 7.0 // s,
    "remainder": lambda s: s % 0.75,
    "of another's": lambda s: 5.0 % s,
    "divmod": lambda s: divmod(s, 0.75)[1],
    "plus": lambda s: +s,
    "real": lambda s: s.real,
    "conjugate": lambda s: s.conjugate(),
    "is_integer": lambda s: 1 + s.is_integer(),
    "ratio": lambda s: s.as_integer_ratio()[0] / 2**40,
    "floor": lambda s: math.floor(s),
    "root": lambda s: math.sqrt(s),
    "text": lambda s: float("%.3f" % s),  # noqa: UP031
    "f-string": lambda s: float(f"{s:.3f}"),
    "bytes": lambda s: struct.unpack("d", struct.pack("d", s))[0],
    "fraction": lambda s: float(fractions.Fraction(s)),
    "mean": lambda s: statistics.mean([s, 1.0]),
    "copy": lambda s: copy.deepcopy(copy.copy(s)),
    "class": lambda s: type(s)(2.0) * s,
    "NumPy": lambda s: float(np.arange(1.0, s + 2).sum() + np.float64(s)),
    "arange": lambda s: torch.arange(0, s + 2, 1.0).sum(),
    "fixed in place": lambda s: torch.pow(torch.full((), 2.0), s),
}


@pytest.mark.parametrize("name", TAKEN)
def test_numbers_that_are_taken_are_asked_for_again(name):
    taken = TAKEN[name]

    def scenario(run):
        of_tensor = run.compile(lambda x: x * taken(x.mean().item()))
        of_argument = run.compile(lambda x, s: x * taken(s))
        for s in (1.0, 1.25, 1.5, 1.75, 2.0, 1.0):
            run.call(of_tensor, torch.full((2,), s))
            run.call(of_argument, torch.ones(2), s)

    compare(scenario, programs=None)


def test_logarithms_in_derivatives():
    def slope(x, s):
        (g,) = torch.autograd.grad(torch.pow(s, x).sum(), x)
        return g

    def scenario(run):
        f = run.compile(slope)
        for s in (1.5, 2.0, 2.5, 3.0):
            run.call(f, torch.ones(2, requires_grad=True), s)

    compare(scenario)
