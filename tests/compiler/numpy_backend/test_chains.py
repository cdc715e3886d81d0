"""Elementwise instructions over large arrays run block after block."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import namespace
from tapegrad.arrays.traced import namespace as xp
from tapegrad.compiler.numpy_backend import chains, run_blocks
from tests.compiler.numpy_backend.recorded import compiled

N = (1 << 17) + 3


@pytest.fixture(autouse=True)
def _large(monkeypatch):
    monkeypatch.setattr(chains, "LARGE", 1 << 16)
    monkeypatch.setattr(run_blocks, "BLOCK", 1 << 13)


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape or N).astype(np.float32)


def test_what_only_the_chain_reads_has_the_size_of_a_block():
    run = compiled(lambda x: np.tanh(x * 2.0 + 1.0) * x, numbers())
    assert "in_blocks(" in run.source
    assert "memory_of(" not in run.source
    x = numbers()
    assert run(x)[0].tobytes() == (np.tanh(x * np.float32(2.0) + np.float32(1.0)) * x).tobytes()


def test_a_sum_in_between_waits():
    def step(x):
        y = np.exp(x * 2.0)
        total = xp.sum(y)
        return total, y * x + 1.0

    run = compiled(step, numbers())
    assert run.source.count("in_blocks(") == 1
    x = numbers()
    total, z = run(x)
    y = np.exp(x * np.float32(2.0))
    assert z.tobytes() == (y * x + np.float32(1.0)).tobytes()
    assert np.isclose(total, y.sum(dtype=np.float64))


def test_what_reads_the_sum_does_not_pass_it():
    def step(x):
        y = x * 2.0
        return (y * xp.max(y) + 1.0) * y

    x = numbers()
    y = x * np.float32(2.0)
    expected = (y * y.max() + np.float32(1.0)) * y
    assert compiled(step, x)(x)[0].tobytes() == expected.tobytes()


def test_an_input_is_written_block_after_block():
    def step(x, state):
        state *= 0.5
        state += x * x
        return np.sqrt(state) + 1.0

    x, state = numbers(), np.abs(numbers())
    expected = state * np.float32(0.5) + x * x
    found = compiled(step, x.copy(), state.copy())(x, state)[0]
    assert state.tobytes() == expected.tobytes()
    assert found.tobytes() == (np.sqrt(expected) + np.float32(1.0)).tobytes()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_transposes_run_in_the_order_of_memory(order):
    x = numbers(400, 500).transpose(order)
    run = compiled(lambda x: (x * 2.0 + 1.0) * x, x)
    assert "in_blocks(" in run.source
    assert (run(x)[0] == (x * np.float32(2.0) + np.float32(1.0)) * x).all()


def test_parts_that_overlap_are_not_joined():
    def step(x):
        y = x * 2.0
        y[1:] = y[:-1] + 1.0
        y *= 3.0
        return y

    x = numbers()
    y = x * np.float32(2.0)
    y[1:] = y[:-1] + np.float32(1.0)
    assert compiled(step, x)(x)[0].tobytes() == (y * np.float32(3.0)).tobytes()


def test_a_choice_by_a_mask_joins_a_chain():
    def step(x, y):
        return xp.where(x > 0.5, x, 0.0) * 2.0, xp.where(x > y, x, y) + 1.0

    x, y = numbers(), numbers()[::-1].copy()
    y[:5] = [np.nan, np.inf, -np.inf, -0.0, 0.0]
    run = compiled(step, x, y)
    kept, larger = run(x, y)
    assert run.source.count("in_blocks(") == 1
    assert kept.tobytes() == (np.where(x > 0.5, x, np.float32(0)) * np.float32(2)).tobytes()
    assert larger.tobytes() == (np.where(x > y, x, y) + np.float32(1)).tobytes()


@pytest.mark.parametrize("size", [1 << 17, 10**5 + 1000, N])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_a_sum_of_what_a_chain_makes_has_the_bits_of_the_namespace(size, name):
    def step(xp, x):
        y = x * 2.0 + 1.0
        return getattr(xp, name)(y * x), y * 3.0

    x = numbers(size)
    run = compiled(lambda x: step(xp, x), x)
    assert ("einsum" in run.source) == (size != N)
    for a, b in zip(run(x), step(namespace, x), strict=True):
        assert a.tobytes() == np.asarray(b).tobytes()
