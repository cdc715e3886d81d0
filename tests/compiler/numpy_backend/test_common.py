"""What was computed is not computed again, unless something was written in between."""

import numpy as np

from tests.compiler.numpy_backend.recorded import compiled, lines


def test_equal_instructions_run_once():
    run = compiled(lambda x: np.tanh(x * x) + np.tanh(x * x), np.ones(3))
    assert sum("tanh" in line for line in lines(run)) == 1
    assert run(np.full(3, 2.0))[0].tolist() == [2 * np.tanh(4.0)] * 3


def test_a_write_in_between_makes_them_different():
    def step(x):
        first = x * 2.0
        x += 1.0
        second = x * 2.0
        return first + second

    x = np.zeros(3)
    assert compiled(step, np.zeros(3))(x)[0].tolist() == [2.0] * 3


def test_so_does_a_write_to_a_view():
    def step(x):
        first = x * 2.0
        x[1:] = 5.0
        return first + x * 2.0

    assert compiled(step, np.zeros(3))(np.zeros(3))[0].tolist() == [0.0, 10.0, 10.0]


def test_equal_results_that_are_given_out_have_memory_of_their_own():
    first, second = compiled(lambda x: (x * 2.0, x * 2.0), np.ones(3))(np.ones(3))
    first += 1.0
    assert second.tolist() == [2.0] * 3


def test_numbers_of_python_are_shared_too():
    run = compiled(lambda x, lr: x * (1 - lr) + x * x * (1 - lr), np.ones(3), 0.25)
    assert sum("1 - " in line for line in lines(run)) == 1
    assert run(np.full(3, 2.0), 0.5)[0].tolist() == [3.0] * 3
