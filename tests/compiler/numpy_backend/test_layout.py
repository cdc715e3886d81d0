"""Temporaries take the memory of those that are read no more, where that changes no bits."""

import numpy as np
import pytest

from tapegrad.arrays.namespaces import namespace_of
from tests.compiler.numpy_backend.recorded import compiled


def test_a_result_takes_the_memory_of_an_operand():
    run = compiled(lambda x: ((x + 1.0) * 2.0 - 3.0) / 4.0, np.ones((8, 8)))
    assert "memory_of(512)" in run.source


def test_not_where_another_view_of_the_operand_is_read():
    def step(x):
        y = x + 1.0
        return (y + y.T) * 1.5 + (y - y[::-1])

    x = np.arange(9.0).reshape(3, 3)
    y = x + 1.0
    assert (compiled(step, x)(x)[0] == (y + y.T) * 1.5 + (y - y[::-1])).all()


def test_results_lie_as_the_recorded_ones_did():
    found = compiled(lambda x: x.T * 2.0, np.ones((2, 3)))(np.ones((2, 3)))[0]
    assert found.strides == (8, 24)


def test_views_of_an_input_are_made_anew_for_another_array():
    run = compiled(lambda x, w: (x @ w.T, w[1:] * 2.0), np.ones((2, 3)), np.ones((4, 3)))
    w = np.arange(12.0).reshape(4, 3)
    for weight in (w, w, w + 1.0, w):
        product, rest = run(np.ones((2, 3)), weight)
        assert (product == np.ones((2, 3)) @ weight.T).all()
        assert (rest == weight[1:] * 2.0).all()


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_and_its_gradient_take_the_memory_of_what_they_read(approximate):
    x = np.linspace(-9, 9, 2000, dtype=np.float32).reshape(20, 100)

    def step(x):
        xp = namespace_of([x])
        y = xp.gelu(x + np.float32(0.5), approximate)
        g = (y * np.float32(2)).reshape(10, 200)
        return xp.gelu_back(g.reshape(20, 100), x, approximate) + np.float32(1)

    run = compiled(step, x)
    np.testing.assert_array_equal(run(x)[0], step(x))
    assert run.source.count("gelu_into(") == 2
    assert f"memory_of({x.nbytes})" in run.source
