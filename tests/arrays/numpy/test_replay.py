"""Functions of several ufuncs on large arrays: the same bits as without blocks."""

import numpy as np
import pytest

from tapegrad.arrays.numpy.blocks import LARGE, blockwise
from tapegrad.arrays.numpy.replay import Replay, watched


@pytest.fixture
def arrays(rng):
    return [rng.standard_normal(2 * LARGE + 77, dtype=np.float32) for _ in range(2)]


PLAYED = {
    "one operand twice": lambda x, g: (x * x) * (x * x) + x,
    "logistic": lambda x, g: 1 / (1 + np.exp(-x)),
    "slope of tanh": lambda x, g: g * ((1 - x) * (1 + x)),
    "operand at the end": lambda x, g: g * np.maximum(x, 0) - x,
    "booleans": lambda x, g: (x > g) * x,
    "booleans as the result": lambda x, g: np.exp(x) > g * g,
    "wider": lambda x, g: (x * g + np.float64(2)) * np.arange(1, 2)[0],
    "a result that nobody needs": lambda x, g: (np.exp(x), x * 2 + g)[1],
}


@pytest.mark.parametrize("name", PLAYED)
def test_ufuncs_are_played_again_to_the_bit(name, arrays):
    function = PLAYED[name]
    assert watched(function, [x[:99] for x in arrays])[1] is not None
    found, want = blockwise(function, tuple(arrays)), function(*arrays)
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found, want)


OTHERS = {
    "no ufunc": lambda x, g: np.where(x > 0, x, g),
    "writes in place": lambda x, g: np.exp(x, np.negative(x)),
    "bits": lambda x, g: (x.view(np.int32) ^ g.view(np.int32)).view(np.float32),
    "another dtype": lambda x, g: (x * g).astype(np.float64) + 1,
    "a reduction": lambda x, g: x * g if (x < np.inf).all() else g,
    "two results": lambda x, g: np.frexp(x)[0] * g,
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_ufuncs_of_the_arrays_runs_as_it_is(name, arrays):
    function = OTHERS[name]
    assert watched(function, [x[:99] for x in arrays])[1] is None
    found, want = blockwise(function, tuple(arrays)), function(*arrays)
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found, want)


def test_numbers_that_are_broadcast_stay_numbers(arrays):
    x, _ = arrays
    number = np.broadcast_to(np.float32(3), x.shape)
    found = blockwise(lambda g, x: (g * x) * g + x, (number, x))
    np.testing.assert_array_equal(found, (number * x) * number + x)


def test_memory_is_used_in_turn(arrays):
    def chain(x, g):
        y = x * g
        for _ in range(5):
            y = np.tanh(y + 1)
        return y * (x - g)

    steps = watched(chain, [x[:99] for x in arrays])[1]
    assert len(Replay(steps, 2).rooms) == 2
