"""What reads a large value for the last time runs as soon as its operands are there."""

import numpy as np
import pytest

from tests.compiler.numpy_backend.recorded import compiled, lines

N = 256
X, W = np.linspace(-1, 1, N * N).reshape(N, N), np.eye(N)[::-1].copy()


def check(step):
    """The lines of a program that computes what `step` does."""
    run = compiled(step, X, W)
    for found, want in zip(run(X, W), step(X, W), strict=True):
        np.testing.assert_array_equal(found, want)
    return lines(run)


def place(found, sign):
    (i,) = [i for i, line in enumerate(found) if sign in line]
    return i


@pytest.mark.parametrize("made", [np.cos, lambda x: x.cumsum(0)])
def test_with_the_views_that_it_reads(made):
    def step(x, w):
        kept = x * 2.0
        g = made(x)
        found = np.sin(g @ w)
        return g.T[::-1] @ kept, found.sum()

    found = check(step)
    first, second = [i for i, line in enumerate(found) if "matmul(" in line]
    assert first < second < place(found, "sin(")
    assert "v1" not in found[first]  # the one that `w` is no operand of


def test_not_before_what_it_reads_is_written():
    def step(x, w):
        kept = x * 2.0
        g = np.cos(x) + w
        kept[0] = 7.0
        other = np.sin(g @ w)
        kept[1] = 8.0
        return kept[::-1] @ g, other.sum()

    found = check(step)
    assert place(found, "8.0") < [i for i, line in enumerate(found) if "matmul(" in line][-1]
