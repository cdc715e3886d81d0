"""Every operator, forward and reverse, as a NumPy program: the bits that eager gives.

The program runs on the numbers that were recorded, on them again, when views and memory are those
of the call before, and on others, the elements in reverse order. The first order runs in blocks,
too, however small its arrays are.
"""

import numpy as np
import pytest

from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.program import Changed
from tapegrad.compiler.numpy_backend import build, chains, run_blocks
from tapegrad.dispatch.op import REGISTRY
from tests.laws.test_recorded import NAMES, copies, equal, recorded_run, run
from tests.samples import samples_of


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_every_operator_gives_the_bits_of_eager(name, order, monkeypatch):
    op = REGISTRY[name]
    for sample in samples_of(name):
        try:
            program, outs = recorded_run(op, sample, order, np.array(1.0))
        except RuntimeError:
            continue  # tests/laws/test_recorded.py holds the errors to eager's
        places = [y.place for y in outs if isinstance(y, Traced)]
        built = [build(program, places)]
        if order == 1:
            with monkeypatch.context() as small:
                small.setattr(chains, "LARGE", 2)
                small.setattr(run_blocks, "BLOCK", 5)
                built.append(build(program, places))
                check(op, sample, order, outs, built)
        else:
            check(op, sample, order, outs, built)


def check(op, sample, order, outs, built):
    """Compare programs with eager on several numbers."""
    turned = [np.array(np.flip(x)) if isinstance(x, np.ndarray) else x for x in sample.inputs]
    kept = []
    for inputs, weight in ((sample.inputs, 1.0), (sample.inputs, 1.0), (turned, -0.5)):
        weight = np.array(weight)
        try:
            eager = run(op, sample, copies(inputs), order, weight)
        except (IndexError, RuntimeError, ValueError) as error:
            eager = error
        for compiled in built:
            given = [x.copy() for x in inputs if isinstance(x, np.ndarray)]
            where = f"{op.name}{sample}\n{compiled.source}"
            try:
                found = compiled(*given, weight)
            except Changed:
                assert inputs is turned, f"not the same again: {where}"
                continue
            except (IndexError, ValueError, np.linalg.LinAlgError):
                assert isinstance(eager, Exception), where
                continue
            assert not isinstance(eager, Exception), where
            compare(outs, eager, found, where)
            kept.append((found, [x.tobytes() for x in found], where))
    for arrays, before, where in kept:  # no later call has overwritten them
        assert [x.tobytes() for x in arrays] == before, where


def compare(outs, eager, found, where):
    """Compare results with eager's, and their strides with the recorded ones."""
    rest = iter(found)
    for recorded, expected in zip(outs, eager, strict=True):
        if isinstance(recorded, Traced):
            made = next(rest)
            assert made.strides == recorded.strides, where
        else:  # what no input has a part in is a constant in both
            made = recorded
        assert equal(np.asarray(made), expected), where
