"""What is cheap is computed again where a program would take much memory at once."""

import re

import numpy as np
import pytest

import tapegrad
from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.c_backend.arena import Layout, _place_large
from tapegrad.compiler.c_backend.ir import Buffer
from tapegrad.compiler.c_backend.lowered import Compiled
from tests.compiler.c_programs import needs_compiler

LAYERS = 8


def computes_again(source):
    return re.search(r"\bv\d+_again\b", source) is not None


def lowered(function, *inputs):
    with Program() as program:
        found = function(*[program.input(x) for x in inputs])
    return Compiled(program, [found.place], {})


def two_uses(x, w):
    """Activations that are read at once, and again in reverse order after all layers."""
    made = []
    for _ in range(LAYERS):
        z = x @ w
        y = np.exp(-np.abs(z))
        made.append((y, z))
        x = y
    for y, z in reversed(made):
        x = ((x @ w) * y) @ w + (y.T @ z)
    return x


def test_a_large_program_waits_with_less():
    found = lowered(two_uses, np.ones((512, 512)), np.ones((512, 512)))
    size = 512 * 512 * 8
    # of each layer one array waits, not two, and some more are there while a layer is computed
    assert found.layout.size < (LAYERS + 5) * size
    assert computes_again(found.source)


def test_a_small_program_computes_nothing_twice():
    found = lowered(two_uses, np.ones((64, 64)), np.ones((64, 64)))
    assert not computes_again(found.source)


def test_what_is_written_in_between_is_not_computed_again():
    def step(x, w):
        made = []
        for _ in range(LAYERS):
            z = x @ w
            y = np.exp(z)
            x = y @ w
            z += x
            made.append((y, z))
        for y, z in made:
            x = x @ y + z @ w
        return x

    assert not computes_again(lowered(step, np.ones((512, 512)), np.ones((512, 512))).source)


@needs_compiler()
@pytest.mark.parametrize("width", [384, 640])
def test_a_step_gives_what_the_function_gives(width):
    tapegrad.manual_seed(0)
    model = tapegrad.nn.Sequential(
        *[
            each
            for _ in range(4)
            for each in (tapegrad.nn.Linear(width, width), tapegrad.nn.GELU(), tapegrad.nn.Tanh())
        ]
    ).double()
    x = tapegrad.randn(640, width, dtype=tapegrad.float64)

    def step():
        model.zero_grad()
        model(x).square().sum().backward()
        return [p.grad.clone() for p in model.parameters()]

    expected = step()
    compiled = tapegrad.compile(step, backend="c", fullgraph=True)
    for _ in range(3):
        found = compiled()
    assert computes_again(compiled.source)
    for a, b in zip(found, expected, strict=True):
        assert tapegrad.allclose(a, b, rtol=1e-10, atol=1e-12)


def test_large_buffers_are_apart_while_both_are_there():
    rng = np.random.default_rng(0)
    layout, buffers, first, last = Layout(), [], {}, {}
    for i in range(200):
        buffer = Buffer("memory", f"b{i}", None)
        buffer.low, buffer.high = -int(rng.integers(100)), int(rng.integers(1, 5000))
        first[id(buffer)] = int(rng.integers(100))
        last[id(buffer)] = first[id(buffer)] + int(rng.integers(20))
        buffers.append(buffer)
    _place_large(layout, buffers, first, last)
    for i, a in enumerate(buffers):
        for b in buffers[:i]:
            if first[id(a)] <= last[id(b)] and first[id(b)] <= last[id(a)]:
                begins = [layout.offsets[id(x)] + x.low for x in (a, b)]
                ends = [layout.offsets[id(x)] + x.high for x in (a, b)]
                assert ends[0] <= begins[1] or ends[1] <= begins[0]
    assert max(layout.offsets[id(x)] + x.high for x in buffers) <= layout.size
