"""Random programs of views and writes give the bits that NumPy gives, in results and in inputs."""

import numpy as np
import pytest

from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.numpy_backend import build, chains, run_blocks
from tests.compiler import random_program


def cloned(arrays):
    """Copies that share memory as the arrays do."""
    a, b = arrays[0].copy(), arrays[1].copy()
    return [a, b, a[1:, :2], b.T, *[x.copy() for x in arrays[4:]]]


@pytest.mark.parametrize("first", range(600, 900, 50))
def test_so_they_do_where_chains_run_block_after_block(first, monkeypatch):
    monkeypatch.setattr(chains, "LARGE", 2)
    monkeypatch.setattr(run_blocks, "BLOCK", 5)
    with np.errstate(all="ignore"):
        for seed in range(first, first + 50):
            check(seed)


@pytest.mark.parametrize("first", range(0, 600, 50))
def test_random_programs_give_the_bits_of_numpy(first):
    with np.errstate(all="ignore"):
        for seed in range(first, first + 50):
            check(seed)


def check(seed):
    rng = np.random.default_rng(seed)
    steps, arrays = random_program.steps_of(rng), random_program.inputs_of(rng)
    with Program() as program:
        traced = [program.input(x) for x in cloned(arrays)]
        pool = random_program.run(random_program.TRACED, traced, steps)
    chosen = [i for i, x in enumerate(pool) if isinstance(x, Traced) and rng.random() < 0.5]
    compiled = build(program, [pool[i].place for i in chosen])
    mine, theirs = cloned(arrays), cloned(arrays)
    kept = []
    for call in range(4):
        if call == 2:  # other arrays: views of inputs are made anew
            mine = random_program.again(arrays, rng)
            theirs = cloned(mine)
        found = compiled(*mine)
        expected = random_program.run(random_program.PLAIN, theirs, steps)
        where = f"seed {seed}, call {call}\n{compiled.source}"
        for x, i in zip(found, chosen, strict=True):
            y = np.asarray(expected[i])
            assert (x.shape, x.dtype, x.tobytes()) == (y.shape, y.dtype, y.tobytes()), where
        for x, y in zip(mine, theirs, strict=True):
            assert x.tobytes() == y.tobytes(), f"an input, {where}"
        own = [x for x in found if not any(np.shares_memory(x, y) for y in mine)]
        kept.append((own, [x.tobytes() for x in own]))
        for results, before in kept:
            assert [x.tobytes() for x in results] == before, f"a kept result, {where}"
        if call % 2:
            kept.clear()  # their memory may be used again
