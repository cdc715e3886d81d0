"""Points of Sobol sequences: PyTorch's, scrambled or not."""

import pickle

import pytest

import tapegrad
from tapegrad.quasirandom import SobolEngine
from tests.needs import pytorch


def drawn(torch, dimension, **options):
    engine = torch.quasirandom.SobolEngine(dimension, **options)
    found = [repr(engine), engine.draw(1).tolist(), engine.draw(5).tolist(), engine.num_generated]
    engine.fast_forward(1000)
    found += [engine.draw(3).tolist(), engine.quasi.tolist(), engine.shift.tolist()]
    found += [engine.reset().draw_base2(3).tolist(), engine.draw_base2(3).tolist()]
    engine.reset().fast_forward(3)
    return [*found, engine.draw(2).tolist(), engine.sobolstate.tolist()]


@pytest.mark.parametrize("dimension", [1, 2, 7, 200])
@pytest.mark.parametrize("options", [{}, {"scramble": True, "seed": 3}], ids=["even", "scrambled"])
def test_points_are_those_of_pytorch(dimension, options):
    assert drawn(tapegrad, dimension, **options) == drawn(pytorch(), dimension, **options)


def test_without_a_seed_random_numbers_of_the_program_are_used():
    found = []
    for torch in (tapegrad, pytorch()):
        torch.manual_seed(5)
        engine = torch.quasirandom.SobolEngine(3, scramble=True)
        found.append((engine.draw(4).tolist(), torch.rand(2).tolist()))
    assert found[0] == found[1]


def test_points_fill_the_cube_evenly():
    points = SobolEngine(3).draw(2**10)
    for axis in range(3):
        counts = tapegrad.histc(points[:, axis], bins=16, min=0, max=1)
        assert (counts == 64).all()


def test_dtype_and_target_can_be_chosen():
    engine = SobolEngine(2)
    assert engine.draw(2, dtype=tapegrad.float64).dtype == tapegrad.float64
    target = tapegrad.empty(0)
    assert engine.draw(2, out=target) is target and target.shape == (2, 2)


def test_an_engine_is_pickled_with_its_place():
    engine = SobolEngine(2, scramble=True, seed=1)
    engine.draw(3)
    again = pickle.loads(pickle.dumps(engine))
    assert tapegrad.equal(again.draw(4), engine.draw(4))


@pytest.mark.parametrize("dimension", [0, 21202])
def test_dimensions_that_have_no_sequence_are_refused(dimension):
    with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine"):
        SobolEngine(dimension)


def test_counts_that_break_the_balance_are_refused():
    engine = SobolEngine(2)
    engine.draw(8)
    with pytest.raises(ValueError, match=r"n=8\+2\*\*2=12"):
        engine.draw_base2(2)
    with pytest.raises(RuntimeError, match="Trying to create tensor with negative dimension -1"):
        engine.draw(0)
    with pytest.raises(ValueError, match="goes back"):
        engine.fast_forward(-1)


@pytest.mark.parametrize(("dtype", "name"), [("float16", "Half"), ("int64", "Long")])
def test_points_are_float32_or_float64(dtype, name):
    with pytest.raises(NotImplementedError, match=f"not implemented for '{name}'"):
        SobolEngine(2).draw(2, dtype=getattr(tapegrad, dtype))
