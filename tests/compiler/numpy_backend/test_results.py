"""Memory of results is used again when nobody else refers to it, and never before."""

import tracemalloc

import numpy as np
import pytest

from tapegrad.compiler.numpy_backend.results import ResultMemory
from tests.compiler.numpy_backend.recorded import compiled


def address(x):
    return x.__array_interface__["data"][0]


def test_the_memory_of_a_result_that_went_is_used_again():
    run = compiled(lambda x: x + 1.0, np.ones(4))
    first = address(run(np.ones(4))[0])
    assert address(run(np.ones(4))[0]) == first


def test_there_is_none_before_the_first_call():
    x = np.ones(1 << 16)
    tracemalloc.start()
    try:
        run = compiled(lambda x: x + 1.0, x)
        before = tracemalloc.get_traced_memory()[0]
        run(x)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert before < x.nbytes <= after - before


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[1:], lambda x: x.T, memoryview])
def test_what_is_kept_stays_as_it_is(view):
    run = compiled(lambda x: x.T + 1.0, np.ones((2, 3)))
    kept = [view(run(np.full((2, 3), float(i)))[0]) for i in range(5)]
    assert [np.asarray(x).flat[0] for x in kept] == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_result_that_is_a_view_of_another_shares_its_memory():
    def step(x):
        y = x + 1.0
        return y, y[1:], y.reshape(3, 1)

    run = compiled(step, np.ones(3))
    whole, part, column = run(np.ones(3))
    whole[1] = 9.0
    assert part[0] == column[1, 0] == 9.0
    del whole, column
    run(np.zeros(3))
    assert part.tolist() == [9.0, 2.0]


def test_two_sets_of_memory_take_turns():
    memory = ResultMemory(lambda: (np.empty(3),))
    (kept,) = memory.other()
    first = address(memory.other()[0])
    assert address(kept) != first
    assert address(memory.other()[0]) == first


def test_constants_that_are_given_out_may_be_written_to():
    run = compiled(lambda x: np.multiply(np.zeros_like(x), 1.0) + 0.0, np.ones(3))
    run(np.ones(3))[0][...] = 7.0
    assert run(np.ones(3))[0].tolist() == [0.0] * 3
