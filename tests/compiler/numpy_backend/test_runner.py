"""Several calls of one program at once have workspaces of their own."""

import threading

import numpy as np

from tests.compiler.numpy_backend.recorded import compiled


def test_threads_do_not_disturb_each_other():
    def step(x):
        for _ in range(20):
            x = np.tanh(x * 1.01 + 0.1)
        return x

    run = compiled(step, np.ones((64, 64)))
    inputs = [np.full((64, 64), 0.1 * i) for i in range(4)]
    expected = [run(x)[0].copy() for x in inputs]
    wrong = []

    def work(i):
        for _ in range(50):
            if not (run(inputs[i])[0] == expected[i]).all():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_a_call_that_raises_leaves_the_program_usable():
    run = compiled(lambda x, i: x[i] * 2.0, np.ones(3), np.array([0, 1]))
    for _ in range(3):
        try:
            run(np.ones(3), np.array([0, 7]))
        except IndexError as error:
            assert "out of bounds" in str(error)
        assert run(np.ones(3), np.array([2, 1]))[0].tolist() == [2.0, 2.0]


def test_an_error_comes_before_what_eager_would_not_have_written():
    def step(x, i, state):
        y = x[i]
        state += 1.0
        return y * 2.0

    run = compiled(step, np.ones(3), np.array([0, 1]), np.zeros(2))
    state = np.zeros(2)
    try:
        run(np.ones(3), np.array([0, 7]), state)
    except IndexError:
        assert state.tolist() == [0.0, 0.0]
    else:
        raise AssertionError("an index is out of range")
