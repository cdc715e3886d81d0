"""Memory that kernels make is let go of behind its last reader."""

import tracemalloc

import numpy as np

from tests.compiler.numpy_backend.recorded import compiled, lines

N = 1 << 14


def test_behind_the_last_reader_of_any_view():
    def step(x):
        y = x[::-1].cumsum()
        z = y.reshape(2, -1)
        return (z * 2.0).sum() + x.sum()

    found = lines(compiled(step, np.ones(N)))
    (at,) = [i for i, line in enumerate(found) if line.startswith("del ")]
    gone = found[at].removeprefix("del ").split(", ")
    assert len(gone) == 2  # the array, and the view
    assert not any(name in line for name in gone for line in found[at + 1 :])
    assert any(gone[1] in line for line in found[at - 1 : at])


def test_small_arrays_and_results_stay():
    assert not any("del " in x for x in lines(compiled(lambda x: x.cumsum() * 2.0, np.ones(8))))
    assert not any("del " in x for x in lines(compiled(lambda x: x.cumsum(), np.ones(N))))


def test_a_long_program_holds_few_of_them():
    def step(x):
        for _ in range(20):
            x = x.cumsum() * 1e-3
        return x

    x = np.ones(1 << 16)
    run = compiled(step, x)
    run(x)
    tracemalloc.start()
    try:
        found = run(x)[0]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found == step(x)).all()
    assert peak < 3 * x.nbytes


def test_in_chains():
    x = np.linspace(-1.0, 1.0, 1 << 20)

    def step(x):
        y = x.cumsum()
        return np.sqrt(np.abs(y * x + 1.0) + 2.0)

    run = compiled(step, x)
    assert "in_blocks" in run.source and "del " in run.source
    assert (run(x)[0] == step(x)).all()
    assert (run(x)[0] == step(x)).all()
