"""A number that Python read is checked before anything is written."""

import numpy as np
import pytest

from tapegrad.arrays.traced.program import Changed
from tests.compiler.numpy_backend.recorded import compiled, lines


def test_a_check_behind_a_write_is_moved_before_it():
    def step(x, state):
        state += x
        if bool((x * 2)[0] > 0):
            state *= 2.0
        return state

    run = compiled(step, np.array([1.0, 2.0]), np.zeros(2))
    state = np.array([5.0, 5.0])
    with pytest.raises(Changed, match="was True and is False"):
        run(np.array([-1.0, 2.0]), state)
    assert state.tolist() == [5.0, 5.0]
    run(np.array([1.0, 2.0]), state)
    assert state.tolist() == [12.0, 14.0]
    assert not any("copy" in line for line in lines(run))


def test_what_a_check_of_written_numbers_finds_changed_is_put_back():
    def step(x, state):
        state += x
        if bool(state[0] > 0):
            state *= 2.0
        return state

    run = compiled(step, np.array([1.0, 2.0]), np.zeros(2))
    state = np.array([-5.0, 5.0])
    with pytest.raises(Changed):
        run(np.array([1.0, 2.0]), state)
    assert state.tolist() == [-5.0, 5.0]
    run(np.array([6.0, 2.0]), state)
    assert state.tolist() == [2.0, 14.0]


def test_a_moved_check_does_not_pass_a_write_to_what_it_reads():
    def step(x, state):
        spare = x * 1.5
        y = spare + 1.0
        state += y
        spare[...] = 3.0
        if bool(spare[0] == 3.0):
            state += spare
        return state, y

    run = compiled(step, np.array([1.0, 2.0]), np.zeros(2))
    state = np.zeros(2)
    found, y = run(np.array([1.0, 2.0]), state)
    assert found is state
    assert state.tolist() == [5.5, 7.0]
    assert y.tolist() == [2.5, 4.0]


def test_nan_is_the_number_that_was_read():
    def step(x):
        float(x[0])
        return x * 2.0

    run = compiled(step, np.array([np.nan, 2.0]))
    assert run(np.array([np.nan, 3.0]))[0][1] == 6.0
    with pytest.raises(Changed):
        run(np.array([1.0, 3.0]))


@pytest.mark.parametrize(
    ("step", "is_asked"),
    [
        (lambda x, y: y * 2.0 if bool((x > 0).all()) else y, True),
        (lambda x, y: y[:9] * 2.0 if bool((x > 0).all()) else y, False),  # small results
        (lambda x, y: y * 2.0 if bool(y.cumsum()[-1] > 0) else y, False),  # much work
        (lambda x, y: y * 2.0 if bool(y.max() > 0) else y, False),
        (lambda x, y: y * 2.0 if bool(np.add(x, 1.0, out=x)[0] > 0) else y, False),  # written
        (lambda x, y: y * 2.0, False),
    ],
)
def test_checks_alone_where_they_are_little_work_beside_the_results(step, is_asked):
    run = compiled(step, np.ones(3), np.ones(2**18))
    assert (run.check is not None) == is_asked
    if is_asked:
        y = np.zeros(2**18)
        assert run.check(np.ones(3), y) == ()
        with pytest.raises(Changed):
            run.check(-np.ones(3), y)
        assert not y.any()
